"""Pushes a project to an embedded server to find the parts that hoglet rejects or changes."""

import asyncio
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote

from hoglet.kit.errors import HogletError
from hoglet.project_files.documents import (
    Document,
    FunctionDocument,
    InputDocuments,
    InputSchemaItem,
)
from hoglet.project_files.formats import function_file
from hoglet.project_files.formats.difference import comparable
from hoglet.project_files.formats.references import with_names
from hoglet.project_files.model import KINDS, ProjectContent, Remark
from hoglet.project_files.plan import PlannedChange, Verb, make_plan
from hoglet.project_files.push import body_of
from hoglet.project_files.server_project import ServerProject
from hoglet.project_tests.embedded import ProjectApi, open_embedded

_SECRETS = {
    "dictionary": {"name": "secret"},
    "json": {"name": "secret"},
    "number": 1,
    "boolean": True,
}
_LEFT_TO_SERVER = frozenset({"execution_order", "icon_url"})
_SHOWN_PATHS = 6


def drop_rejected_parts(project: ProjectContent) -> None:
    """Remove the parts that a push would reject, and write the rest as hoglet stores it.

    Each removal adds a remark to ``left_out``, each difference one to ``changed``. It takes
    seconds, because it starts an embedded server on a temporary folder.
    """
    asyncio.run(_try(project))


async def _try(project: ProjectContent) -> None:
    async with open_embedded() as embedded:
        project_id, _ = await embedded.new_project()
        api = embedded.api(project_id)
        await asyncio.to_thread(lambda: _Rehearsal(api, project).run())


class _Rehearsal:
    def __init__(self, api: ProjectApi, project: ProjectContent) -> None:
        self._api = api
        self._project = project
        self._server = ServerProject(api)

    def run(self) -> None:
        for change in make_plan(self._server.project, self._project, prune=False).changes:
            if change.kind == "project":
                self._try_settings(change)
            elif change.verb is Verb.CREATE:
                self._try_object(change)
        stored = ServerProject(self._api).project
        for kind in KINDS:
            documents = self._project.of_kind(kind)
            for name, document in documents.items():
                stored_document = (
                    self._function(name) if kind == "function" else stored.of_kind(kind)[name]
                )
                documents[name] = self._as_stored(kind, name, document, stored_document)

    def _try_settings(self, change: PlannedChange) -> None:
        for key in change.fields:
            try:
                self._server.update_settings({key: self._project.settings[key]})
            except HogletError as error:
                self._leave_out("project", "", error.detail)
                del self._project.settings[key]

    def _try_object(self, change: PlannedChange) -> None:
        document = change.after or {}
        if change.kind == "function":
            document = with_placeholders(cast("FunctionDocument", document))
        try:
            record = self._server.create(
                change.kind, change.name, body_of(change.kind, document, change.name)
            )
        except HogletError as error:
            self._leave_out(change.kind, change.name, error.detail)
            del self._project.of_kind(change.kind)[change.name]
            return
        for warning in record.get("warnings") or [] if change.kind == "function" else []:
            self._change(change.kind, change.name, f"line {warning['line']}: {warning['message']}")

    def _function(self, name: str) -> Document:
        path = self._server.path("function", name)
        record = self._api.call("GET", quote(path))
        return with_names(function_file.document_of(record), self._server.names)

    def _as_stored(self, kind: str, name: str, document: Document, stored: Document) -> Document:
        before = comparable(kind, document)
        lost = [path for path in lost_paths(before, stored) if path not in _LEFT_TO_SERVER]
        if lost:
            more = f" and {len(lost) - _SHOWN_PATHS} more" if len(lost) > _SHOWN_PATHS else ""
            self._change(kind, name, f"not kept: {', '.join(lost[:_SHOWN_PATHS])}{more}")
        own = {key: document[key] for key in _LEFT_TO_SERVER & document.keys()}
        return {**stored, **own}

    def _leave_out(self, kind: str, name: str, reason: str) -> None:
        self._project.left_out.append(Remark(kind, name, reason))

    def _change(self, kind: str, name: str, reason: str) -> None:
        self._project.changed.append(Remark(kind, name, reason))


def with_placeholders(document: FunctionDocument) -> Document:
    """A function with placeholder values of the right type for its secrets."""
    mappings = [
        {**mapping, "inputs": _filled(mapping.get("inputs_schema") or [], inputs)}
        if (inputs := mapping.get("inputs"))
        else mapping
        for mapping in document["mappings"]
    ]
    inputs = _filled(document["inputs_schema"], document["inputs"])
    filled = {**document, "inputs": inputs, "mappings": mappings}
    return {key: value for key, value in filled.items() if value is not None}


def _filled(schema: list[InputSchemaItem], inputs: InputDocuments) -> InputDocuments:
    types = {item.get("key"): item.get("type") for item in schema}
    return {
        key: {"value": _SECRETS.get(str(types.get(key)), "secret")}
        if value.get("secret")
        else value
        for key, value in inputs.items()
    }


def lost_paths(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Paths of values that were removed or changed.

    Example:
        >>> list(lost_paths({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}], "d": 3}))
        ['a.0.c']
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if value not in (None, "", [], {}, False):
                yield from lost_paths(value, after.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from lost_paths(old, new, f"{path}.{number}")
    elif before != after and str(before) != str(after):  # "30" is stored as 30
        yield path
