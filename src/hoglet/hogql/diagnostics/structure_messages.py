"""Explains messages of the engine about clauses, rows and misplaced calls."""

import re
from typing import Any

from hoglet.hogql.ast_builders import walk
from hoglet.hogql.diagnostics.engine_terms import plain
from hoglet.hogql.diagnostics.positions import (
    call_of,
    calls_in,
    is_whole,
    ungrouped,
)
from hoglet.hogql.diagnostics.read_messages import Kind
from hoglet.hogql.errors import NOT_AGGREGATE, refused
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree


def _not_grouped(match: re.Match[str], _code: str, query: Any) -> SourceError:
    name = re.split(r"__|\.", match["column"])[-1].strip("`")
    node = ungrouped(name, query)
    visible = name
    if node is not None and node.chain[-1] != "*":
        visible = ".".join(map(str, node.chain))
    message = f"'{visible}' must be in GROUP BY or inside an aggregate"
    return refused(message, node, code=NOT_AGGREGATE, hint=f"write any({visible}) for one of them")


def _endless(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next(
        (each for each in walk(query) if isinstance(each, tree.CTE) and each.recursive), None
    )
    text = f"The recursion does not end within {match['steps']} steps"
    return refused(text, node, code=code, hint="limit it with WHERE in the query after UNION ALL")


def _join_keys(_match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in walk(query) if isinstance(part, tree.JoinConstraint)), None)
    message = "JOIN ON needs an equality between a column of each table"
    return refused(message, node, code=code, hint="move other conditions to WHERE")


def _position(match: re.Match[str], code: str, query: Any) -> SourceError:
    number, last = int(match["number"]), match["last"]
    node = next(
        (
            part
            for select in walk(query)
            if isinstance(select, tree.SelectQuery)
            for part in walk((*(select.group_by or ()), *(select.order_by or ())))
            if isinstance(part, tree.Constant) and part.value == number
        ),
        None,
    )
    return refused(
        f"Column {number} of ORDER BY or GROUP BY does not exist: use 1 to {last}", node, code=code
    )


def _aggregate_found(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = call_of(match["function"], query)
    name = getattr(node, "name", match["function"])
    where = match["where"].strip().rstrip(".")
    hint = "compute it in a subquery in FROM"
    if match["kind"] == "Window" and where in {"WHERE", "HAVING"}:
        hint = "use QUALIFY, which filters by window functions"
    return refused(f"{name}() cannot be used in {where}", node, code=code, hint=hint)


def _many_rows(_match: re.Match[str], code: str, query: Any) -> SourceError:
    inner = [
        node
        for node in walk(query)
        if isinstance(node, tree.SelectQuery) and node.start is not None
    ]
    inner = inner[1:] if is_whole(query) else inner
    message = "A scalar subquery returned more than one row"
    return refused(message, inner[0] if inner else None, code=code, hint="add LIMIT 1")


def _frame(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in walk(query) if isinstance(part, tree.WindowExpr)), None)
    return refused(plain(match.string), node, code=code)


def _state(_match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in calls_in(query) if part.name.endswith("State")), None)
    name = getattr(node, "name", "an aggregate with -State")
    message = f"{name}() returns the state of an aggregate, which a query cannot return"
    return refused(message, node, code=code, hint="finish it with the -Merge form")


def _nothing_distinct(_match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in calls_in(query) if getattr(part, "distinct", False)), None)
    return refused("DISTINCT needs an expression: count(distinct x)", node, code=code)


def _lambda(_match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in walk(query) if isinstance(part, tree.Lambda)), None)
    message = "A lambda can only be an argument, as in arrayMap(x -> x + 1, list)"
    return refused(message, node, code=code)


STRUCTURE_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (
        re.compile(r"Column '(?P<column>[^']+)' is not under aggregate function"),
        _not_grouped,
    ),
    (
        re.compile(r"Maximum recursive CTE evaluation depth \((?P<steps>\d+)\) exceeded"),
        _endless,
    ),
    (re.compile(r"Cannot determine join keys|join expression expected function"), _join_keys),
    (
        re.compile(
            r"Positional argument number (?P<number>-?\d+) is out of bounds\. "
            r"Expected in range \[1, (?P<last>\d+)\]"
        ),
        _position,
    ),
    (
        re.compile(
            r"(?P<kind>Aggregate|Window) function (?P<function>\w+).*? is found (?:in|inside) "
            r"(?P<where>.*?)(?: in query)?\.?$"
        ),
        _aggregate_found,
    ),
    (re.compile(r"Scalar subquery returned more than one row"), _many_rows),
    (re.compile(r"^Frame (?:start|end) offset"), _frame),
    (re.compile(r"^A column cannot be returned: .*AggregateFunction"), _state),
    (re.compile(r"function identifier `DISTINCT`"), _nothing_distinct),
    (re.compile(r"Lambda .* is not allowed in expression context"), _lambda),
)
