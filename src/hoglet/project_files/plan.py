"""What a push would do: a list of changes, made before anything is sent."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hoglet.hog.compile import compile_program
from hoglet.kit.errors import SourceError
from hoglet.project_files.endpoint_file import DEFAULTS as ENDPOINT_DEFAULTS
from hoglet.project_files.function_file import SITE_TYPES, code_name
from hoglet.project_files.model import KINDS, Project, comparable
from hoglet.project_files.references import references
from hoglet.project_files.yaml_files import BadFile

type Json = dict[str, Any]

_NAMED = frozenset({"action", "cohort"})
_LEFT_TO_SERVER = frozenset({"execution_order", "icon_url"})  # where a file says nothing of them


class Verb(StrEnum):
    """What is done to an object."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One change; ``fields`` names what differs, of an update only.

    ``before`` and ``after`` are the documents of the server and of the files.
    """

    verb: Verb
    kind: str
    name: str
    before: Json | None
    after: Json | None
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = f": {', '.join(self.fields)}" if self.fields else ""
        name = f" {self.name}" if self.name else ""
        return f"{self.verb} {self.kind}{name}{more}"


@dataclass(slots=True)
class Plan:
    """Changes in the order in which they are made; ``extra`` is there and in no file."""

    changes: list[PlannedChange] = field(default_factory=list[PlannedChange])
    extra: list[PlannedChange] = field(default_factory=list[PlannedChange])


def make_plan(server: Project, files: Project, *, prune: bool) -> Plan:
    """Compare a server with files.

    Args:
        server: what there is.
        files: what there shall be.
        prune: also delete what no file is about; without, it is in :attr:`Plan.extra`.
    """
    plan = Plan()
    settings = tuple(
        key for key, value in files.settings.items() if server.settings.get(key) != value
    )
    settings = tuple(key for key in settings if files.settings[key] or key in server.settings)
    if settings:
        plan.changes.append(
            PlannedChange(Verb.UPDATE, "project", "", server.settings, files.settings, settings)
        )
    for kind in KINDS:
        plan.changes += _changes(kind, server.objects[kind], files.objects[kind])
    plan.changes = _in_order(plan.changes)
    for kind in reversed(KINDS):
        gone = sorted(server.objects[kind].keys() - files.objects[kind].keys())
        plan.extra += [
            PlannedChange(Verb.DELETE, kind, name, server.objects[kind][name], None)
            for name in gone
        ]
    if prune:
        plan.changes, plan.extra = [*plan.changes, *plan.extra], []
    return plan


def check_code(files: Project) -> None:
    """Compile the Hog of every function.

    Raises:
        BadFile: code that does not compile, with its file, line and column.
    """
    for key, document in files.objects["function"].items():
        if document["type"] in SITE_TYPES:
            continue
        try:
            compile_program(document["hog"])
        except SourceError as error:
            path = files.folders[key] / code_name(document["type"])
            raise BadFile(f"{path}:{error}") from None


def with_secrets(document: Json, stored: Json | None, environment: Mapping[str, str]) -> Json:
    """A function with the values of its secrets.

    Args:
        document: of the files, ``inputs`` with ``{"secret": "env:NAME"}``.
        stored: of the server; a secret that it has is kept when the variable is not set.
        environment: where values are taken from.

    Raises:
        BadFile: a variable is not set, and the server has no value either.
    """
    kept = {} if stored is None else stored["inputs"]
    document = {**document, "inputs": _filled(document["inputs"], kept, environment)}
    before: list[Json] = [] if stored is None else stored["mappings"]
    document["mappings"] = [
        {
            **mapping,
            "inputs": _filled(
                mapping.get("inputs") or {},
                (before[number].get("inputs") or {}) if number < len(before) else {},
                environment,
            ),
        }
        for number, mapping in enumerate(document["mappings"])
    ]
    return document


def _filled(inputs: Json, stored: Json, environment: Mapping[str, str]) -> Json:
    filled: Json = {}
    for key, value in inputs.items():
        name = str(value.get("secret") or "").removeprefix("env:")
        if not name:
            filled[key] = value
        elif name in environment:
            filled[key] = {"value": environment[name]}
        elif stored.get(key, {}).get("secret"):
            filled[key] = {"secret": True}
        else:
            raise BadFile(f"The secret {key} is taken from {name}, which is not set.")
    return filled


def secret_variables(files: Project) -> set[str]:
    """The environment variables that stand for secrets of the project's functions."""
    found: set[str] = set()
    for document in files.objects["function"].values():
        parts = [document, *document["mappings"]]
        for value in (each for part in parts for each in (part.get("inputs") or {}).values()):
            if isinstance(value.get("secret"), str):
                found.add(value["secret"].removeprefix("env:"))
    return found


def check_secrets(plan: Plan) -> None:
    """Find missing variables before anything is sent.

    Raises:
        BadFile: one is not set.
    """
    for change in plan.changes:
        if change.kind == "function" and change.after is not None:
            with_secrets(change.after, change.before, os.environ)


def _changes(kind: str, server: dict[str, Json], files: dict[str, Json]) -> Iterator[PlannedChange]:
    for name, document in files.items():
        there = server.get(name)
        if there is None:
            yield PlannedChange(Verb.CREATE, kind, name, None, document)
            continue
        before, after = comparable(kind, there), comparable(kind, document)
        differing = [
            key
            for key in dict.fromkeys([*after, *before])
            if _value(kind, before, key) != _value(kind, after, key)
            and not (key in _LEFT_TO_SERVER and after.get(key) is None)
        ]
        if differing:
            yield PlannedChange(Verb.UPDATE, kind, name, there, document, tuple(differing))


def _value(kind: str, document: Json, key: str) -> Any:
    default = ENDPOINT_DEFAULTS.get(key) if kind == "endpoint" else None
    found = document.get(key, default)
    return None if kind != "endpoint" and found in ("", [], {}) else found


def _in_order(changes: list[PlannedChange]) -> list[PlannedChange]:
    """What is named by others, actions and cohorts, comes before them; the rest keeps its order.

    Functions of one name are told apart by the order in which they were made.
    """
    named = [change for change in changes if change.kind in _NAMED]
    waiting, done, ordered = named, set[tuple[str, str]](), list[PlannedChange]()
    made = {(change.kind, change.name) for change in named if change.verb is Verb.CREATE}
    while waiting:
        ready = [
            change
            for change in waiting
            if all(each in done or each not in made for each in set(references(change.after)))
        ] or waiting  # a circle: the server finds it
        ordered += ready
        done |= {(change.kind, change.name) for change in ready}
        waiting = [change for change in waiting if change not in ready]
    first = [change for change in changes if change.kind in {"project", "variable"}]
    last = [change for change in changes if change.kind in {"function", "endpoint"}]
    return [*first, *ordered, *last]
