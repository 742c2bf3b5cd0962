"""Reads text properties of events from columns of their own, where the table has them.

Such a column has exactly the value that is read from the JSON column for a property whose values
are all text, but as ``LowCardinality``, which is read and compared faster. To the rest of the query
it is a plain string: it is cast wherever it is used, except as a key of GROUP BY and in comparisons
with constants in WHERE, where the engine works on the few distinct values.

Source: docs/adr/0061-columns-of-text-properties.md.
"""

import re
from collections.abc import Collection
from typing import Any

import msgspec

from hoglet.hogql import plan
from hoglet.hogql.schema.properties import text_column
from hoglet.hogql.transform_plan import transform_children
from hoglet.hogql.types import NULLABLE_STRING

_TABLE = "events"
_READ = re.compile(r"properties_json\.`([^`\\.%]+)`\.:String")
_LOGICAL = frozenset({"and", "or", "not"})
_NULL_SAFE = (("ifNull(", ", 0)"), ("ifNull(", ", 1)"))
_COMPARISONS = frozenset(
    {
        *("equals", "notEquals", "in", "notIn", "isNull", "isNotNull"),
        *("like", "notLike", "ilike", "notILike", "match"),
    }
)
_SPELLINGS = frozenset({"toString", "lower", "upper"})
_LEAVES = frozenset({plan.Name, plan.Number, plan.Value})
_CONSTANTS = (plan.Number, plan.Value)

type _Column = tuple[str, str]
"""The alias of a relation and the name of its column."""


class TextReads(msgspec.Struct, frozen=True):
    """A plan that reads text columns, and all properties that have or could have one."""

    relation: plan.Relation
    properties: tuple[str, ...]


def read_text_columns(relation: plan.Relation, columns: Collection[str]) -> TextReads:
    """Read the properties in ``columns`` from their own columns.

    Args:
        relation: a plan.
        columns: names of properties whose column is complete, e.g. ``{"$browser"}``.
    """
    reader = _Reader(columns)
    relation = reader.visit(relation)
    return TextReads(relation, tuple(reader.properties))


class _Reader:
    def __init__(self, columns: Collection[str]) -> None:
        self._columns = columns
        self.properties: dict[str, None] = {}

    def visit(self, node: Any) -> Any:
        kind = type(node)
        if kind in _LEAVES:
            return node
        if kind is plan.Scan:
            return self._scan(node, is_cast=True)
        if kind is plan.Select and len(node.joins) == 1:
            return self._select(node, node.joins[0])
        return transform_children(node, self.visit)

    def _select(self, node: plan.Select, join: plan.Join) -> plan.Select:
        """A select; if it reads events directly, it gets the columns as they are stored."""
        if type(join.relation) is not plan.Scan:
            return transform_children(node, self.visit)
        scan = self._scan(join.relation, is_cast=False)
        alone = transform_children(msgspec.structs.replace(node, joins=()), self.visit)
        select = msgspec.structs.replace(
            alone, joins=(msgspec.structs.replace(join, relation=scan),)
        )
        stored = {
            (join.alias, label)
            for (label, expr), (_, before) in zip(scan.columns, join.relation.columns, strict=True)
            if expr is not before
        }
        return _Uses(stored).select(select) if stored else select

    def _scan(self, scan: plan.Scan, *, is_cast: bool) -> plan.Scan:
        if scan.table != _TABLE:
            return scan
        columns = tuple((label, self._read(expr, is_cast=is_cast)) for label, expr in scan.columns)
        return msgspec.structs.replace(scan, columns=columns)

    def _read(self, expr: plan.Expr, *, is_cast: bool) -> plan.Expr:
        if type(expr) is not plan.TrustedSQL or len(expr.parts) != 1:
            return expr
        read = _READ.fullmatch(str(expr.parts[0]))
        if read is None:
            return expr
        self.properties[read[1]] = None
        if read[1] not in self._columns:
            return expr
        column = plan.Name(name=text_column(read[1]), type=expr.type)
        return _as_string(column) if is_cast else column


class _Uses:
    """Casts stored columns where a select uses them."""

    def __init__(self, stored: Collection[_Column]) -> None:
        self._stored = stored

    def select(self, node: plan.Select) -> plan.Select:
        """Visit all parts of a select except the relation that it reads."""
        where = None if node.where is None else self._condition(node.where)
        group_by = tuple(self._key(each, node) for each in node.group_by)
        rest = msgspec.structs.replace(node, joins=(), where=None, group_by=())
        rest = transform_children(rest, self.visit)
        return msgspec.structs.replace(rest, joins=node.joins, where=where, group_by=group_by)

    def visit(self, node: Any) -> Any:
        if self._is_stored(node):
            return _as_string(node)
        if type(node) is plan.ScalarQuery and not node.correlated:
            return node  # its names are those of other relations
        return node if type(node) in _LEAVES else transform_children(node, self.visit)

    def _is_stored(self, node: Any) -> bool:
        return type(node) is plan.Name and (node.source, node.name) in self._stored

    def _is_operand(self, node: plan.Expr) -> bool:
        """Whether a column, or its spelling in another case, is read."""
        if type(node) is plan.FunctionCall and node.function in _SPELLINGS and len(node.args) == 1:
            return self._is_operand(node.args[0])
        return self._is_stored(node)

    def _key(self, expr: plan.Expr, select: plan.Select) -> plan.Expr:
        """A key of GROUP BY: the column itself, also by its alias or position."""
        if select.group_by_mode:
            return self.visit(expr)
        named: plan.Expr | None = expr
        if type(expr) is plan.Name and expr.source is None:
            named = dict(select.columns).get(expr.name)
        elif type(expr) is plan.Number and expr.text.isdecimal():
            position = int(expr.text) - 1
            is_inside = 0 <= position < len(select.columns)
            named = select.columns[position][1] if is_inside else None
        return named if named is not None and self._is_stored(named) else self.visit(expr)

    def _condition(self, node: plan.Expr) -> plan.Expr:
        """A condition of WHERE: a comparison of a column with constants is left as it is."""
        if type(node) is plan.TrustedSQL and (*node.parts[:1], *node.parts[2:]) in _NULL_SAFE:
            parts = (
                each if isinstance(each, str) else self._condition(each) for each in node.parts
            )
            return msgspec.structs.replace(node, parts=tuple(parts))
        if type(node) is not plan.FunctionCall:
            return self.visit(node)
        if node.function in _LOGICAL:
            args = tuple(self._condition(each) for each in node.args)
            return msgspec.structs.replace(node, args=args)
        is_comparison = node.function in _COMPARISONS and self._is_operand(node.args[0])
        if is_comparison and all(map(_is_constant, node.args[1:])):
            return node
        return self.visit(node)


def _is_constant(node: plan.Expr) -> bool:
    if type(node) is plan.FunctionCall:
        return node.function in {"tuple", "array"} and all(map(_is_constant, node.args))
    return type(node) in _CONSTANTS


def _as_string(column: plan.Expr) -> plan.Expr:
    return plan.TrustedSQL(parts=("CAST(", column, ", 'Nullable(String)')"), type=NULLABLE_STRING)
