"""Reads a project from a server and changes it."""

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote

from hoglet.kit.errors import HogletError
from hoglet.kit.json import same_json
from hoglet.project_files.api import Api, Record, VariableUse
from hoglet.project_files.documents import Document, EndpointDocument, SettingsDocument
from hoglet.project_files.endpoint_sync import Endpoints
from hoglet.project_files.formats import endpoint_file, function_file
from hoglet.project_files.formats.draft_file import draft_of
from hoglet.project_files.formats.references import Names, with_ids, with_names
from hoglet.project_files.formats.settings_file import SETTINGS
from hoglet.project_files.formats.yaml_files import BadFile
from hoglet.project_files.model import ProjectContent, Remark, free_name

_NOT_DEFAULT = {"week_start_day": 0, "test_account_filters": [],
                "person_display_name_properties": None}  # fmt: skip

_NOT_FOUND = 404
_OTHER_TYPES = ("warehouse_source_webhook", "alert", "activity", "broadcast", "email", "push")
"""Function types that only PostHog has; listed, so that a pull can report them."""
_WRITTEN = {
    "variable": ("name", "type", "default_value", "values", "is_multi"),
    "action": ("description", "steps"),
    "cohort": ("description", "filters"),
    "endpoint": endpoint_file.ORDER,
}
"""The keys of records that are written to files."""
_OTHER_CODE = ("plugin-", "native-", "segment-")
"""Templates whose code is part of PostHog; the Hog of their functions is a placeholder."""


class ServerProject:
    """A project on a server; :attr:`project` is its content, with names instead of ids.

    Reading takes one request per function, and one per page of other objects.

    Attributes:
        project: the content when it was read.
        warnings: what the server remarked about saved functions.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._ids: dict[tuple[str, str], str] = {}
        self._records: dict[tuple[str, str], Record] = {}
        self.project = ProjectContent()
        self.warnings: list[Remark] = []
        actions = self._named_records("action", "/actions/")
        cohorts = self._named_records("cohort", "/cohorts/")
        self.names = Names(
            {each["id"]: each["name"] for each in actions},
            {each["id"]: each["name"] for each in cohorts},
        )
        self.endpoints = Endpoints(self)
        self.project.settings = self._settings()
        self._read_variables()
        self._read_actions(actions)
        self._read_cohorts(cohorts)
        self._read_functions()
        for name in sorted(self.endpoints.records):
            self.project.versions[name] = self.endpoints.records[name].get("current_version") or 1
            document = {**endpoint_file.DEFAULTS, **(self.endpoints.document(name) or {})}
            document["query"] = with_names(document["query"], self.names)
            document = {key: document[key] for key in endpoint_file.ORDER}
            self.project.objects["endpoint"][name] = cast("EndpointDocument", document)

    def _settings(self) -> SettingsDocument:
        record: Record = self._api.call("GET", "/")
        settings = {key: record[key] for key in SETTINGS if key in record}
        settings = {
            key: value
            for key, value in settings.items()
            if value not in (None, _NOT_DEFAULT.get(key))
        }
        return cast("SettingsDocument", with_names(settings, self.names))

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """See ``Api.call``."""
        return self._api.call(method, path, body)

    def every(self, path: str, **query: str) -> Iterator[Any]:
        """All items of a list; none, with a remark, if the server does not have the list."""
        try:
            yield from self._api.every(path, **query)
        except HogletError as error:
            if getattr(error, "status", None) != _NOT_FOUND:
                raise
            kind = path.strip("/").replace("_", " ")
            self.project.left_out.append(Remark(kind, "", "this server has no such list"))

    def _named_records(self, kind: str, path: str) -> list[Record]:
        """Records that are not deleted, oldest first, with unique names."""
        taken: set[str] = set()
        records: list[Record] = []
        for record in sorted(self.every(path), key=lambda each: each["id"]):
            if record.get("deleted"):
                continue
            if not record["name"]:
                self.project.left_out.append(Remark(kind, str(record["id"]), "it has no name"))
                continue
            name = free_name(record["name"], taken)
            taken.add(name)
            if name != record["name"]:
                reason = f"another {kind} is named {record['name']}, too"
                self.project.changed.append(Remark(kind, name, reason))
            records.append({**record, "name": name})
        return records

    def _read_variables(self) -> None:
        for record in self.endpoints.variables.values():
            code = record["code_name"]
            definition: VariableUse = {"code_name": code, "value": record.get("default_value")}
            self.project.objects["variable"][code] = endpoint_file.variable_of(definition, record)
            self._keep("variable", code, record)

    def _read_actions(self, records: list[Record]) -> None:
        for record in records:
            self._keep("action", record["name"], record)
            self.project.objects["action"][record["name"]] = self._named(
                {key: record.get(key) for key in ("name", "description", "steps")}
            )

    def _read_cohorts(self, records: list[Record]) -> None:
        for record in records:
            name = record["name"]
            if record.get("is_static"):
                reason = "files do not contain static members"
                self.project.left_out.append(Remark("cohort", name, reason))
                continue
            self._keep("cohort", name, record)
            self.project.objects["cohort"][name] = self._named(
                {key: record.get(key) for key in ("name", "description", "filters")}
            )

    def _named(self, document: Document) -> Any:
        return function_file.without_defaults(with_names(document, self.names))

    def _read_functions(self) -> None:
        types = ",".join((*function_file.TYPES, *_OTHER_TYPES))
        listed = sorted(
            self.every("/hog_functions/", types=types),
            key=lambda each: (each["created_at"], each["id"]),
        )
        for each in listed:
            reason = _why_not(each)
            if reason:
                name = each.get("name") or each["id"]
                self.project.left_out.append(Remark("function", name, reason))
                continue
            record = self._api.call("GET", f"/hog_functions/{quote(each['id'])}/")
            document = with_names(function_file.document_of(record), self.names)
            key = self.project.add_function(document)
            self._keep("function", key, record)
            draft = draft_of(record, function_file.document_of(record))
            if draft is not None:
                self.project.objects["draft"][key] = with_names(draft, self.names)

    def _keep(self, kind: str, name: str, record: Record) -> None:
        self._ids[kind, name] = str(record["id"])
        self._records[kind, name] = record

    def is_as_read(self, kind: str, name: str) -> bool:
        """Whether the server still has an object as this project read it.

        Another user may save it in the console while the plan of a push awaits confirmation.
        """
        if kind == "project":
            return same_json(self._settings(), self.project.settings)
        known = self._record(kind, name)
        try:
            now = self._api.call("GET", self.path(kind, name))
        except HogletError as error:
            if getattr(error, "status", None) != _NOT_FOUND:
                raise
            return False
        return not now.get("deleted") and same_json(
            _written_part(kind, known), _written_part(kind, now)
        )

    def _record(self, kind: str, name: str) -> Record:
        if kind == "endpoint":
            return self.endpoints.records[name]
        return self._records["function" if kind == "draft" else kind, name]

    def path(self, kind: str, name: str) -> str:
        """The path of an object, relative to the project."""
        if kind == "endpoint":
            return f"/endpoints/{quote(name, safe='')}/"
        folders = {
            "function": "hog_functions",
            "draft": "hog_functions",
            "action": "actions",
            "cohort": "cohorts",
            "variable": "insight_variables",
        }
        own = "function" if kind == "draft" else kind
        return f"/{folders[kind]}/{self._ids[own, name]}/"

    def create(self, kind: str, name: str, body: Document) -> Record:
        """Create an object, for an endpoint also its variables; returns the record."""
        if kind == "endpoint":
            self.endpoints.push(self.resolved(body))
            return body
        folder = self._folder(kind)
        record = self._api.call("POST", folder, self.resolved(body))
        if kind == "variable" and record["code_name"] != name:
            self._api.call("DELETE", f"{folder}{record['id']}/")
            raise BadFile(
                f"The variable name {body['name']} yields the code name {record['code_name']}, not "
                f"{name}."
            )
        self._ids[kind, name] = str(record["id"])
        if kind in self.names.by_id:
            self.names.add(kind, record["id"], name)
        if kind == "variable":
            self.endpoints.variables[record["id"]] = record
        self._keep_warnings(kind, name, record)
        return record

    def update(self, kind: str, name: str, body: Document) -> None:
        """Change fields of an object; an endpoint is replaced completely."""
        if kind == "endpoint":
            self.endpoints.push(self.resolved(body))
            return
        saved = self._api.call("PATCH", self.path(kind, name), self.resolved(body))
        if kind == "variable":
            self.endpoints.variables[saved["id"]] = saved
        self._keep_warnings(kind, name, saved)

    def _keep_warnings(self, kind: str, name: str, saved: Record) -> None:
        for each in saved.get("warnings") or []:
            hint = f" {each['hint']}" if each.get("hint") else ""
            position = f"{each['attr']}, line {each['line']}"
            self.warnings.append(Remark(kind, name, f"{each['message']} ({position}).{hint}"))

    def update_settings(self, body: Document) -> None:
        """Change fields of the project itself."""
        self._api.call("PATCH", "/", self.resolved(body))

    def save_draft(self, name: str, fields: Document | None) -> None:
        """Change fields of a function's draft, or discard it."""
        body = None if fields is None else self.resolved(fields)
        self._api.call("PATCH", self.path("function", name), {"draft": body})

    def delete(self, kind: str, name: str) -> None:
        """Delete an object."""
        if kind == "draft":
            self.save_draft(name, None)
            return
        if kind in {"endpoint", "variable"}:
            self._api.call("DELETE", self.path(kind, name))
        else:
            self._api.call("PATCH", self.path(kind, name), {"deleted": True})

    def undelete(self, kind: str, name: str, body: Document) -> None:
        """Restore an object deleted by :meth:`delete`."""
        if kind in {"endpoint", "variable"}:
            if kind == "endpoint":
                self.endpoints.records.pop(name, None)
            self.create(kind, name, body)
        else:
            self._api.call("PATCH", self.path(kind, name), {"deleted": False})

    def resolved(self, body: Document) -> Any:
        """The body with ids instead of names."""
        return with_ids(body, self.names)

    def _folder(self, kind: str) -> str:
        return {
            "function": "/hog_functions/",
            "action": "/actions/",
            "cohort": "/cohorts/",
            "variable": "/insight_variables/",
        }[kind]


def _written_part(kind: str, record: Record) -> Any:
    """The part of a record that files contain; the rest may change, such as the last run."""
    if kind == "function":
        return function_file.document_of(record)
    if kind == "draft":
        return record.get("draft")
    return {key: record.get(key) for key in _WRITTEN[kind]}


def _why_not(listed: Record) -> str:
    """Why a listed function cannot be written as files; "" if it can."""
    kind = str(listed.get("type"))
    if kind not in function_file.TYPES:
        return f"functions of type {kind} are not supported"
    given = listed.get("template")
    template: Record = given if isinstance(given, dict) else {}
    template_id = str(listed.get("template_id") or template.get("id") or "")
    is_site = kind in function_file.SITE_TYPES
    if template_id.startswith(_OTHER_CODE) or (
        not is_site and template.get("code_language") not in {None, "hog"}
    ):
        return f"it runs code of its server ({template_id}), not Hog"
    return ""
