"""Rejects retired words in the names of modules, classes, functions, parameters and variables.

Covers the server, its tests, the benchmarks and the tools.

``RETIRED`` maps a word to the term that replaces it. A word is rejected anywhere in a name
(``_wish``, ``list_letters``, ``ResealJob``). The words of ``RETIRED_NAMES`` are rejected only as
the whole name, because they are plain English inside others (``NotFound``, ``NotMade``).
``VARIABLES`` are whole names, too: they do not say what a variable holds.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parent.parent
FOLDERS = ("src", "tests", "benchmarks", "tools")

RETIRED = {
    "buried": "failed",
    "bury": "dead_letter",
    "deriving": "infer",
    "doings": "system events",
    "flights": "in_flight",
    "gauges": "metrics",
    "lasting": "ttl",
    "letters": "dead_letters",
    "plainly": "unordered",
    "relent": "reset",
    "reseal": "rotate, reencrypt",
    "resealing": "rotation",
    "revive": "requeue",
    "revived": "requeued",
    "rooms": "services",
    "scribe": "writer",
    "seal": "encrypt",
    "sealed": "encrypted",
    "sketch": "summary",
    "sketches": "summaries",
    "stepping": "step_batcher",
    "trial": "test_run",
    "trials": "test_runs",
    "unasked": "deferred",
    "unsealed": "decrypted",
    "upkeep": "maintenance",
    "wish": "filters, request",
    "wishes": "filters, requests",
}
RETIRED_NAMES = {
    "acting": "process",
    "asked": "requested",
    "gone": "deleted",
    "hear": "poll",
    "holding": "keep_leases",
    "kept": "materialization, the name of the thing",
    "learning": "schema",
    "letter": "dead_letter",
    "look": "poll, check",
    "looks": "checks",
    "made": "created",
    "one": "the name of the thing",
    "people": "persons",
    "quick": "fast_path",
    "room": "capacity, acquire",
    "shown": "view",
    "showing": "presenter",
    "tell": "notify, report",
    "told": "reported",
}
VARIABLES = {
    "found": "the name of the thing, match, result",
    "kept": "the name of the thing, existing, remaining",
    "made": "created, the name of the thing",
    "one": "the name of the thing",
    "place": "index, position, path, span",
    "retained": "the name of the thing, existing, remaining",
    "shown": "visible, the name of the thing",
    "told": "reported, the name of the thing",
    "wanted": "requested, expected, the name of the thing",
}
ALLOWED = {
    # "dead letter" is the established term of messaging, so its parts are allowed in it
    ("dead", "letters"),
    ("dead", "letter"),
}
EXCEPTIONS: dict[str, str] = {
    "src/hoglet/demo/flights.py": "air traffic",
    "src/hoglet/endpoints/encoding/arrow.py": "tell() is part of the file protocol",
}
"""Path of a module: why it may use retired words."""


def names(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The module and every class, function and parameter that it defines, with the line."""
    yield 1, path.stem
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def variables(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every variable, parameter, attribute and field that a module binds, with the line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case _:
                pass


def replacement(name: str) -> str | None:
    """The replacement of the retired word in a name; None if it has none."""
    bare = name.strip("_").lower()
    if bare in RETIRED_NAMES:
        return RETIRED_NAMES[bare]
    words = [word.lower() for word in re.findall(r"[a-z]+|[A-Z][a-z]*", name)]
    for before, word in zip(["", *words], words, strict=False):
        if word in RETIRED and (before, word) not in ALLOWED:
            return RETIRED[word]
    return None


_INSTALLED = frozenset({".venv", "node_modules"})
"""Folders with other projects' code, which ``make clients`` creates below tests."""


def complaints() -> Iterator[str]:
    """One line for each retired name, with its location."""
    for path in sorted(path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.py")):
        module = path.relative_to(PROJECT)
        if str(module) in EXCEPTIONS or "migrations/versions" in str(module):
            continue
        if not _INSTALLED.isdisjoint(module.parts):
            continue
        tree = ast.parse(path.read_text())
        for line, name in names(path, tree):
            if term := replacement(name):
                yield f"{module}:{line}: {name} is a retired word; use {term}"
        for line, name in variables(tree):
            if term := VARIABLES.get(name.strip("_").lower()):
                yield f"{module}:{line}: {name} does not say what it holds; use {term}"


def main() -> int:
    """Print all findings; returns 1 if there are any."""
    findings = list(complaints())
    print("\n".join(findings))
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
