"""How one property is read: from the typed JSON column where its path allows, else from the text.

Text is what every property can be read as: strings plain, the rest as JSON. Measured on a million
events of 4 properties (chDB 26.9, processor time, group by a text property): ``JSONExtractString``
of the text 482 ms; the form that reads any value 117 ms, of it 40 ms for objects and 45 ms for
choosing; ``CAST(json.key, 'Nullable(String)')`` 66 ms, but lists come as ``['a']`` and objects as
NULL; ``json.key.:String`` 30 ms, but it misses everything else. So a property all whose values
were ever text, which the pipeline keeps track of, is read by the last. Sums of a number: 480 ms
from the text, 70 ms by the cast, 40 ms from the typed columns.

Source: docs/spec/query-endpoints.md#102-access-and-placeholders.
"""

import re

from hoglet.hogql.plan import Expr, TrustedSQL, Value
from hoglet.hogql.schema.fields import Properties
from hoglet.hogql.types import BOOLEAN, DATETIME, FLOAT, NULLABLE_STRING, STRING

_PLAIN_KEY = re.compile(r"[^\x00-\x1f`\\]{1,200}\Z")
"""Keys that ClickHouse finds as a path in backquotes; measured with ``^ : [ ] %`` and dots."""


def quote_name(name: str) -> str:
    """A name in backquotes, safe for any text: backslash and backquote are escaped."""
    escaped = name.replace("\\", "\\\\").replace("`", "\\`").replace("\x00", "\\0")
    return f"`{escaped}`"


def read_property(
    field: Properties,
    keys: tuple[str | int, ...],
    declared: str | None,
    timezone: str,
    *,
    is_uniform: bool = False,
) -> Expr:
    """The value at ``keys`` of a property bag, NULL when missing.

    Args:
        field: the bag.
        keys: path, e.g. ``("$browser",)`` or ``("a", "b", 1)``; numbers index arrays from 1.
        declared: ``Numeric``, ``Boolean``, ``DateTime``, ``String`` or None (text).
        timezone: of the project, for dates without an offset.
        is_uniform: every value there ever was is written in JSON as ``declared`` is.
    """
    if field.json and all(isinstance(key, str) and _PLAIN_KEY.match(key) for key in keys):
        # The warehouse keeps a dot of a key apart from nesting: "a.b" is stored as "a%2Eb".
        path = ".".join(quote_name(str(key).replace(".", "%2E")) for key in keys)
        if is_uniform and declared is not None:
            return _uniform_path(f"{field.json}.{path}", declared, timezone)
        return _typed_path(field.json, path, declared, timezone)
    return typed_text(read_text(field.text, keys), declared, timezone)


def _uniform_path(value: str, declared: str, timezone: str) -> Expr:
    if declared == "Numeric":
        number = f"coalesce({value}.:Float64, toFloat64({value}.:Int64))"
        return TrustedSQL(parts=(number,), type=FLOAT.or_null())
    if declared == "Boolean":
        return TrustedSQL(parts=(f"{value}.:Bool",), type=BOOLEAN.or_null())
    text = TrustedSQL(parts=(f"{value}.:String",), type=NULLABLE_STRING)
    return typed_text(text, declared, timezone)


def _typed_path(column: str, path: str, declared: str | None, timezone: str) -> Expr:
    value = f"{column}.{path}"
    if declared == "Numeric":
        return TrustedSQL(parts=(f"accurateCastOrNull({value}, 'Float64')",), type=FLOAT.or_null())
    if declared in {"Boolean", "DateTime"}:
        scalar = TrustedSQL(parts=(f"CAST({value}, 'Nullable(String)')",), type=NULLABLE_STRING)
        return typed_text(scalar, declared, timezone)
    text = (
        f"multiIf(isNotNull({value}.:String), {value}.:String, isNotNull({value}), "
        f"toJSONString({value}), nullIf(toString({column}.^{path}), '{{}}'))"
    )
    return TrustedSQL(parts=(text,), type=NULLABLE_STRING)


def typed_text(text: TrustedSQL, declared: str | None, timezone: str) -> Expr:
    """A property that was read as text, as what its definition says; NULL where it is none."""
    if declared == "Numeric":
        return TrustedSQL(parts=("accurateCastOrNull(", text, ", 'Float64')"), type=FLOAT.or_null())
    if declared == "Boolean":
        parts = ("transform(", text, ", ['true', 'false'], [true, false], NULL)")
        return TrustedSQL(parts=parts, type=BOOLEAN.or_null())
    if declared == "DateTime":
        parts = ("parseDateTime64BestEffortOrNull(", text, f", 6, '{timezone}')")
        return TrustedSQL(parts=parts, type=DATETIME.or_null())
    return text


def read_text(column: str | Expr, keys: tuple[str | int, ...]) -> TrustedSQL:
    """The value at ``keys`` of JSON text: strings plain, the rest as JSON, NULL when missing."""
    path: list[str | Expr] = []
    for key in keys:
        bound = Value(value=key, bind="String" if isinstance(key, str) else "Int64", type=STRING)
        path += [", ", bound]
    parts = (
        *("if(JSONType(", column, *path, ") = 'String', JSONExtractString(", column, *path),
        *("), nullIf(nullIf(JSONExtractRaw(", column, *path, "), ''), 'null'))"),
    )
    return TrustedSQL(parts=parts, type=NULLABLE_STRING)
