"""Rejects retired words in the names of modules, classes, functions and parameters.

``RETIRED`` maps a word to the term that replaces it. A word is rejected anywhere in a name
(``_wish``, ``list_letters``, ``ResealJob``). The words of ``RETIRED_NAMES`` are rejected only as
the whole name, because they are plain English inside others (``NotFound``, ``_told_apart``).
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "hoglet"

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
    "kept": "materialization, retained",
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


def names(path: Path) -> Iterator[tuple[int, str]]:
    """The module and every class, function and parameter that it defines, with the line."""
    yield 1, path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


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


def complaints() -> Iterator[str]:
    """One line for each retired name, with its location."""
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE.parent.parent)
        if str(place) in EXCEPTIONS or "migrations/versions" in str(place):
            continue
        for line, name in names(path):
            if term := replacement(name):
                yield f"{place}:{line}: {name} is a retired word; use {term}"


def main() -> int:
    """Print all findings; returns 1 if there are any."""
    found = list(complaints())
    print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
