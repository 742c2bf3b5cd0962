"""Reads a project from a server, and makes changes there."""

from typing import Any
from urllib.parse import quote

from hoglet.project_files import endpoint_file, function_file
from hoglet.project_files.api import Api
from hoglet.project_files.endpoint_sync import Endpoints
from hoglet.project_files.folder import SETTINGS
from hoglet.project_files.model import Project
from hoglet.project_files.references import Names, with_ids, with_names
from hoglet.project_files.yaml_files import BadFile

type Json = dict[str, Any]

_NOT_DEFAULT = {"week_start_day": 0, "test_account_filters": [],
                "person_display_name_properties": None}  # fmt: skip


class ServerProject:
    """A project on a server; :attr:`project` is what it holds, ids replaced by names.

    Reading takes one request for each function, and one for each page of the rest.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._ids: dict[tuple[str, str], str] = {}
        actions = list(api.every("/actions/"))
        cohorts = list(api.every("/cohorts/"))
        self.names = Names(
            {each["id"]: each["name"] for each in actions if each["name"]},
            {each["id"]: each["name"] for each in cohorts if each["name"]},
        )
        self.endpoints = Endpoints(api)
        self.project = Project(settings=self._settings())
        self._read_variables()
        self._read_actions(actions)
        self._read_cohorts(cohorts)
        self._read_functions()
        for name in self.endpoints.records:
            document = self.endpoints.document(name) or {}
            document = {**endpoint_file.DEFAULTS, **document}
            document["query"] = with_names(document["query"], self.names)
            document = {key: document[key] for key in endpoint_file.ORDER}
            self.project.objects["endpoint"][name] = document

    def _settings(self) -> Json:
        record: Json = self._api.call("GET", "/")
        found = {key: record[key] for key in SETTINGS if key in record}
        found = {
            key: value for key, value in found.items() if value != _NOT_DEFAULT.get(key, object())
        }
        return with_names(found, self.names)

    def _read_variables(self) -> None:
        for record in self.endpoints.variables.values():
            code = record["code_name"]
            definition = {"code_name": code, "value": record.get("default_value")}
            self.project.objects["variable"][code] = endpoint_file.variable_of(definition, record)
            self._ids["variable", code] = str(record["id"])

    def _read_actions(self, records: list[Json]) -> None:
        for record in records:
            if not record["name"]:
                self.project.left_out.append(f"action {record['id']}: it has no name")
                continue
            self._ids["action", record["name"]] = str(record["id"])
            self.project.objects["action"][record["name"]] = self._named(
                {key: record.get(key) for key in ("name", "description", "steps")}
            )

    def _read_cohorts(self, records: list[Json]) -> None:
        for record in records:
            name = record["name"]
            if record.get("is_static") or not name:
                why = "its members are no part of files" if name else "it has no name"
                self.project.left_out.append(f"cohort {name or record['id']}: {why}")
                continue
            self._ids["cohort", name] = str(record["id"])
            self.project.objects["cohort"][name] = self._named(
                {key: record.get(key) for key in ("name", "description", "filters")}
            )

    def _named(self, document: Json) -> Json:
        return function_file.without_defaults(with_names(document, self.names))

    def _read_functions(self) -> None:
        types = ",".join(function_file.TYPES)
        listed = sorted(
            self._api.every("/hog_functions/", types=types),
            key=lambda each: (each["created_at"], each["id"]),
        )
        for each in listed:
            record = self._api.call("GET", f"/hog_functions/{quote(each['id'])}/")
            document = with_names(function_file.document_of(record), self.names)
            key = self.project.add_function(document)
            self._ids["function", key] = str(record["id"])

    def path(self, kind: str, name: str) -> str:
        """Where an object is, below the project."""
        if kind == "endpoint":
            return f"/endpoints/{quote(name, safe='')}/"
        folders = {
            "function": "hog_functions",
            "action": "actions",
            "cohort": "cohorts",
            "variable": "insight_variables",
        }
        return f"/{folders[kind]}/{self._ids[kind, name]}/"

    def create(self, kind: str, name: str, body: Json) -> None:
        """Make an object; endpoints bring their variables along."""
        if kind == "endpoint":
            self.endpoints.push(self.resolved(body))
            return
        folder = self._folder(kind)
        made = self._api.call("POST", folder, self.resolved(body))
        if kind == "variable" and made["code_name"] != name:
            self._api.call("DELETE", f"{folder}{made['id']}/")
            raise BadFile(
                f"The variable's name {body['name']} gives {made['code_name']}, not {name}."
            )
        self._ids[kind, name] = str(made["id"])
        if kind in self.names.by_id:
            self.names.add(kind, made["id"], name)
        if kind == "variable":
            self.endpoints.variables[made["id"]] = made

    def update(self, kind: str, name: str, body: Json) -> None:
        """Change fields of an object; of an endpoint, the whole document."""
        if kind == "endpoint":
            self.endpoints.push(self.resolved(body))
            return
        saved = self._api.call("PATCH", self.path(kind, name), self.resolved(body))
        if kind == "variable":
            self.endpoints.variables[saved["id"]] = saved

    def update_settings(self, body: Json) -> None:
        """Change fields of the project itself."""
        self._api.call("PATCH", "/", self.resolved(body))

    def delete(self, kind: str, name: str) -> None:
        """Delete an object."""
        if kind in {"endpoint", "variable"}:
            self._api.call("DELETE", self.path(kind, name))
        else:
            self._api.call("PATCH", self.path(kind, name), {"deleted": True})

    def undelete(self, kind: str, name: str, body: Json) -> None:
        """Bring an object back that :meth:`delete` deleted."""
        if kind in {"endpoint", "variable"}:
            if kind == "endpoint":
                self.endpoints.records.pop(name, None)
            self.create(kind, name, body)
        else:
            self._api.call("PATCH", self.path(kind, name), {"deleted": False})

    def resolved(self, body: Json) -> Json:
        """The body with ids for names."""
        return with_ids(body, self.names)

    def _folder(self, kind: str) -> str:
        return {
            "function": "/hog_functions/",
            "action": "/actions/",
            "cohort": "/cohorts/",
            "variable": "/insight_variables/",
        }[kind]
