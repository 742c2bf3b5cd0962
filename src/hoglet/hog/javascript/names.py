"""JavaScript names for Hog variables.

Hog names are kept where possible. Reserved names and names of helpers get the prefix ``__x_``. A
variable that shadows another is renamed, because in JavaScript it hides the outer one from the
start of its block, in Hog from its ``let`` on.

Source: docs/spec/hog-language.md#14-javascript.
"""

from collections.abc import Collection

from hoglet.hog.bind import tree as bound

PREFIX = "__x_"
RESERVED = frozenset(
    """
    abstract arguments async await boolean break byte case catch char class const continue debugger
    default delete do double else enum eval export extends false final finally float for function
    goto if implements import in instanceof int interface let long native new null package private
    protected public return short static super switch synchronized this throw throws transient true
    try typeof undefined var void volatile while with yield
    Error __getGlobal __error NaN Infinity globalThis
    """.split()  # noqa: SIM905 (a word list reads better than fifty quoted words)
)


def safe_name(name: str) -> str:
    """A JavaScript identifier for ``name``; different names stay different."""
    if name in RESERVED or name.startswith(PREFIX):
        return PREFIX + name
    if name.isidentifier() or _is_identifier(name):
        return name
    return PREFIX + "".join(c if c.isalnum() and c.isascii() else f"${ord(c):x}$" for c in name)


def _is_identifier(name: str) -> bool:
    return name.replace("$", "_").isidentifier()


class VariableNames:
    """Gives every variable of a program its JavaScript name."""

    def __init__(self, helpers: Collection[str]) -> None:
        self._helpers = helpers
        self._names: dict[bound.Variable, str] = {}
        self._live: list[str] = []

    def declare(self, variable: bound.Variable) -> str:
        """Name a variable that comes into scope."""
        base = safe_name(variable.name)
        if base in self._helpers:
            base = PREFIX + base
        name, count = base, 1
        while name in self._live:
            count += 1
            name = f"{base}${count}"
        self._live.append(name)
        self._names[variable] = name
        return name

    def end(self, count: int) -> None:
        """Forget the names above the first ``count``."""
        del self._live[count:]

    def count(self) -> int:
        """How many names are in scope; for :meth:`end`."""
        return len(self._live)

    def __getitem__(self, variable: bound.Variable) -> str:
        return self._names[variable]
