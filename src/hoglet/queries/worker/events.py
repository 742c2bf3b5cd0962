"""Translates events queries to HogQL: text with bound values, and how to assemble rows.

Source: docs/spec/data-and-queries.md#17-eventsquery.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from hoglet.hogql.ast_builders import some
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import SYNTAX, located, refused
from hoglet.hogql.filters.actions import action_condition, step_condition
from hoglet.hogql.filters.dates import clock_of, read_date
from hoglet.hogql.filters.properties import conditions
from hoglet.hogql.frontend.fragments import QueryText, read_column, read_ordering
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import SourceError
from hoglet.kit.relative_dates import as_text, elapse
from hoglet.queries.worker.columns import (
    Item,
    holds_aggregate,
    read_items,
    total_names,
)
from hoglet.queries.worker.messages import FILTER_LISTS, INVALID_KEY, EventsPlan, PlanRequest
from hoglet.queries.worker.special_columns import NAME, SPECIAL, display_name
from hoglet.syntax import tree

type BoundValues = dict[str, str | list[str]]
"""Values of the placeholders: ``{"before": "2026-01-05 12:00:00", "events": ["paid"]}``."""

_AFTER = "-24h"
_NOW_MARGIN = timedelta(seconds=5)
"""How far the default bound lies in the future, because client clocks can be ahead."""
_MAX_NUMBER, _MAX_DIGITS = 2**52 - 1, 18
_TIMES = frozenset({("timestamp",), ("events", "timestamp")})


@contextmanager
def _about_keys() -> Generator[None]:
    """Convert errors with a path to errors about keys of the query."""
    try:
        yield
    except SourceError as error:
        if error.attr is not None:
            error.error_code = INVALID_KEY
        raise


def plan_events(payload: Any) -> EventsPlan:
    """The HogQL of a validated events query; ``payload`` is a ``PlanRequest``.

    Raises:
        SourceError: an invalid part; with the code ``place`` its attr is a path.
    """
    request = msgspec.convert(payload, PlanRequest)
    node, context = request.query, request.context.query_context()
    names = display_name(request.name_properties)
    items = read_items(node["select"], names)
    totals = total_names(items)
    where, having = _conditions(node.get("where", []), totals)
    is_grouped = bool(having) or any(item.is_aggregate for item in items)
    ordering = _ordering(node.get("orderBy"), items, names, is_grouped=is_grouped)
    with _about_keys():
        conditions, values = _bounds(node, context)
        filters = _filters(node, context)
        conditions += _entities(node, context, values)
    columns = [piece for item in items for piece in _pieces(item)]
    if ordering.cursor:
        columns += [_Piece("events.timestamp AS hoglet_time"), _Piece("events.uuid AS hoglet_uuid")]
    keys = dict.fromkeys(
        key for item in items if not item.is_aggregate for key in _pieces(item, item.key)
    )
    query = QueryText()
    _add(query, "SELECT ", columns, _LINE)
    _add(
        query, "\nFROM events\nWHERE ", [*map(_Piece, [*conditions, "{filters}"]), *where], " AND "
    )
    _add(query, "\nGROUP BY ", list(keys) if is_grouped else [], _LINE)
    _add(query, "\nHAVING ", having, " AND ")
    _add(query, "\nORDER BY ", ordering.items, _LINE)
    return EventsPlan(
        query={"kind": "HogQLQuery", "query": str(query), "values": values, "filters": filters},
        columns=[(item.title, item.kind, len(item.parts)) for item in items],
        cursor=ordering.cursor,
        fragments=query.fragments,
    )


_LINE = "\n, "
"""Each item has its own line, so that a comment cannot hide the next one."""


class _Piece(NamedTuple):
    """A part of a clause; one with a ``path`` was written by the user."""

    text: str
    path: str | None = None
    before: str = ""
    after: str = ""


def _pieces(item: Item, texts: Sequence[str] | None = None) -> list[_Piece]:
    path = item.path if item.kind == "value" else None
    return [_Piece(text, path) for text in (item.parts if texts is None else texts)]


def _add(query: QueryText, clause: str, pieces: Sequence[_Piece], separator: str) -> None:
    for index, piece in enumerate(pieces):
        query.add((separator if index else clause) + piece.before)
        query.add(piece.text, piece.path)
        query.add(piece.after)


class EventOrder(NamedTuple):
    """Items of ORDER BY; ``cursor`` is the direction if the first one is the event's time."""

    items: list[_Piece]
    cursor: str | None


def _conditions(texts: Sequence[str], totals: frozenset[str]) -> tuple[list[_Piece], list[_Piece]]:
    """The conditions of WHERE, and those of HAVING."""
    where: list[_Piece] = []
    having: list[_Piece] = []
    for index, text in enumerate(texts):
        path = f"where__{index}"
        clause = having if _has_aggregate(text, path, totals) else where
        clause.append(_Piece(text, path, "(", "\n)"))
    return where, having


def _has_aggregate(text: str, path: str, totals: frozenset[str]) -> bool:
    """Whether a condition contains aggregates.

    Raises:
        SourceError: it is not a condition.
    """
    node = read_column(text, path)
    if isinstance(node, tree.Alias):
        raise refused("A condition cannot have a name", code=SYNTAX, attr=path)
    return holds_aggregate(node, totals)


def _ordering(
    sent: list[str] | None, items: list[Item], names: str, *, is_grouped: bool
) -> EventOrder:
    if not sent:
        return _default_ordering(items, is_grouped=is_grouped)
    aliases = {item.node.alias for item in items if isinstance(item.node, tree.Alias)}
    titles = {item.title: item for item in items}
    written: list[_Piece] = []
    times: list[str] = []
    for index, text in enumerate(sent):
        path = f"orderBy__{index}"
        item, core = read_ordering(text, path)
        node, direction = item.expr, item.order
        if core in titles and titles[core].node is not None:
            written.append(_by(titles[core], direction))
        elif core in SPECIAL:
            parts = [part.replace(NAME, names) for part in SPECIAL[core]]
            written.append(_Piece(f"{parts[0]} {direction}"))
        else:
            written.append(_Piece(text, path))
        if _is_time(node) and "timestamp" not in aliases:
            times.append(direction if index == 0 else "")
    if is_grouped or not times:
        return EventOrder(written, None)
    cursor = times[0] if len(written) == 1 else None
    return EventOrder([*written, _Piece(f"events.uuid {times[0] or 'ASC'}")], cursor or None)


def _by(item: Item, direction: str) -> _Piece:
    return _Piece(item.reference, item.path, after=f" {direction}")


def _default_ordering(items: list[Item], *, is_grouped: bool) -> EventOrder:
    """By count, else the first aggregate, else time, else the first column."""
    aggregates = [item for item in items if item.is_aggregate]
    counts = [item for item in aggregates if _is_count(item.node)]
    for item in (*counts, *aggregates):
        return EventOrder([_by(item, "DESC")], None)
    if any(item.kind == "*" or _is_time(item.node) for item in items):
        newest = _Piece("events.timestamp DESC")
        if is_grouped:
            return EventOrder([newest], None)
        return EventOrder([newest, _Piece("events.uuid DESC")], "DESC")
    return EventOrder([_by(items[0], "ASC")], None)


def _is_time(node: Any) -> bool:
    return isinstance(node, tree.Field) and node.chain in _TIMES


def _is_count(node: Any) -> bool:
    node = node.expr if isinstance(node, tree.Alias) else node
    return isinstance(node, tree.Call) and node.name.lower() == "count" and not node.args


def _bounds(node: QueryNode, context: QueryContext) -> tuple[list[str], BoundValues]:
    """Conditions on the time of events; both bounds are exclusive."""
    conditions: list[str] = []
    values: BoundValues = {}
    after = node.get("after") or _AFTER
    if after != "all":
        _bound("after", ">", after, context, (conditions, values))
    if node.get("before"):
        _bound("before", "<", node["before"], context, (conditions, values))
    else:
        values["before"] = as_text(elapse(clock_of(context).local(), _NOW_MARGIN))
        conditions.append("events.timestamp < {before}")
    return conditions, values


def _bound(
    key: str, sign: str, text: str, context: QueryContext, into: tuple[list[str], BoundValues]
) -> None:
    conditions, values = into
    moment, _, uuid = text.partition("|")
    values[key] = as_text(read_date(moment, context, key).at)
    if not uuid:
        conditions.append(f"events.timestamp {sign} {{{key}}}")
        return
    try:
        values[f"{key}_uuid"] = str(UUID(uuid))
    except ValueError:
        raise refused(
            "This is not a valid cursor: use nextCursor of a response unchanged", attr=key
        ) from None
    conditions.append(
        f"(events.timestamp {sign} {{{key}}} OR events.timestamp = {{{key}}} "
        f"AND events.uuid {sign} toUUID({{{key}_uuid}}))"
    )


def _filters(node: QueryNode, context: QueryContext) -> dict[str, Any]:
    """The filters of ``{filters}``; each list is validated under its own path."""
    lists = {key: node[key] for key in FILTER_LISTS if node.get(key)}
    for key, sent in lists.items():
        conditions(sent, context, attr=key)
    groups = [
        {"type": "AND", "values": sent} if isinstance(sent, list) else sent
        for sent in lists.values()
    ]
    return {"properties": groups, "filterTestAccounts": bool(node.get("filterTestAccounts"))}


def _entities(node: QueryNode, context: QueryContext, values: BoundValues) -> list[str]:
    """Events, actions and steps, combined with OR; and the person, with AND."""
    ways: list[str] = []
    events = [*([node["event"]] if node.get("event") else []), *node.get("events", [])]
    if events:
        values["events"] = events
        ways.append("events.event IN {events}")
    if node.get("actionId") is not None:
        with located("actionId"):
            action_condition(str(node["actionId"]), context)
        ways.append(f"matchesAction('{node['actionId']}')")
    if node.get("actionSteps"):
        with located("actionSteps"):
            steps = [step_condition(step, context) for step in node["actionSteps"]]
            ways.append(print_expression(some(steps)))
    conditions = [f"({' OR '.join(ways)})"] if ways else []
    if node.get("personId") is not None:
        conditions.append(_person(str(node["personId"]), values))
    return conditions


def _person(person: str, values: BoundValues) -> str:
    """The condition of a person by UUID or number.

    A number consists of the first 12 hexadecimal digits of the UUID and the 14th.
    """
    if not person.removeprefix("-").isdigit():
        values["personId"] = person
        return "events.person_id = toUUID({personId})"
    if not 0 <= int(person[:_MAX_DIGITS]) <= _MAX_NUMBER:
        return "false"
    digits = f"{int(person[:_MAX_DIGITS]):013x}"
    values["personId"] = f"{digits[:8]}-{digits[8:12]}-_{digits[12]}%"
    return "toString(events.person_id) LIKE {personId}"
