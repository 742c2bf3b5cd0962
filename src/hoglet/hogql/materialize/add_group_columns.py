"""Adds compared columns to SELECT under the code name, and to GROUP BY.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from typing import Any

from hoglet.hogql.ast_builders import Expression, alias, changed, same, walk
from hoglet.hogql.materialize.aggregates import aggregates_of, is_aggregated
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree


def add_columns(select: tree.SelectQuery, columns: dict[str, Expression]) -> tree.SelectQuery:
    """The select with more columns, also in GROUP BY if it groups.

    Raises:
        Refusal: a code name is already another alias.
    """
    added: list[Expression] = []
    for code, expr in columns.items():
        taken = next((item for item in select.select if label_of(item) == code), None)
        if taken is None:
            added.append(alias(code, expr))
        elif not same(taken.expr if isinstance(taken, tree.Alias) else taken, expr):
            raise Refusal(f"'{code}' is both a variable and an alias of another expression")
    group_by = select.group_by
    if is_aggregated(select) and select.group_by_mode != "all":
        missing = [expr for expr in columns.values() if not _grouped(select, expr)]
        group_by = (*(group_by or ()), *missing)
    return changed(select, select=(*select.select, *added), group_by=group_by)


def column_name(code: str, expr: Expression, select: tree.SelectQuery) -> str:
    """The name of an added column: the code name, unless that would hide a column in use.

    ``toStartOfDay(timestamp) AS timestamp`` would change what ``timestamp`` means in WHERE.
    """
    itself = isinstance(expr, tree.Field) and expr.chain == (code,)
    nodes = [*walk(select), *walk(expr)]
    used = any(isinstance(node, tree.Field) and node.chain[0] == code for node in nodes)
    return code if itself or not used else f"{code}__value"


def own_name(name: str, select: tree.SelectQuery) -> str:
    """A name for an added column: lengthened until it is unused in the query.

    Example:
        >>> from hoglet.syntax.parse import parse_query
        >>> own_name("__order_0", parse_query("SELECT 1 AS __order_0"))
        '__order_0_'
    """
    taken = {
        node.alias if isinstance(node, tree.Alias) else str(node.chain[-1])
        for node in walk(select)
        if isinstance(node, tree.Alias | tree.Field)
    }
    while name in taken:
        name += "_"
    return name


def _grouped(select: tree.SelectQuery, expr: Expression) -> bool:
    return any(same(item, expr) for item in select.group_by or ())


def label_of(item: Any) -> str | None:
    """The name of a column: its alias, or the name of its field."""
    if isinstance(item, tree.Alias):
        return item.alias
    return str(item.chain[-1]) if isinstance(item, tree.Field) else None


def refuse_unsound(select: tree.SelectQuery, *, inner: bool) -> None:
    """Reject queries where filtering the result differs from filtering the input.

    Raises:
        Refusal: window functions, LIMIT BY and similar; inside a CTE also LIMIT.
    """
    windows = any(isinstance(node, tree.WindowFunction) for node in walk(select.select))
    if windows or select.qualify is not None:
        raise Refusal("Variables together with window functions are not supported")
    if select.limit_by is not None or select.limit_with_ties:
        raise Refusal("Variables together with LIMIT BY or WITH TIES are not supported")
    if select.group_by_mode not in {None, "all"}:
        raise Refusal("Variables together with ROLLUP, CUBE or GROUPING SETS are not supported")
    if inner and (select.limit is not None or select.offset is not None):
        raise Refusal("Variables in a CTE with LIMIT are not supported")
    if inner and not select.group_by and aggregates_of(select):
        raise Refusal("Variables in a CTE that aggregates without GROUP BY are not supported")


def has_star(select: tree.SelectQuery) -> bool:
    """Whether SELECT includes all columns of its source, and thus added ones."""
    items = (getattr(item, "chain", ("",)) for item in select.select)
    return any(chain[-1] == "*" for chain in items) or any(
        isinstance(item, tree.ColumnsExpr) for item in select.select
    )
