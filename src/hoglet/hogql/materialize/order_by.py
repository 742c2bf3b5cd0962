"""ORDER BY of a materialized query: adds the columns that it needs.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from typing import Any

from hoglet.hogql.ast_builders import Expression, alias, changed, field, same
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.materialize.add_group_columns import own_name
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree


def keep_order(
    select: tree.SelectQuery, *, regroup: bool = False
) -> tuple[tree.SelectQuery, tuple[tree.OrderExpr, ...]]:
    """The select with the columns that ORDER BY needs, and ORDER BY over those columns."""
    added: list[Expression] = []
    order: list[tree.OrderExpr] = []
    for item in _spelled_order(select):
        name = _ordered_column(select, item.expr)
        if name is None:
            if regroup or select.distinct or item.with_fill is not None:
                raise Refusal("ORDER BY must name columns of the result")
            name = own_name(f"__order_{len(added)}", select)
            added.append(alias(name, item.expr))
        order.append(changed(item, expr=field(name)))
    return changed(select, select=(*select.select, *added)), tuple(order)


def _spelled_order(select: tree.SelectQuery) -> tuple[tree.OrderExpr, ...]:
    """ORDER BY, with ``ALL`` expanded to columns."""
    order = select.order_by or ()
    chains = [item.expr.chain for item in order if isinstance(item.expr, tree.Field)]
    if len(order) != 1 or [str(chain[-1]).lower() for chain in chains] != ["all"]:
        return order
    if any(_display(item) == "all" for item in select.select):
        return order
    columns = (item.expr if isinstance(item, tree.Alias) else item for item in select.select)
    return tuple(changed(order[0], expr=column) for column in columns)


def _ordered_column(select: tree.SelectQuery, expr: Any) -> str | None:
    if isinstance(expr, tree.Constant) and isinstance(expr.value, int):
        if not 0 < expr.value <= len(select.select):
            return None
        return _display(select.select[expr.value - 1])
    for item in select.select:
        inner = item.expr if isinstance(item, tree.Alias) else item
        aliased = isinstance(item, tree.Alias) and getattr(expr, "chain", None) == (item.alias,)
        if same(inner, expr) or aliased:
            return _display(item)
    return None


def _display(item: Any) -> str:
    return item.alias if isinstance(item, tree.Alias) else print_expression(item)
