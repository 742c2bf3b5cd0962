"""The deliberate differences between hoglet's Hog and the official virtual machine.

``docs/hog-differences.yaml`` is the only list of exceptions of the sweep, and the source of
``docs/reference/hog-differences.md``.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from support.hog_sweep import Call
from support.yaml_tables import read_table

FILE: Final = Path(__file__).parents[2] / "docs" / "hog-differences.yaml"
GROUPS: Final = {
    "text": {"string", "digits", "pattern", "json", "date text", "half"},
    "number": {"integer", "float", "nan", "infinity"},
    "list": {"array", "tuple"},
    "record": {"date", "datetime", "error", "function"},
}
"""Names for several types; ``any`` is all of them."""


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of difference.

    Attributes:
        functions: names of functions or operators.
        arguments: for each argument the types it may have, e.g. ``["null", "text | number"]``;
            ``...`` at the end allows any more.
        ours: what hoglet gives, ``error`` for an error; ``*`` stands for any text.
        theirs: what the machine gives.
        reason: why it stays, one sentence.
        calls: number of calls of the sweep that differ in this way.
    """

    functions: list[str]
    arguments: list[str]
    ours: str
    theirs: str
    reason: str
    calls: int

    def covers(self, call: Call, ours: str, theirs: str) -> bool:
        """Whether a call with these outcomes is a case of this difference."""
        return (
            call.function in self.functions
            and _fits_types(tuple(self.arguments), call.types)
            and _fits(self.ours, ours)
            and _fits(self.theirs, theirs)
        )


def read_differences() -> list[Difference]:
    """All entries, in the order of the file; the first that covers a call counts."""
    return msgspec.convert(read_table(FILE), list[Difference])


def _fits_types(patterns: tuple[str, ...], types: tuple[str, ...]) -> bool:
    if patterns and patterns[-1] == "...":
        patterns = patterns[:-1]
        types = types[: len(patterns)]
    return len(patterns) == len(types) and all(
        "any" in allowed or name in allowed
        for allowed, name in zip(map(_allowed, patterns), types, strict=True)
    )


@cache
def _allowed(pattern: str) -> frozenset[str]:
    names = [name.strip() for name in pattern.split("|")]
    return frozenset().union(*[GROUPS.get(name, {name}) for name in names])


@cache
def _outcome_pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("*"))) + r"\Z", re.DOTALL)


def _fits(pattern: str, outcome: str) -> bool:
    return _outcome_pattern(pattern).match(outcome) is not None
