"""Endpoints of a server as documents, shared by pull, diff and push."""

import difflib
from collections.abc import Mapping, Sequence

from hoglet.kit.json import same_json
from hoglet.project_files.api import Api, StoredEndpoint, StoredVariable
from hoglet.project_files.documents import Document, EndpointDocument, VariableDocument
from hoglet.project_files.formats.endpoint_file import DEFAULTS, BadFile, document_of, write_text

_TIMES = ("cache_age_seconds", "data_freshness_seconds", "sync_frequency")


class Endpoints:
    """The endpoints and variables of a project, read once."""

    def __init__(self, client: Api) -> None:
        self._client = client
        self.variables: dict[str, StoredVariable] = {
            each["id"]: each for each in client.every("/insight_variables/")
        }
        self.records: dict[str, StoredEndpoint] = {
            each["name"]: each for each in client.every("/endpoints/")
        }

    def document(self, name: str) -> EndpointDocument | None:
        """An endpoint as a document; None if the server has none of that name."""
        record = self.records.get(name)
        return None if record is None else document_of(record, self.variables)

    def difference(self, desired: EndpointDocument) -> list[str]:
        """Lines of a unified diff from the server's state to the desired one; ``[]`` if equal."""
        there = self.document(desired["name"])
        before = "" if there is None else write_text(there)
        return list(
            difflib.unified_diff(
                before.splitlines(),
                write_text(desired).splitlines(),
                f"server/{desired['name']}",
                f"files/{desired['name']}",
                lineterm="",
            )
        )

    def removal(self, name: str) -> list[str]:
        """Lines of the diff that removes an endpoint from the server."""
        before = write_text(document_of(self.records[name], self.variables)).splitlines()
        return list(difflib.unified_diff(before, [], f"server/{name}", "/dev/null", lineterm=""))

    def reload(self, name: str) -> None:
        """Reload an endpoint after a push."""
        self.records[name] = self._client.call("GET", f"/endpoints/{name}/")

    def delete(self, name: str) -> None:
        """Delete an endpoint but not its variables, which others may use."""
        self._client.call("DELETE", f"/endpoints/{name}/")

    def push(self, desired: EndpointDocument) -> list[str]:
        """Update the server to the desired state; returns a sentence for each change."""
        name, there = desired["name"], self.document(desired["name"])
        if same_json(there, desired):
            return []
        done = [
            self._push_variable(code, desired["variables"][code]) for code in desired["variables"]
        ]
        if there is None:
            self._client.call("POST", "/endpoints/", self._body(desired, list(desired)))
            return [*filter(None, done), f"created endpoint {name}"]
        changed = [key for key in desired if not same_json(desired[key], there.get(key))]
        before = self.records[name]["current_version"]
        record = self._client.call("PATCH", f"/endpoints/{name}/", self._body(desired, changed))
        text = f"updated endpoint {name}: {', '.join(changed)}"
        if record["current_version"] != before:
            text += f" (version {record['current_version']})"
        if record.get("materialization_error"):
            text += f"; its table could not be built: {record['materialization_error']}"
        return [*filter(None, done), text]

    def _body(self, desired: EndpointDocument, changed: Sequence[str]) -> Document:
        """The body of the request: the changed fields, and the fields that must accompany them."""
        keys = set(changed) - {"variables"}
        if keys & {*_TIMES, "is_materialized"}:
            keys |= {*_TIMES, "is_materialized"}
        body = {key: desired[key] for key in (*DEFAULTS, "name", "query") if key in keys}
        if "query" in changed or "variables" in changed:
            body["query"] = {**desired["query"], **self._definitions(desired["variables"])}
        return body

    def _definitions(self, desired: Mapping[str, VariableDocument]) -> Document:
        by_code = {stored["code_name"]: stored["id"] for stored in self.variables.values()}
        definitions = {
            by_code[code]: {
                "variableId": by_code[code],
                "code_name": code,
                "value": variable.get("value", variable["default"]),
            }
            for code, variable in desired.items()
        }
        return {"variables": definitions} if definitions else {}

    def _push_variable(self, code: str, desired: VariableDocument) -> str | None:
        existing = next(
            (candidate for candidate in self.variables.values() if candidate["code_name"] == code),
            None,
        )
        body = {"type": desired["type"], "default_value": desired["default"]}
        body["name"] = desired.get("name", code.replace("_", " "))
        if "choices" in desired or (existing and existing["values"]):
            body["values"] = desired.get("choices")
        if desired.get("multi") or (existing and existing.get("is_multi")):
            body["is_multi"] = bool(desired.get("multi"))
        if existing is None:
            created = self._client.call("POST", "/insight_variables/", body)
            if created["code_name"] != code:
                self._client.call("DELETE", f"/insight_variables/{created['id']}/")
                raise BadFile(
                    f'The variable name "{body["name"]}" yields the code name '
                    f"{created['code_name']}, not {code}."
                )
            self.variables[created["id"]] = created
            return f"created variable {code}"
        if all(same_json(existing[key], value) for key, value in body.items()):
            return None
        changed = self._client.call("PATCH", f"/insight_variables/{existing['id']}/", body)
        self.variables[existing["id"]] = changed
        return f"updated variable {code}"
