"""A project as plain documents, identical whether read from files or from a server."""

import difflib
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, cast
from unicodedata import combining, normalize

from hoglet.kit.json import same_json
from hoglet.project_files import endpoint_file, function_file
from hoglet.project_files.cohort_criteria import as_stored
from hoglet.project_files.documents import (
    ActionDocument,
    CohortDocument,
    Document,
    DraftDocument,
    EndpointDocument,
    FunctionDocument,
    InputDocuments,
    Kind,
    SettingsDocument,
    VariableDocument,
)
from hoglet.project_files.yaml_files import dump

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


@dataclass(slots=True)
class Project:
    """The content of a project's files.

    Attributes:
        settings: the settings of ``hoglet.yaml``: ``{"name": "Shop", "timezone": "UTC"}``.
        objects: documents by kind and name, ``{"action": {"Docs": {…}}}``.
        versions: number of versions of each endpoint of a server, by its name.
        folders: folder of each function that was read from files, by its name in ``objects``.
        left_out: objects that cannot be written as files.
        changed: objects that are written differently from what was read.
    """

    settings: SettingsDocument = field(default_factory=SettingsDocument)
    objects: Objects = field(default_factory=no_objects)
    versions: dict[str, int] = field(default_factory=dict[str, int])
    folders: dict[str, Path] = field(default_factory=dict[str, Path])
    left_out: list[Remark] = field(default_factory=list[Remark])
    changed: list[Remark] = field(default_factory=list[Remark])

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


def text_of(kind: str, document: Document) -> str:
    """The text of a document's file; a function's code follows its settings."""
    if kind == "endpoint":
        return endpoint_file.write_text(cast("EndpointDocument", document))
    if kind == "function":
        code = document.get("hog", "")
        return f"{dump(function_file.written_fields(comparable(kind, document)))}\n{code}\n"
    if kind == "draft":
        fields = {key: value for key, value in comparable(kind, document).items() if key != "hog"}
        code = f"\n{document['hog']}\n" if "hog" in document else ""
        return f"{dump(fields) if fields else ''}{code}"
    return dump(comparable(kind, document))


def difference(kind: str, name: str, before: Document | None, after: Document | None) -> list[str]:
    """Lines of a unified diff from the server's document to the files'.

    Only values count: the order of keys and ``2`` instead of ``2.0`` make no difference.
    """
    after = _written_like(before, after)
    texts = ["" if document is None else text_of(kind, document) for document in (before, after)]
    sides = [
        "/dev/null" if document is None else f"{side}/{kind}/{name}"
        for side, document in (("server", before), ("files", after))
    ]
    old, new = (text.splitlines() for text in texts)
    return list(difflib.unified_diff(old, new, sides[0], sides[1], lineterm=""))


def _written_like(before: Any, after: Any) -> Any:
    """``after`` with the key order of ``before``, and equal values spelled as there."""
    if same_json(before, after):
        return before
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        keys = dict.fromkeys([*(key for key in old if key in new), *new])
        return {key: _written_like(old.get(key), new[key]) for key in keys}
    if isinstance(before, list) and isinstance(after, list):
        pairs = zip_longest(cast("list[Any]", before), cast("list[Any]", after))
        return [_written_like(*pair) for pair in islice(pairs, len(after))]
    return after


def comparable(kind: str, document: Document) -> Document:
    """The document in the form that is compared.

    Secrets are ``{"secret": true}``, because their values cannot be compared; criteria of cohorts
    have the defaults of a server.
    """
    if kind == "cohort":
        return as_stored(cast("CohortDocument", document))
    if kind not in {"function", "draft"}:
        return document
    form = dict(document)
    if "inputs" in document:
        form["inputs"] = _without_values(document["inputs"])
    if "mappings" in document:
        form["mappings"] = [
            {**mapping, "inputs": _without_values(mapping["inputs"])}
            if mapping.get("inputs")
            else mapping
            for mapping in document["mappings"]
        ]
    return form


def _without_values(inputs: InputDocuments) -> InputDocuments:
    return {
        key: {"secret": True} if value.get("secret") else value for key, value in inputs.items()
    }
