"""A project as plain documents, identical whether read from files or from a server."""

import re
from collections.abc import Container, Iterable
from pathlib import Path
from typing import NamedTuple, TypedDict, cast
from unicodedata import combining, normalize

import msgspec

from hoglet.project_files.documents import (
    ActionDocument,
    CohortDocument,
    Document,
    DraftDocument,
    EndpointDocument,
    FunctionDocument,
    Kind,
    SettingsDocument,
    VariableDocument,
)

KINDS: tuple[Kind, ...] = ("variable", "action", "cohort", "function", "draft", "endpoint")
"""In the order in which objects are created, so that references can be resolved."""

_SLUG_CHARACTERS = 60
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


class Remark(NamedTuple):
    """A part that was left out or changed: ``("cohort", "Old", "its members …")``."""

    kind: str
    name: str
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.kind} {self.name}: {self.reason}"
            if self.name
            else f"{self.kind}: {self.reason}"
        )


class Objects(TypedDict):
    """Documents by name; a second function with the same name is ``Name (2)``.

    Variables are named by their code names, drafts by their functions.
    """

    variable: dict[str, VariableDocument]
    action: dict[str, ActionDocument]
    cohort: dict[str, CohortDocument]
    function: dict[str, FunctionDocument]
    draft: dict[str, DraftDocument]
    endpoint: dict[str, EndpointDocument]


def no_objects() -> Objects:
    """The objects of an empty project."""
    return {"variable": {}, "action": {}, "cohort": {}, "function": {}, "draft": {}, "endpoint": {}}


class ProjectContent(msgspec.Struct):
    """The content of a project's files.

    Attributes:
        settings: the settings of ``hoglet.yaml``: ``{"name": "Shop", "timezone": "UTC"}``.
        objects: documents by kind and name, ``{"action": {"Docs": {…}}}``.
        versions: number of versions of each endpoint of a server, by its name.
        folders: folder of each function that was read from files, by its name in ``objects``.
        left_out: objects that cannot be written as files.
        changed: objects that are written differently from what was read.
    """

    settings: SettingsDocument = msgspec.field(default_factory=SettingsDocument)
    objects: Objects = msgspec.field(default_factory=no_objects)
    versions: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    folders: dict[str, Path] = msgspec.field(default_factory=dict[str, Path])
    left_out: list[Remark] = msgspec.field(default_factory=list[Remark])
    changed: list[Remark] = msgspec.field(default_factory=list[Remark])

    def of_kind(self, kind: str) -> dict[str, Document]:
        """The documents of a kind, for code that treats all kinds alike."""
        return cast("dict[str, dict[str, Document]]", self.objects)[kind]

    def add_function(self, document: FunctionDocument) -> str:
        """Add a function under its name, or the next free one; returns the name used."""
        taken = self.objects["function"]
        key = free_name(document["name"], taken)
        taken[key] = document
        return key


def free_name(name: str, taken: Container[str]) -> str:
    """The name, or its next free one.

    Example:
        >>> free_name("Pros", {"Pros"})
        'Pros (2)'
    """
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name} ({number})", number + 1
    return candidate


def slug(name: str, taken: Iterable[str]) -> str:
    """A folder name for a function.

    Example:
        >>> slug("Welcome: webhook!", ["welcome-webhook"])
        'welcome-webhook-2'
        >>> slug("Größe", [])
        'grosse'
    """
    plain = "".join(each for each in normalize("NFKD", name.casefold()) if not combining(each))
    base = _NOT_SLUG.sub("-", plain).strip("-")[:_SLUG_CHARACTERS].strip("-") or "function"
    used, number = set(taken), 2
    candidate = base
    while candidate in used:
        candidate, number = f"{base}-{number}", number + 1
    return candidate
