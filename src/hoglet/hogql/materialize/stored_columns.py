"""The columns that a materialized table stores to filter by variables.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hoglet.hogql.ast_builders import Expression, call, walk
from hoglet.hogql.materialize.add_group_columns import column_name, label_of, own_name
from hoglet.hogql.materialize.aggregates import aggregates_in, written_out
from hoglet.hogql.materialize.predicates import Predicate, text_name
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree


class StoredColumns(NamedTuple):
    """The stored columns.

    ``names`` are those of the values and ``texts`` those of their texts, both by variable:
    ``{"plan": "plan"}`` and ``{"plan": "plan__text"}``; ``columns`` are the expressions by name.
    """

    names: dict[str, str]
    texts: dict[str, str]
    columns: dict[str, Expression]


def stored_columns(
    rest: tree.SelectQuery, predicates: list[Predicate], buckets: Mapping[str, str | None]
) -> StoredColumns:
    """The columns for the predicates; ``buckets`` are the functions that round them.

    Raises:
        Refusal: an aggregate has the name of such a column.
    """
    values = {each.code: _rounded(each.column, buckets[each.code]) for each in predicates}
    names = {code: column_name(code, expr, rest) for code, expr in values.items()}
    texts = {code: own_name(text_name(names[code]), rest) for code in names}
    columns = {names[code]: expr for code, expr in values.items()}
    columns |= {texts[each.code]: each.text for each in predicates if each.text is not None}
    _refuse_aggregates(rest, columns.values())
    return StoredColumns(names, texts, columns)


def _refuse_aggregates(select: tree.SelectQuery, columns: Iterable[Expression]) -> None:
    """Refuse columns that would be read from an aggregate with the same name.

    WHERE reads the column then, but the build has to select it and to group by it.
    """
    items = zip(select.select, written_out(select).columns, strict=True)
    aggregates = {label_of(item) for item, expr in items if aggregates_in(expr)}
    for node in walk(tuple(columns)):
        if isinstance(node, tree.Field) and node.chain[0] in aggregates:
            name = node.chain[0]
            raise Refusal(f"'{name}' is both a column in WHERE and the alias of an aggregate")


def _rounded(column: Expression, bucket: str | None) -> Expression:
    return call(bucket, _as_time(column)) if bucket else column


def _as_time(column: Expression) -> Expression:
    is_property = isinstance(column, tree.Field) and "properties" in column.chain
    return call("toDateTime", column) if is_property else column
