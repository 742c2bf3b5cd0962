"""The JavaScript helper library, and which helpers a program needs.

``library.js`` consists of top-level functions; their dependencies are found in their text.

Source: docs/spec/hog-language.md#14-javascript.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

_FUNCTION = re.compile(r"^function ([\w$]+)\(", re.MULTILINE)
# A called helper, or a helper with a leading ``__`` used as a value; not a method, not in a string.
_NAME = re.compile(r"""(?<![\w$.'"`])(?:[\w$]+(?=\()|__[\w$]+)""")


@cache
def helpers() -> Mapping[str, str]:
    """Source of every helper by name, in file order."""
    text = (Path(__file__).parent / "library.js").read_text(encoding="utf-8")
    starts = [(match.group(1), match.start()) for match in _FUNCTION.finditer(text)]
    ends = [start for _, start in starts[1:]] + [len(text)]
    return {name: text[start:end].strip() for (name, start), end in zip(starts, ends, strict=True)}


@cache
def _needs(name: str) -> frozenset[str]:
    known = helpers()
    return frozenset(word for word in _NAME.findall(known[name]) if word in known)


def with_needs(names: Iterable[str]) -> tuple[str, ...]:
    """The given helpers and their dependencies, in file order."""
    needed: set[str] = set()
    waiting = [name for name in names if name in helpers()]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting.extend(_needs(name))
    return tuple(name for name in helpers() if name in needed)


def library_source(names: Iterable[str]) -> str:
    """Source of the given helpers and their dependencies, separated by blank lines."""
    return "\n".join(helpers()[name] for name in with_needs(names))
