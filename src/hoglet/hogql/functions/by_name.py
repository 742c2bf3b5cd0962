"""Allow-lists for type and aggregate names that are passed as strings.

The engine accepts any name: ``accurateCast(x, 'AggregateFunction(...)')`` would interpret user
bytes as the state of an aggregate, and ``arrayReduce`` call functions that are not allow-listed.
"""

import re
from typing import Any

import msgspec

from hoglet.hogql.errors import TYPE_MISMATCH, near, refused, unknown_function
from hoglet.hogql.functions.registry import find_function, function_names
from hoglet.hogql.plan import Expr, Number, Value

_TAKE_TYPE = {
    "accurateCast": 1,
    "accurateCastOrNull": 1,
    "JSONExtract": -1,
    "JSONExtractKeysAndValues": -1,
}
_TAKE_AGGREGATE = {"arrayReduce": 0, "arrayReduceInRanges": 0}

_TYPES = frozenset(
    {
        "array", "bool", "boolean", "date", "date32", "datetime", "datetime32", "datetime64",
        "decimal", "decimal32", "decimal64", "decimal128", "decimal256", "double", "enum", "enum8",
        "enum16", "fixedstring", "float", "float32", "float64", "int", "int8", "int16", "int32",
        "int64", "int128", "int256", "integer", "bigint", "ipv4", "ipv6", "lowcardinality", "map",
        "nullable", "string", "text", "tuple", "uint8", "uint16", "uint32", "uint64", "uint128",
        "uint256", "uuid", "varchar",
    }
)  # fmt: skip
_SUGGESTED = (
    "Array", "Bool", "Date", "DateTime", "Decimal", "Float64", "Int64", "Map", "Nullable", "String",
    "Tuple", "UInt64", "UUID",
)  # fmt: skip
"""Types as the engine writes them."""
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`")
_IN_TYPE_PLACE = re.compile(r"([A-Za-z_]\w*)\s*(?=[(),]|\Z)")
"""The last word before a symbol: ``Int8`` of ``Tuple(name Int8)``."""


def check_named(name: str, args: tuple[Expr, ...], node: Any) -> None:
    """Reject names of types and aggregates that are not constant or not allow-listed.

    Raises:
        SourceError: the function takes a name, and this one is not allowed.
    """
    if name in _TAKE_TYPE:
        text = _constant(name, args[_TAKE_TYPE[name]], "type", node)
        words = _IN_TYPE_PLACE.findall(_QUOTED.sub("", text))
        unknown = [word for word in words if word.lower() not in _TYPES]
        if unknown or (text and not words):
            hint = near(unknown[0], _SUGGESTED) if unknown else ""
            message = (
                f"Unsupported type in {name}: {', '.join(unknown) or text}{hint and '.' + hint}"
            )
            raise refused(message, node, code=TYPE_MISMATCH)
    elif name in _TAKE_AGGREGATE:
        text = _constant(name, args[_TAKE_AGGREGATE[name]], "aggregate function", node)
        called = text.split("(")[0].strip()
        function = find_function(called)
        if text and (function is None or not function.aggregate):
            raise unknown_function(called, node, function_names())


_NARROW = re.compile(
    rf"({_QUOTED.pattern})|\bdate\b|\bdatetime\b(?:\((?=\s*['\)]))?", re.IGNORECASE
)


def with_wide_types(name: str, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The arguments with ``Date32`` and ``DateTime64`` for types whose ranges end in 2149 and 2106.

    Call it after ``check_named``.
    """
    index = _TAKE_TYPE.get(name)
    given = None if index is None else args[index]
    if not isinstance(given, Value) or index is None:
        return args
    wide = msgspec.structs.replace(given, value=_NARROW.sub(_wide, str(given.value)))
    index %= len(args)
    return (*args[:index], wide, *args[index + 1 :])


def _wide(match: re.Match[str]) -> str:
    word = match.group().lower()
    if match.group(1):
        return match.group()
    if word == "date":
        return "Date32"
    return "DateTime64(0, " if word.endswith("(") else "DateTime64(0)"


def _constant(name: str, arg: Expr, what: str, node: Any) -> str:
    """The string; empty for NULL, as in a variable without a value."""
    if isinstance(arg, Value) and isinstance(arg.value, str):
        return arg.value
    if isinstance(arg, Number) and arg.text == "NULL":
        return ""
    raise refused(f"{name} needs the name of the {what} as a string constant", node)
