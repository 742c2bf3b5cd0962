"""What a run selects from the table: columns as they are, or aggregates put together again.

Source: spec/query-endpoints.md section 7.3.
"""

from typing import Any

import msgspec

from hoglet.hogql.functions import find_function
from hoglet.hogql.materialise.lift import aggregates_in
from hoglet.hogql.materialise.refusal import Refusal
from hoglet.hogql.print_hogql import print_expression
from hoglet.hogql.trees import Expression, alias, call, field
from hoglet.syntax import tree

_AGAIN = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}


class Aggregate(msgspec.Struct, frozen=True):
    """An aggregate of the result: ``Aggregate("count()", "sum")``."""

    expression: str
    reaggregate_fn: str


type Items = tuple[Expression, ...]


def reread_items(
    select: tree.SelectQuery,
    columns: list[tuple[str, str, str]],
    *,
    again: bool,
    several: bool,
) -> tuple[Items, tuple[Aggregate, ...], Items | None]:
    """SELECT and GROUP BY of the reading query.

    Args:
        select: the query without its predicates on variables.
        columns: ``(shown, label, type)`` of its result.
        again: whether rows of the table have to be put together.
        several: whether a run can match more than one row of the table for each row it answers.

    Raises:
        Refusal: an aggregate cannot be put together again.
    """
    if not again:
        return tuple(alias(shown, field(label)) for shown, label, _ in columns), (), None
    if len(columns) != len(select.select):
        raise Refusal("'*' together with aggregates is not supported")
    items: list[Expression] = []
    aggregates: list[Aggregate] = []
    keys: list[Expression] = []
    for item, (shown, label, type_) in zip(select.select, columns, strict=True):
        expr = item.expr if isinstance(item, tree.Alias) else item
        if not aggregates_in(expr):
            keys.append(field(label))
            items.append(alias(shown, field(label)))
            continue
        function = _function(expr, type_, several=several)
        aggregates.append(Aggregate(print_expression(expr), function))
        items.append(alias(shown, call(function, field(label))))
    grouped = tuple(keys) if select.group_by or select.group_by_mode else None
    _check_keys(select, grouped, keys)
    return tuple(items), tuple(aggregates), grouped


def _function(expr: Any, type_: str, *, several: bool) -> str:
    name = print_expression(expr)
    if not isinstance(expr, tree.Call):
        raise Refusal(f"'{name}' cannot be re-aggregated from parts")
    function = find_function(expr.name)
    stem = expr.name.removesuffix("If").removesuffix("Array").lower()
    if stem in _AGAIN and not expr.distinct:
        return _AGAIN[stem]
    if several or function is None or not function.aggregate:
        raise Refusal(
            f"Aggregate '{name}' cannot be re-aggregated for range, LIKE or membership variables"
        )
    # At most one row matches: it is taken as it is; where none does, the value of no rows.
    return "any" if type_ in {"Integer", "Array", "String"} else "anyOrNull"


def _check_keys(select: tree.SelectQuery, grouped: Items | None, keys: list[Expression]) -> None:
    if grouped is None and keys:
        raise Refusal("Columns beside aggregates need GROUP BY")
    group_by = select.group_by or ()
    if grouped is not None and not select.group_by_mode and len(group_by) > len(keys):
        raise Refusal(
            "With range, LIKE or membership variables, GROUP BY may only name selected columns"
        )
