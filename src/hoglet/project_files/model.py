"""A project as plain documents, the same whether it was read from files or from a server."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hoglet.project_files import endpoint_file, function_file
from hoglet.project_files.yaml_files import dump

type Json = dict[str, Any]

KINDS = ("variable", "action", "cohort", "function", "endpoint")
_SLUG_CHARACTERS = 60
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class Project:
    """Everything that files hold.

    Attributes:
        settings: of ``hoglet.yaml``: ``{"name": "Shop", "timezone": "UTC"}``.
        objects: documents by kind (:data:`KINDS`) and name, ``{"action": {"Docs": {…}}}``; a
            second function of a name is ``Name (2)``.
        folders: folder of each function that was read from files, by its name in ``objects``.
        left_out: sentences about what was found and cannot be a file.
    """

    settings: Json = field(default_factory=dict[str, Any])
    objects: dict[str, dict[str, Json]] = field(
        default_factory=lambda: {kind: dict[str, Json]() for kind in KINDS}
    )
    folders: dict[str, Path] = field(default_factory=dict[str, Path])
    left_out: list[str] = field(default_factory=list[str])

    def add_function(self, document: Json) -> str:
        """Add a function under its name, or the next free one; gives that."""
        taken, name = self.objects["function"], document["name"]
        key, number = name, 2
        while key in taken:
            key, number = f"{name} ({number})", number + 1
        taken[key] = document
        return key


def slug(name: str, taken: Iterable[str]) -> str:
    """A folder name for a function.

    Example:
        >>> slug("Welcome: webhook!", ["welcome-webhook"])
        'welcome-webhook-2'
    """
    base = _NOT_SLUG.sub("-", name.lower()).strip("-")[:_SLUG_CHARACTERS].strip("-") or "function"
    used, number = set(taken), 2
    found = base
    while found in used:
        found, number = f"{base}-{number}", number + 1
    return found


def text_of(kind: str, document: Json) -> str:
    """A document as its file has it; a function's code follows its settings."""
    if kind == "endpoint":
        return endpoint_file.write_text(document)
    if kind == "function":
        code = document.get("hog", "")
        return f"{dump(function_file.written_fields(comparable(kind, document)))}\n{code}\n"
    return dump(document)


def difference(kind: str, name: str, before: Json | None, after: Json | None) -> list[str]:
    """Lines of a unified diff from the server's document to the files'."""
    texts = ["" if document is None else text_of(kind, document) for document in (before, after)]
    sides = [
        "/dev/null" if document is None else f"{side}/{kind}/{name}"
        for side, document in (("server", before), ("files", after))
    ]
    old, new = (text.splitlines() for text in texts)
    return list(difflib.unified_diff(old, new, sides[0], sides[1], lineterm=""))


def comparable(kind: str, document: Json) -> Json:
    """The document with every secret as ``{"secret": true}``: its value is known to nobody."""
    if kind != "function":
        return document
    mappings = [
        {**mapping, "inputs": _without_values(mapping["inputs"])}
        if mapping.get("inputs")
        else mapping
        for mapping in document["mappings"]
    ]
    return {**document, "inputs": _without_values(document["inputs"]), "mappings": mappings}


def _without_values(inputs: Json) -> Json:
    return {
        key: {"secret": True} if value.get("secret") else value for key, value in inputs.items()
    }
