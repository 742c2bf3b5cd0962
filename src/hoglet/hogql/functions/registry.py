"""The functions by name, parsed from the tables of this folder.

A row is ``name | arity | returns | example``. ``name=other`` maps it to ``other`` in the warehouse.
Arity is ``2``, ``1-3`` or ``1+``; aggregates may start with ``(1)`` for parameters, e.g. ``(1+)
1``. ``returns`` is a type of ``_WORDS``, ``same`` (type of the first argument), ``item`` (of the
first array), ``list`` (array of the first argument) or ``widest``; a ``?`` suffix means always
nullable, ``!`` never nullable. The example is HogQL that tests execute.

Source: docs/spec/query-endpoints.md#104-functions.
"""

import re
from collections.abc import Iterable

import msgspec

from hoglet.hogql import types
from hoglet.hogql.functions.aggregates import AGGREGATES
from hoglet.hogql.functions.collections import COLLECTIONS
from hoglet.hogql.functions.dates import DATES
from hoglet.hogql.functions.numbers import NUMBERS
from hoglet.hogql.functions.strings import TEXTS
from hoglet.hogql.functions.traffic import TRAFFIC
from hoglet.hogql.functions.values import VALUES
from hoglet.hogql.types import Type

WINDOWS = """
row_number | 0 | int | row_number() OVER (ORDER BY number)
rank | 0 | int | rank() OVER (ORDER BY number)
dense_rank | 0 | int | dense_rank() OVER (ORDER BY number)
percent_rank | 0 | float | percent_rank() OVER (ORDER BY number)
cume_dist | 0 | float | cume_dist() OVER (ORDER BY number)
ntile | 1 | int | ntile(2) OVER (ORDER BY number)
nth_value | 2 | same | nth_value(number, 2) OVER (ORDER BY number)
lag | 1-3 | same | lag(number, 1) OVER (ORDER BY number)
lead | 1-3 | same | lead(number, 1) OVER (ORDER BY number)
lagInFrame | 1-3 | same | lagInFrame(number, 1) OVER (ORDER BY number)
leadInFrame | 1-3 | same | leadInFrame(number, 1) OVER (ORDER BY number)
"""


_WORDS = {
    "int": types.INTEGER,
    "float": types.FLOAT,
    "decimal": types.DECIMAL,
    "str": types.STRING,
    "bool": types.BOOLEAN,
    "date": types.DATE,
    "datetime": types.DATETIME,
    "uuid": types.UUID,
    "array": types.ARRAY,
    "strings": types.STRING_ARRAY,
    "tuple": types.TUPLE,
    "map": types.MAP,
    "json": types.JSON,
    "interval": types.INTERVAL,
    "unknown": types.UNKNOWN,
}


class FunctionEntry(msgspec.Struct, frozen=True):
    """A row of the allow-list. ``high`` None means any number of arguments."""

    name: str
    clickhouse: str
    low: int
    high: int | None
    returns: str
    example: str
    aggregate: bool = False
    window: bool = False
    params: tuple[int, int | None] | None = None

    def type_of(self, args: tuple[Type, ...]) -> Type:
        """The type of a call with arguments of these types."""
        word = self.returns.rstrip("?!")
        base = _WORDS.get(word) or _computed_type(word, args)
        if self.returns.endswith("?"):
            return base.or_null()
        if self.returns.endswith("!") or word in {"array", "list", "strings", "tuple", "map"}:
            return base.not_null()
        return base.or_null(any(arg.nullable for arg in args))


def _computed_type(word: str, args: tuple[Type, ...]) -> Type:
    first = args[0] if args else types.UNKNOWN
    if word == "item":
        return first.item or types.UNKNOWN
    if word == "list":
        return Type("Array", item=first.not_null())
    if word == "second":
        return args[1] if len(args) > 1 else types.UNKNOWN
    if word == "widest":
        return widest(args)
    return first


def widest(args: Iterable[Type]) -> Type:
    """The common supertype; ``Unknown`` if there is none."""
    common: Type | None = None
    nullable = False
    for arg in args:
        nullable = nullable or arg.nullable
        if arg.name == "Null":
            continue
        if common is None or common.name == arg.name:
            common = common or arg
        elif {common.name, arg.name} <= types.NUMBERS:
            common = types.FLOAT
        else:
            common = types.UNKNOWN
    return (common or types.UNKNOWN).or_null(nullable)


_ROW = re.compile(
    r"(?P<name>\w+)(=(?P<clickhouse>\w+))?\s*\|\s*(\((?P<params>[\d+-]+)\)\s*)?(?P<arity>[\d+-]+)"
    r"\s*\|\s*(?P<returns>\w+[?!]?)\s*\|\s*(?P<example>.*)"
)


def _bounds(text: str) -> tuple[int, int | None]:
    if text.endswith("+"):
        return int(text[:-1]), None
    low, _, high = text.partition("-")
    return int(low), int(high or low)


def _read(table: str, *, aggregate: bool = False, window: bool = False) -> Iterable[FunctionEntry]:
    for line in table.strip().splitlines():
        if not line or line.startswith("#"):
            continue
        row = _ROW.fullmatch(line.strip())
        if row is None:
            raise ValueError(f"bad function row: {line}")
        low, high = _bounds(row["arity"])
        yield FunctionEntry(
            row["name"],
            row["clickhouse"] or row["name"],
            low,
            high,
            row["returns"],
            row["example"],
            aggregate,
            window,
            _bounds(row["params"]) if row["params"] else None,
        )


_TABLES = (NUMBERS, TEXTS, DATES, COLLECTIONS, VALUES, TRAFFIC)
_FUNCTIONS: dict[str, FunctionEntry] = {
    **{row.name: row for table in _TABLES for row in _read(table)},
    **{row.name: row for row in _read(AGGREGATES, aggregate=True)},
    **{row.name: row for row in _read(WINDOWS, window=True)},
}
_ANY_CASE = {name.lower(): row for name, row in reversed(_FUNCTIONS.items())}

_COMBINATORS = (
    "If",
    "Array",
    "Distinct",
    "OrNull",
    "OrDefault",
    "State",
    "MergeState",
    "Merge",
    "ForEach",
    "Map",
    "SimpleState",
    "ArgMin",
    "ArgMax",
)


_READS_TEXT = re.compile(r"to\w+Or(?:Null|Zero|Default)")
_TEXT_FUNCTIONS = frozenset(row.name for row in _read(TEXTS)) | {
    *filter(_READS_TEXT.fullmatch, _FUNCTIONS),
    "toString", "toText", "toFixedString", "toUUID", "parseDateTime",
    "parseDateTimeBestEffort", "parseDateTimeBestEffortOrNull",
    "parseDateTime64BestEffort", "parseReadableSize", "parseReadableSizeOrNull", "parseTimeDelta",
}  # fmt: skip
_JSON_FUNCTIONS = ("JSON", "simpleJSON", "isValidJSON", "json_")


def is_text_function(name: str) -> bool:
    """Whether the arguments that are strings in its example must be strings."""
    return name in _TEXT_FUNCTIONS or name.startswith(_JSON_FUNCTIONS)


def functions() -> tuple[FunctionEntry, ...]:
    """Every row of the allow-list, in order."""
    return tuple(_FUNCTIONS.values())


def function_names() -> tuple[str, ...]:
    """Every name of the allow-list, for suggestions."""
    return tuple(_FUNCTIONS)


def find_function(name: str) -> FunctionEntry | None:
    """The function with that name, ignoring case; aggregates also with combinators (``sumIf``)."""
    return _FUNCTIONS.get(name) or _ANY_CASE.get(name.lower()) or _combined(name)


def _combined(name: str) -> FunctionEntry | None:
    if name.endswith(("if", "IF")):
        name = f"{name[:-2]}If"  # sumif, SUMIF
    for suffix in _COMBINATORS:
        if not name.endswith(suffix) or len(name) == len(suffix):
            continue
        inner = find_function(name[: -len(suffix)])
        if inner is None or not inner.aggregate:
            continue
        return _with_combinator(inner, name, suffix)
    return None


def _with_combinator(inner: FunctionEntry, name: str, suffix: str) -> FunctionEntry:
    low, high, returns = inner.low, inner.high, inner.returns
    if suffix in {"If", "ArgMin", "ArgMax"}:
        low, high = low + 1, high + 1 if high is not None else None
    if suffix in {"Merge", "MergeState"}:
        low, high = 1, 1
    if suffix in {"State", "MergeState", "SimpleState"} or returns.startswith(("same", "item")):
        returns = "unknown" if suffix not in {"If", "ArgMin", "ArgMax"} else returns
    if suffix == "ForEach":
        returns = "array"
    if suffix == "Map":
        returns = "map"
    if suffix == "OrNull":
        returns = returns.rstrip("?!") + "?"
    spelling = inner.clickhouse + suffix
    return FunctionEntry(
        name, spelling, low, high, returns, "", aggregate=True, params=inner.params
    )
