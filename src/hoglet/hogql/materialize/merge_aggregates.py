"""Reads a materialized table: plain columns, or merged aggregates.

An expression over aggregates (``sum(x) / count()``) is computed from its merged aggregates, which
are columns of the table.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hoglet.hogql.ast_builders import (
    Expression,
    alias,
    call,
    changed,
    compare,
    constant,
    every,
    field,
    walk,
)
from hoglet.hogql.compile import OutputColumn
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.functions import find_function
from hoglet.hogql.materialize.add_group_columns import label_of, own_name
from hoglet.hogql.materialize.aggregates import aggregates_in, written_out
from hoglet.hogql.materialize.model import MergeableAggregate
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree

_AGAIN = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}
# Aggregates that return the default of their type for no rows; others return NaN.
_TAKERS = frozenset(
    {
        "any",
        "any_value",
        "anyheavy",
        "anylast",
        "first_value",
        "last_value",
        "argmin",
        "argmax",
        "min_by",
        "max_by",
        "sumkahan",
        "sumwithoverflow",
    }
)
_OR_NULL: Final = "anyOrNull"
_WITHOUT_DEFAULT = frozenset({"Tuple", "Map", "Unknown"})


type Items = tuple[Expression, ...]
type ColumnsOf = Callable[[Items], Sequence[OutputColumn]]


class MergedAggregate(msgspec.Struct, frozen=True):
    """SELECT and GROUP BY of the reading query; ``parts`` are additional columns of the table."""

    items: Items
    aggregates: tuple[MergeableAggregate, ...] = ()
    group_by: Items | None = None
    parts: Items = ()


def reread_items(
    select: tree.SelectQuery,
    columns: list[tuple[str, str, str]],
    *,
    again: bool,
    several: bool,
    columns_of: ColumnsOf,
) -> MergedAggregate:
    """How a run reads the table.

    Args:
        select: the query without predicates on variables.
        columns: ``(shown, label, type)`` of its result.
        again: whether rows of the table must be merged.
        several: whether a run can match several table rows per result row.
        columns_of: expressions as additional columns of the select.

    Raises:
        Refusal: an aggregate cannot be merged.
    """
    if not again:
        return MergedAggregate(tuple(alias(visible, field(label)) for visible, label, _ in columns))
    if len(columns) != len(select.select):
        raise Refusal("'*' together with aggregates is not supported")
    written = written_out(select)
    rereader = _AggregateMerger(select, written.positions, several, columns_of)
    keys, items = list[Expression](), list[Expression]()
    groups = bool(select.group_by or select.group_by_mode)
    for expr, (visible, label, type_) in zip(written.columns, columns, strict=True):
        if not groups and isinstance(expr, tree.Constant):  # shown without a matching row, too
            items.append(alias(visible, expr))
            continue
        if not aggregates_in(expr):
            keys.append(field(label))
            items.append(alias(visible, field(label)))
            continue
        items.append(alias(visible, rereader.read(expr, label, type_)))
    grouped = tuple(keys) if groups else None
    _check_keys(select, grouped, keys)
    return MergedAggregate(tuple(items), tuple(rereader.aggregates), grouped, tuple(rereader.parts))


class _AggregateMerger:
    """Processes aggregates in order, and collects the columns they need."""

    def __init__(
        self,
        select: tree.SelectQuery,
        positions: Mapping[int, int],
        several: bool,  # noqa: FBT001 (private)
        columns_of: ColumnsOf,
    ) -> None:
        self._select = select
        self._positions = positions
        self._several = several
        self._columns_of = columns_of
        self.aggregates: list[MergeableAggregate] = []
        self.parts: list[Expression] = []

    def read(self, expr: Expression, label: str, type_: str) -> Expression:
        """Process an item of the select, whose table column is ``label``."""
        if isinstance(expr, tree.Call) and aggregates_in(expr) == [expr]:
            return self._aggregate(expr, label, type_)
        return self._composed(expr)

    def _composed(self, expr: Expression) -> Expression:
        calls = aggregates_in(expr)
        if any(isinstance(node, tree.Field) for node in _around(expr, calls)):
            raise Refusal(f"'{print_expression(expr)}' cannot be re-aggregated from parts")
        for each in calls:
            if len(aggregates_in(each)) > 1:
                raise Refusal(f"'{print_expression(each)}' cannot be re-aggregated from parts")
        columns = self._columns_of(tuple(calls))
        read = [self._part(each, column) for each, column in zip(calls, columns, strict=True)]
        return _replaced(expr, calls, read)

    def _part(self, expr: tree.Call, column: OutputColumn) -> Expression:
        read = self._aggregate(expr, self._keep(expr, expr), column.hogql)
        # Of no rows it is NaN, which an expression distinguishes from NULL.
        is_nan = self.aggregates[-1].reaggregate_fn == _OR_NULL and not column.nullable
        return call("ifNull", read, constant(math.nan)) if is_nan else read

    def _aggregate(self, expr: tree.Call, label: str, type_: str) -> Expression:
        name = print_expression(expr)
        function = _again(expr) or _taken(expr, type_, name, several=self._several)
        self.aggregates.append(MergeableAggregate(name, function))
        matched = _matched(expr) if function in {"min", "max"} else None
        if matched is None:
            return call(function, field(label))
        some = compare(">", field(self._keep(matched, expr)), constant(0))
        return call(f"{function}If", field(label), some)

    def _keep(self, expr: Expression, aggregate: tree.Call) -> str:
        """Add a column, for one of the aggregates of the select; returns its name."""
        used = {str(node.chain[0]) for node in walk(expr) if isinstance(node, tree.Field)}
        for item in self._select.select[self._positions[id(aggregate)] + 1 :]:
            if isinstance(item, tree.Alias) and item.alias in used and not _is_own(item):
                raise Refusal(f"'{item.alias}' is both a column and an alias")
        label = own_name(f"__part_{len(self.parts)}", self._select)
        self.parts.append(alias(label, expr))
        return label


def _is_own(item: tree.Alias) -> bool:
    """Whether an alias that is named like a column does not hide it in an aggregate."""
    is_column = isinstance(item.expr, tree.Field) and item.expr.chain == (item.alias,)
    return is_column or bool(aggregates_in(item.expr))


def _again(expr: tree.Call) -> str | None:
    """The merging function of an aggregate: ``sum`` for counts."""
    stem = expr.name.removesuffix("If").removesuffix("Array").lower()
    return None if expr.distinct else _AGAIN.get(stem)


def _matched(expr: tree.Call) -> Expression | None:
    """The number of values that a minimum or maximum considers; for 0 it is just the default."""
    conditions: list[Expression] = []
    if expr.name.removesuffix("If").endswith("Array"):
        conditions.append(call("notEmpty", expr.args[0]))
    if expr.name.endswith("If"):
        conditions.append(expr.args[-1])
    if expr.filter_expr is not None:
        conditions.append(expr.filter_expr)
    return call("countIf", every(conditions)) if conditions else None


def _taken(expr: tree.Call, type_: str, name: str, *, several: bool) -> str:
    """The value of the single matching row, or the default without one."""
    function = find_function(expr.name)
    if several or function is None or not function.aggregate:
        raise Refusal(
            f"Aggregate '{name}' cannot be re-aggregated for range, LIKE or membership variables"
        )
    word = expr.name.lower()
    takes = word.removesuffix("if") in _TAKERS or word.endswith(("ordefault", "ornull"))
    if not takes and (type_ in _WITHOUT_DEFAULT or word.startswith("quantiles")):
        raise Refusal(f"Aggregate '{name}' has no known value for an empty set of rows")
    return "any" if takes or type_ != "Float" else _OR_NULL


def _around(expr: Any, calls: list[tree.Call]) -> list[tree.Node]:
    """The nodes of an expression outside of its aggregates."""
    if any(expr is each for each in calls):
        return []
    if isinstance(expr, tree.Node):
        names = (name for name in expr.__struct_fields__ if name not in {"start", "end"})
        return [expr, *(node for name in names for node in _around(getattr(expr, name), calls))]
    if isinstance(expr, tuple):
        return [node for item in expr for node in _around(item, calls)]
    return []


def _replaced(expr: Any, calls: list[tree.Call], read: list[Expression]) -> Any:
    """The expression with its aggregates replaced."""
    for each, instead in zip(calls, read, strict=True):
        if expr is each:
            return instead
    if isinstance(expr, tree.Node):
        names = [name for name in expr.__struct_fields__ if name not in {"start", "end"}]
        return changed(
            expr, **{name: _replaced(getattr(expr, name), calls, read) for name in names}
        )
    if isinstance(expr, tuple):
        return tuple(_replaced(item, calls, read) for item in expr)
    return expr


def _check_keys(select: tree.SelectQuery, grouped: Items | None, keys: list[Expression]) -> None:
    """Refuse keys that would be missing when the rows of the table are grouped again."""
    if grouped is None and keys:
        raise Refusal("Columns next to aggregates need GROUP BY")
    if grouped is None or select.group_by_mode is not None:
        return
    if not all(_is_selected(each, select) for each in select.group_by or ()):
        raise Refusal(
            "With range, LIKE or membership variables, GROUP BY may only name selected columns"
        )


def _is_selected(key: Any, select: tree.SelectQuery) -> bool:
    """Whether an expression of GROUP BY is a column of the result."""
    if isinstance(key, tree.Constant):  # the number of a column, or the same for all rows
        return True
    if isinstance(key, tree.Tuple):
        return all(_is_selected(each, select) for each in key.exprs)
    for item in select.select:
        expr = item.expr if isinstance(item, tree.Alias) else item
        is_named = isinstance(key, tree.Field) and key.chain == (label_of(item),)
        if is_named or _is_same(expr, key) or _is_same_field(expr, key):
            return True
    return False


def _is_same(expr: Any, key: Any) -> bool:
    """Whether two expressions are equal, whatever the case of their functions' names."""
    texts = [print_expression(each).lower() for each in (expr, key)]
    leaves = [
        [
            node.chain if isinstance(node, tree.Field) else node.value
            for node in walk(each)
            if isinstance(node, tree.Field | tree.Constant)
        ]
        for each in (expr, key)
    ]
    return texts[0] == texts[1] and leaves[0] == leaves[1]


def _is_same_field(expr: Any, key: Any) -> bool:
    """Whether one of two fields is the other with the name of its table."""
    if not isinstance(expr, tree.Field) or not isinstance(key, tree.Field):
        return False
    shorter, longer = sorted((expr.chain, key.chain), key=len)
    return longer[-len(shorter) :] == shorter
