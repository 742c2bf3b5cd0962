"""The plan of a query as text, outermost step first, without physical names."""

from collections.abc import Iterator

from hoglet.hogql.paging.limit import ResolvedLimit
from hoglet.hogql.plan import (
    Join,
    Numbers,
    Recursion,
    RecursiveRead,
    Relation,
    Scan,
    Select,
    SetQuery,
)
from hoglet.hogql.schema.catalog import SCANNED
from hoglet.hogql.schema.system import PREFIX, ROWS

_INDENT = "  "


def explain(relation: Relation, limits: ResolvedLimit) -> tuple[str, ...]:
    """The steps of a resolved query; inputs are indented below.

    Example:
        ``("Limit 100", "  Sort", "    Filter", "      Read events: event, timestamp")``
    """
    lines = tuple(_steps(relation, 0))
    if limits.limit is None:
        return lines
    skipped = limits.offset + limits.saved_offset
    first = f"Limit {limits.limit}" + (f" from row {skipped + 1}" if skipped else "")
    own = lines[1:] if lines and lines[0] == "Limit" else tuple(_INDENT + each for each in lines)
    return (first, *own)


def _steps(relation: Relation, depth: int) -> Iterator[str]:
    if isinstance(relation, SetQuery):
        words = " and ".join(dict.fromkeys(operator for operator, _ in relation.rest))
        yield _INDENT * depth + words.capitalize()
        for query in (relation.first, *(query for _, query in relation.rest)):
            yield from _steps(query, depth + 1)
    elif isinstance(relation, Recursion):
        yield _INDENT * depth + "Repeat until there are no more rows"
        for query in (relation.first, *relation.steps):
            yield from _steps(query, depth + 1)
    elif isinstance(relation, RecursiveRead):
        yield _INDENT * depth + "Read the rows of the previous step"
    elif isinstance(relation, Numbers):
        yield _INDENT * depth + "Generate numbers"
    elif isinstance(relation, Scan):
        yield from _scan(relation, depth)
    else:
        for step in _of_select(relation):
            yield _INDENT * depth + step
            depth += 1
        yield from _joins(relation.joins, depth)


def _of_select(select: Select) -> Iterator[str]:
    if select.limit is not None or select.offset is not None:
        yield "Limit"
    if select.limit_by is not None:
        yield "Limit by"
    if select.order_by:
        yield f"Sort by {_counted(len(select.order_by), 'expression')}"
    if select.distinct:
        yield "Remove duplicates"
    if select.qualify is not None:
        yield "Filter windows"
    if select.having is not None:
        yield "Filter groups"
    if select.group_by:
        yield f"Group by {_counted(len(select.group_by), 'expression')}"
    if select.where is not None:
        yield "Filter"
    if select.array_join:
        yield "Array join"


def _joins(joins: tuple[Join, ...], depth: int) -> Iterator[str]:
    if not joins:
        yield _INDENT * depth + "Read one row"
    for join in joins:
        inside = depth
        if join.kind:
            yield f"{_INDENT * depth}{join.kind.capitalize()}"
            inside += 1
        yield from _steps(join.relation, inside)


def _scan(scan: Scan, depth: int) -> Iterator[str]:
    if scan.group_by:
        yield _INDENT * depth + "Group rows"
        depth += 1
    names = ", ".join(sorted(name.replace("__", ".") for name, _ in scan.columns))
    table = scan.table if scan.table in SCANNED else "a materialized endpoint"
    table = table.replace(ROWS, PREFIX)
    yield f"{_INDENT * depth}Read {table}" + (f": {names}" if names else "")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
