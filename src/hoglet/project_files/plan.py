"""Plans a push: the list of changes, computed before anything is sent."""

import json
import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import msgspec

from hoglet.hog.compile import compile_program
from hoglet.kit.errors import SourceError
from hoglet.kit.json import same_json
from hoglet.project_files.documents import (
    Document,
    DraftDocument,
    FunctionDocument,
    InputDocuments,
    InputSchemaItem,
    MappingDocument,
)
from hoglet.project_files.formats.difference import comparable
from hoglet.project_files.formats.draft_file import draft_code_name
from hoglet.project_files.formats.endpoint_file import DEFAULTS as ENDPOINT_DEFAULTS
from hoglet.project_files.formats.function_file import SITE_TYPES, code_name
from hoglet.project_files.formats.references import references
from hoglet.project_files.formats.yaml_files import BadFile
from hoglet.project_files.model import KINDS, ProjectContent

_JSON_TYPES = frozenset({"dictionary", "json", "number", "boolean"})
_NO_FIELD = object()
_NAMED = frozenset({"action", "cohort"})
_NAMED_BY_FUNCTIONS = frozenset({"function", "draft"})
_LEFT_TO_SERVER = frozenset({"execution_order", "icon_url"})  # unless the file sets them


class Verb(StrEnum):
    """What a change does to an object."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


class PlannedChange(msgspec.Struct, frozen=True):
    """A change; ``fields`` are the names of the fields that an update changes.

    ``before`` and ``after`` are the documents of the server and of the files; ``versions`` is the
    number of an endpoint's versions that a deletion deletes, 0 for other changes.
    """

    verb: Verb
    kind: str
    name: str
    before: Document | None
    after: Document | None
    fields: tuple[str, ...] = ()
    versions: int = 0

    def __str__(self) -> str:
        more = f": {', '.join(self.fields)}" if self.fields else ""
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {self.kind}{name}{more}{self.loss}"

    @property
    def result(self) -> Document | None:
        """The document that the server will store; it keeps its own values of some keys."""
        if self.kind != "function" or self.before is None or self.after is None:
            return self.after
        server_values = {
            key: self.before.get(key) for key in _LEFT_TO_SERVER if self.after.get(key) is None
        }
        return {**self.after, **server_values}

    @property
    def loss(self) -> str:
        """What deleting (or renaming) an endpoint loses, because no file contains it."""
        return f" with its {self.versions} versions" if self.versions > 1 else ""


class Plan(msgspec.Struct):
    """Changes in execution order; ``extra`` are objects on the server without a file.

    ``functions`` are the functions in the files, on which drafts build.
    """

    changes: list[PlannedChange] = msgspec.field(default_factory=list[PlannedChange])
    extra: list[PlannedChange] = msgspec.field(default_factory=list[PlannedChange])
    functions: dict[str, FunctionDocument] = msgspec.field(
        default_factory=dict[str, FunctionDocument]
    )


def make_plan(server: ProjectContent, files: ProjectContent, *, prune: bool) -> Plan:
    """Compare a server with files.

    Args:
        server: the current state.
        files: the desired state.
        prune: delete objects without a file; otherwise they are in :attr:`Plan.extra`.
    """
    plan = Plan(functions=dict(files.objects["function"]))
    plan.changes += _settings_changes(server, files)
    renamed = renamed_functions(server.objects["function"], files.objects["function"])
    plan.functions |= {old: plan.functions[new] for new, old in renamed.items()}
    for kind in KINDS:
        names = renamed if kind in _NAMED_BY_FUNCTIONS else {}
        plan.changes += _changes(kind, server.of_kind(kind), files.of_kind(kind), names)
    plan.changes = _in_order(plan.changes)
    for kind in reversed(KINDS):
        plan.extra += _deletions(kind, server, files, renamed)
    if prune:
        plan.changes, plan.extra = [*plan.changes, *plan.extra], []
    return plan


def check_code(files: ProjectContent) -> None:
    """Compile the Hog of every function, and of its draft.

    Raises:
        BadFile: code does not compile; the message has file, line and column.
    """
    for key, document in files.objects["function"].items():
        kind = document["type"]
        if kind in SITE_TYPES:
            continue
        _check_hog(files.folders[key] / code_name(kind), document["hog"])
        draft = files.objects["draft"].get(key, {})
        if "hog" in draft:
            _check_hog(files.folders[key] / draft_code_name(kind), draft["hog"])


def _check_hog(path: Path, code: str) -> None:
    try:
        compile_program(code)
    except SourceError as error:
        raise BadFile(f"{path}:{error}") from None


def with_secrets(
    document: FunctionDocument, stored: FunctionDocument | None, environment: Mapping[str, str]
) -> FunctionDocument:
    """Fill in the values of a function's secrets.

    Args:
        document: the document in the files; secret inputs are ``{"secret": "env:NAME"}``.
        stored: the document on the server, which keeps secrets whose variable is not set.
        environment: the environment variables.

    Raises:
        BadFile: a variable is not set and the server has no value.
    """
    stored_inputs = {} if stored is None else stored["inputs"]
    schema = document.get("inputs_schema") or []
    document = {
        **document,
        "inputs": _filled(schema, document["inputs"], stored_inputs, environment),
    }
    before: list[MappingDocument] = [] if stored is None else stored["mappings"]
    document["mappings"] = [
        {
            **mapping,
            "inputs": _filled(
                mapping.get("inputs_schema") or [],
                mapping.get("inputs") or {},
                (before[number].get("inputs") or {}) if number < len(before) else {},
                environment,
            ),
        }
        for number, mapping in enumerate(document["mappings"])
    ]
    return document


def _filled(
    schema: list[InputSchemaItem],
    inputs: InputDocuments,
    stored: InputDocuments,
    environment: Mapping[str, str],
) -> InputDocuments:
    types = {item.get("key"): str(item.get("type")) for item in schema}
    filled: InputDocuments = {}
    for key, value in inputs.items():
        name = str(value.get("secret") or "").removeprefix("env:")
        if not name:
            filled[key] = value
        elif name in environment:
            filled[key] = {"value": _typed(name, environment[name], types.get(key, ""))}
        elif stored.get(key, {}).get("secret"):
            filled[key] = {"secret": True}
        else:
            raise BadFile(
                f"The secret {key} is taken from {name}, which is not set: set it, then push."
            )
    return filled


def _typed(name: str, text: str, kind: str) -> Any:
    """The value of a variable; parsed as JSON for inputs that are not strings."""
    if kind not in _JSON_TYPES:
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise BadFile(f"{name} is not JSON, which a secret of type {kind} needs.") from None


def secret_variables(files: ProjectContent) -> set[str]:
    """The environment variables of all secrets in the project's functions and drafts."""
    documents = (*files.objects["function"].values(), *files.objects["draft"].values())
    return {name for document in documents for name in _variables_of(document)}


def sends_secrets(change: PlannedChange, environment: Mapping[str, str]) -> bool:
    """Whether a change sends values of secrets, which a server never shows again."""
    if change.kind not in _NAMED_BY_FUNCTIONS or change.after is None:
        return False
    return not _variables_of(change.after).isdisjoint(environment)


def _variables_of(document: Document) -> set[str]:
    parts: list[Any] = [document, *(document.get("mappings") or [])]
    secrets = [
        value.get("secret") for part in parts for value in (part.get("inputs") or {}).values()
    ]
    return {name.removeprefix("env:") for name in secrets if isinstance(name, str)}


def check_secrets(plan: Plan, server: ProjectContent) -> None:
    """Check that all variables of secrets are set, before anything is sent.

    Raises:
        BadFile: one is not set.
    """
    for change in plan.changes:
        if change.after is None:
            continue
        if change.kind == "function":
            after = cast("FunctionDocument", change.after)
            with_secrets(after, cast("FunctionDocument | None", change.before), os.environ)
        elif change.kind == "draft":
            draft_with_secrets(change, plan, server, os.environ)


def draft_with_secrets(
    change: PlannedChange, plan: Plan, server: ProjectContent, environment: Mapping[str, str]
) -> Document:
    """The fields of a draft with the values of its secrets.

    Args:
        change: the change of the draft.
        plan: has the function that the draft belongs to.
        server: a secret whose variable is not set keeps the value it has there.
        environment: the environment variables.

    Raises:
        BadFile: a variable is not set and the server has no value.
    """
    draft = cast("DraftDocument", change.after or {})
    before = cast("DraftDocument", change.before or {})
    live = server.objects["function"].get(change.name)
    stored: FunctionDocument | None = None if live is None else {**live, **before}
    filled = with_secrets({**plan.functions[change.name], **draft}, stored, environment)
    return {key: filled[key] for key in draft}


def renamed_functions(
    before: dict[str, FunctionDocument], after: dict[str, FunctionDocument]
) -> dict[str, str]:
    """Renamed functions: new name to old name.

    A missing and a new function are the same if they have the same type and code, which no other
    missing or new function has.
    """
    gone, new = [
        _by_code(this, [name for name in this if name not in other])
        for this, other in ((before, after), (after, before))
    ]
    return {
        names[0]: gone[code][0]
        for code, names in new.items()
        if len(names) == 1 and len(gone.get(code, [])) == 1
    }


def _by_code(
    functions: dict[str, FunctionDocument], names: list[str]
) -> dict[tuple[str, str], list[str]]:
    names_by_code: dict[tuple[str, str], list[str]] = {}
    for name in names:
        function = functions[name]
        names_by_code.setdefault((function["type"], function["hog"]), []).append(name)
    return names_by_code


def _changes(
    kind: str,
    server: Mapping[str, Document],
    files: Mapping[str, Document],
    renamed: Mapping[str, str],
) -> Iterator[PlannedChange]:
    for new_name, document in files.items():
        name = renamed.get(new_name, new_name)
        there = server.get(name)
        if there is None:
            yield PlannedChange(Verb.CREATE, kind, name, None, document)
            continue
        before, after = comparable(kind, there), comparable(kind, document)
        differing = [
            key
            for key in dict.fromkeys([*after, *before])
            if not same_json(_value(kind, before, key), _value(kind, after, key))
            and not (key in _LEFT_TO_SERVER and after.get(key) is None)
        ]
        if differing:
            yield PlannedChange(Verb.UPDATE, kind, name, there, document, tuple(differing))


def _value(kind: str, document: Document, key: str) -> Any:
    if kind == "draft":  # a draft can set a field to its default
        return document.get(key, _NO_FIELD)
    default = ENDPOINT_DEFAULTS.get(key) if kind == "endpoint" else None
    value = document.get(key, default)
    return None if kind != "endpoint" and value in ("", [], {}) else value


def _settings_changes(server: ProjectContent, files: ProjectContent) -> list[PlannedChange]:
    """The change of the project's settings, if files have others than the server."""
    changed = tuple(
        key
        for key, value in files.settings.items()
        if not same_json(server.settings.get(key), value) and (value or key in server.settings)
    )
    if not changed:
        return []
    return [PlannedChange(Verb.UPDATE, "project", "", server.settings, files.settings, changed)]


def _deletions(
    kind: str, server: ProjectContent, files: ProjectContent, renamed: Mapping[str, str]
) -> list[PlannedChange]:
    """Deletions of the objects of a kind that have no file; drafts go with their functions."""
    moved = {
        old
        for new, old in renamed.items()
        if kind == "function" or (kind == "draft" and new in files.objects["draft"])
    }
    without_file = sorted(server.of_kind(kind).keys() - files.of_kind(kind).keys() - moved)
    if kind == "draft":
        live = {*files.objects["function"], *renamed.values()}
        without_file = [name for name in without_file if name in live]
    return [
        PlannedChange(
            Verb.DELETE,
            kind,
            name,
            server.of_kind(kind)[name],
            None,
            versions=server.versions.get(name, 0) if kind == "endpoint" else 0,
        )
        for name in without_file
    ]


def _in_order(changes: list[PlannedChange]) -> list[PlannedChange]:
    """Sort changes so that actions and cohorts precede the objects that refer to them.

    Functions of the same name are distinguished by creation order.
    """
    named = [change for change in changes if change.kind in _NAMED]
    waiting, done, ordered = named, set[tuple[str, str]](), list[PlannedChange]()
    created = {(change.kind, change.name) for change in named if change.verb is Verb.CREATE}
    while waiting:
        ready = [
            change
            for change in waiting
            if all(each in done or each not in created for each in set(references(change.after)))
        ] or waiting  # a cycle, which the server reports
        ordered += ready
        done |= {(change.kind, change.name) for change in ready}
        waiting = [change for change in waiting if change not in ready]
    first = [change for change in changes if change.kind == "variable"]
    settings = [change for change in changes if change.kind == "project"]  # refer to cohorts, too
    endpoints = [change for change in changes if change.kind == "endpoint"]
    functions = [change for change in changes if change.kind == "function"]
    functions.sort(key=_cannot_be_rolled_back)
    drafts = [change for change in changes if change.kind == "draft"]
    return [*first, *ordered, *settings, *endpoints, *functions, *drafts]


def _cannot_be_rolled_back(change: PlannedChange) -> bool:
    """Whether a change must come last: the previous value of a replaced secret is unknown."""
    return change.verb is Verb.UPDATE and sends_secrets(change, os.environ)
