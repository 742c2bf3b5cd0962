"""Encodes rows of the warehouse as JSON.

Most results are encoded by the engine itself (``Warehouse.query_json``), the rest here. Most
columns are passed to orjson unchanged; only columns of certain types are converted.

Source: docs/spec/query-endpoints.md#105-values-in-json.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from hoglet.kit.json import dump_json, is_list_like, is_object
from hoglet.warehouse import JsonParts, ResultColumn

type Rule = Callable[[Any], Any]

PART_ROWS = 2_000  # rows held as Python values at once by formats other than JSON
_PLAIN_TYPES = ("String", "Int", "UInt", "Float", "Bool", "UUID", "Date", "Enum", "Nothing", "IPv")


def encode_rows(
    columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], timezone: str
) -> bytes:
    """Rows as a JSON array of arrays.

    Args:
        columns: columns with ClickHouse's types, which determine the encoding.
        rows: Python values in the order of ``columns``.
        timezone: the project's time zone, used for timestamps.

    Returns:
        E.g. ``b'[["$pageview",10]]'``.
    """
    rules = [_rule_for(column.type, timezone) for column in columns]
    if any(rules):
        rows = [_apply(rules, row) for row in rows]
    # Only UTC is written as Z; London in winter is +00:00, as in the engine's JSON.
    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_UTC_Z if timezone == "UTC" else 0)
    try:
        return orjson.dumps(rows, default=_other, option=option)
    except TypeError:  # integers beyond 64 bits
        return dump_json([[_plain(value, option) for value in row] for row in rows])


def encode_parts(
    columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]], timezone: str
) -> JsonParts:
    """Rows as JSON arrays of at most ``PART_ROWS`` rows; one empty array if there are no rows."""
    starts = range(0, max(len(rows), 1), PART_ROWS)
    return JsonParts(encode_rows(columns, rows[at : at + PART_ROWS], timezone) for at in starts)


def _apply(rules: Sequence[Rule | None], row: Sequence[Any]) -> list[Any]:
    return [
        value if rule is None or value is None else rule(value)
        for rule, value in zip(rules, row, strict=True)
    ]


def _rule_for(kind: str, timezone: str) -> Rule | None:
    """The conversion for a type, if any."""
    inner = _unwrapped(kind)
    if inner.startswith("DateTime"):
        return None if _is_displayed_in(inner, timezone) else _shifter(timezone)
    if inner.startswith(_PLAIN_TYPES):
        return None
    if inner.startswith("JSON"):
        return _json_text
    if inner.startswith("Decimal"):
        return str
    return _deep(timezone)


def _unwrapped(kind: str) -> str:
    for wrapper in ("LowCardinality(", "Nullable("):
        if kind.startswith(wrapper):
            kind = kind[len(wrapper) : -1]
    return kind


def _is_displayed_in(kind: str, timezone: str) -> bool:
    if f"'{timezone}'" in kind:
        return True
    return timezone == "UTC" and "'" not in kind


def _shifter(timezone: str) -> Rule:
    zone = UTC if timezone == "UTC" else ZoneInfo(timezone)

    def shift(value: Any) -> Any:
        return value.astimezone(zone) if isinstance(value, datetime) and value.tzinfo else value

    return shift


def _deep(timezone: str) -> Rule:
    """Convert the values inside arrays, tuples, maps and variants."""
    shift = _shifter(timezone)

    def walk(value: Any) -> Any:
        if isinstance(value, datetime):
            return shift(value)
        if is_list_like(value):
            return [walk(item) for item in value]
        if is_object(value):
            return {_key(key): walk(item) for key, item in value.items()}
        return value

    return walk


def _key(value: Any) -> str:
    """The key of a map as text; a boolean or tuple as in JSON."""
    return _json_text(value) if isinstance(value, bool | tuple) else str(value)


def _json_text(value: Any) -> str:
    is_json = isinstance(value, dict | list | tuple | bool)
    return dump_json(value).decode() if is_json else str(value)


def _other(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _plain(value: Any, option: int) -> Any:
    """`json.dumps` fallback: encodes datetimes and non-finite floats."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if is_list_like(value):
        return [_plain(item, option) for item in value]
    if is_object(value):
        return {_key(key): _plain(item, option) for key, item in value.items()}
    return orjson.loads(orjson.dumps(value, default=_other, option=option))
