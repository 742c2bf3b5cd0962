"""Window frames: ``ROWS 3 PRECEDING``, ``RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND ...``.

The engine supports only numeric distances. Timestamps in ORDER BY are therefore converted to
seconds, dates to days, and intervals to numbers of these.
"""

from typing import Any

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import TYPE_MISMATCH, near, refused
from hoglet.hogql.functions.datetime_zone import instant
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    Name,
    Number,
    Ordering,
    TrustedSQL,
)
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.types import FLOAT, INTEGER, NUMBERS, TIMES
from hoglet.syntax import tree

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_DAYS = {"day": 1, "week": 7}
_MOST = 2**31 - 1  # the engine's maximum distance


class _Distance(msgspec.Struct, frozen=True):
    """The distance of a frame bound; ``unit`` is empty for a plain number."""

    count: int
    unit: str
    node: Any


def resolve_frame(
    resolver: Resolver, node: tree.WindowExpr, order_by: tuple[Ordering, ...], scope: Scope
) -> tuple[str, tuple[Ordering, ...]]:
    """The frame as SQL, empty without one, and the required ordering."""
    if node.frame_method is None or node.frame_start is None:
        return "", order_by
    method = "ROWS" if node.frame_method.upper() == "ROWS" else "RANGE"
    ends = [end for end in (node.frame_start, node.frame_end) if end is not None]
    distances = [_distance(resolver, end, scope) for end in ends]
    scale: dict[str, int] = {}
    if method == "RANGE" and any(distances):
        order_by, scale = _measurable(order_by, distances, node, (resolver.context, scope))
    words = [
        _end(end, distance, method, scale) for end, distance in zip(ends, distances, strict=True)
    ]
    between = len(words) > 1
    return f"{method} {'BETWEEN ' if between else ''}{' AND '.join(words)}", order_by


def _distance(resolver: Resolver, end: tree.WindowFrameExpr, scope: Scope) -> _Distance | None:
    value = end.frame_value
    if end.frame_type == "CURRENT ROW" or value is None:
        return None
    if end.frame_type not in {"PRECEDING", "FOLLOWING"}:
        raise refused(f"Unknown window frame bound: {end.frame_type}", end)
    if isinstance(value, int):
        return _Distance(value, "", end)
    unit = ""
    if isinstance(value, tree.Call) and value.name.startswith("toInterval") and value.args:
        unit = value.name.removeprefix("toInterval").lower()
        value = value.args[0]
    count = _whole(resolver.expression(value, scope), end)
    return _Distance(count, unit, end)


def _whole(expr: Expr, node: Any) -> int:
    text = expr.text if isinstance(expr, Number) else str(getattr(expr, "value", "")).strip()
    if text.isdigit():
        return int(text)
    raise refused("The distance in a window frame must be a non-negative integer", node)


def _measurable(
    order_by: tuple[Ordering, ...],
    distances: list[_Distance | None],
    node: tree.WindowExpr,
    known: tuple[QueryContext, Scope],
) -> tuple[tuple[Ordering, ...], dict[str, int]]:
    """ORDER BY as a number, and the size of each unit in that number."""
    context, scope = known
    if len(order_by) != 1:
        raise refused("RANGE with a distance needs one expression in ORDER BY", node)
    ordered = order_by[0].expr
    if isinstance(ordered, Name) and ordered.source is None:
        ordered = scope.aliases.get(ordered.name, ordered)
    units = {each.unit for each in distances if each is not None}
    if ordered.type.name not in TIMES:
        if units != {""}:
            message = "RANGE with an interval needs a time or a date in ORDER BY"
            raise refused(message, node, code=TYPE_MISMATCH)
        if ordered.type.name not in {*NUMBERS, "Unknown"}:
            message = "RANGE with a distance needs a number, a date or a time in ORDER BY"
            raise refused(message, node, code=TYPE_MISMATCH)
        return order_by, {"": 1}
    expr = order_by[0].expr
    if ordered.type.name == "Date" and units <= {"", *_DAYS}:
        days = FunctionCall(function="toInt32", args=(expr,), type=INTEGER)
        return _ordered_by(order_by, days), {"": 1, **_DAYS}
    typed = msgspec.structs.replace(expr, type=ordered.type)
    seconds = TrustedSQL(parts=("toFloat64(", instant(typed, context), ")"), type=FLOAT)
    return _ordered_by(order_by, seconds), {"": 1, **_SECONDS}


def _ordered_by(order_by: tuple[Ordering, ...], expr: Expr) -> tuple[Ordering, ...]:
    return (msgspec.structs.replace(order_by[0], expr=expr),)


def _end(
    end: tree.WindowFrameExpr, distance: _Distance | None, method: str, scale: dict[str, int]
) -> str:
    if distance is None:
        if end.frame_type == "CURRENT ROW":
            return end.frame_type
        return f"UNBOUNDED {end.frame_type}"
    if method == "ROWS" and distance.unit:
        raise refused("ROWS counts rows: use RANGE for an interval", end, code=TYPE_MISMATCH)
    size = 1 if method == "ROWS" else scale.get(distance.unit)
    if size is None:
        visible = (
            f"{distance.unit}s have no fixed length"
            if distance.unit in _VARIABLE
            else (f"unknown unit '{distance.unit}'.{near(distance.unit, _SECONDS)}")
        )
        raise refused(f"A window frame by interval: {visible}; use days, hours or seconds", end)
    if distance.count * size > _MOST:
        raise refused("The distance in a window frame is too large", end)
    return f"{distance.count * size} {end.frame_type}"


_VARIABLE = frozenset({"month", "quarter", "year"})
