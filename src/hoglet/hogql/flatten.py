"""Reads a single table directly, not through a subquery: faster to analyze, and shards aggregate.

``SELECT e.day FROM (SELECT toDate(t) AS day FROM events WHERE project) AS e`` becomes
``SELECT toDate(e.t) FROM events AS e WHERE project``. From a Distributed table, ClickHouse merges
what every shard has aggregated for such a select; for a subquery it fetches all rows.

A select is left unchanged if a name could change its meaning: hoglet's own SQL reads columns by
their bare names, which an alias or a lambda argument would hide.

Source: docs/adr/0049-aggregation-on-shards.md, docs/adr/0064-where-short-queries-stand.md.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from hoglet.hogql import plan
from hoglet.hogql.schema.system import ROW_SOURCES
from hoglet.hogql.sql_tokens import tokens
from hoglet.hogql.transform_plan import transform_children
from hoglet.hogql.types import BOOLEAN, UNKNOWN
from hoglet.kit.errors import Bug

_CONDITIONS = (BOOLEAN, BOOLEAN.or_null(), UNKNOWN)


def flatten(node: Any) -> Any:
    """Read single tables directly; the scans already have their project condition."""
    node = transform_children(node, flatten)
    if type(node) is plan.Select and (scan := _lone_table(node)) is not None:
        return _flat(node, scan)
    return node


def _lone_table(select: plan.Select) -> plan.Scan | None:
    if len(select.joins) != 1 or select.array_join:
        return None
    if select.where is not None and select.where.type not in _CONDITIONS:
        return None  # leaves the error to the engine; diagnostics explain it
    scan = select.joins[0].relation
    if not isinstance(scan, plan.Scan) or scan.final or scan.group_by or scan.table in ROW_SOURCES:
        return None
    return scan


def _flat(select: plan.Select, scan: plan.Scan) -> plan.Select:
    alias = select.joins[0].alias
    outer, inner = _Names(), _Names()
    for part in _parts(select):
        outer.visit(part)
    for part in _parts(scan):
        inner.visit(part)
    bound = outer.bound | {name for name, _ in select.columns}
    is_hidden = alias in inner.bare or bound & (inner.bare | {alias})
    # A column of a query around this one: if that reads the same table, `events.event` would be
    # a column of this one.
    reads_outside = bool(outer.sources - {None, alias})
    if outer.is_correlated or reads_outside or inner.bound or is_hidden:
        return select
    read = plan.FlatRead(table=scan.table, alias=alias, project=_project_of(scan))
    columns = {name: _Qualifier(alias).visit(expr) for name, expr in scan.columns}
    flat = _Substitution(alias, columns).select(select)
    conditions = (_Qualifier(alias).visit(scan.where), flat.where)
    return msgspec.structs.replace(flat, flat_read=read, where=_all_of(conditions))


def _parts(node: plan.Select | plan.Scan) -> list[Any]:
    """The children of a node, without the relations of a select."""
    children: list[Any] = []
    alone = msgspec.structs.replace(node, joins=()) if isinstance(node, plan.Select) else node
    transform_children(alone, lambda child: children.append(child) or child)
    return children


def _project_of(scan: plan.Scan) -> plan.Expr:
    if scan.project is None:
        raise Bug(f"scan of {scan.table} without its project")
    return scan.project


def _all_of(conditions: tuple[plan.Expr | None, ...]) -> plan.Expr | None:
    given = tuple(each for each in conditions if each is not None)
    if len(given) < 2:
        return given[0] if given else None
    return plan.FunctionCall(function="and", args=given, type=BOOLEAN)


class _Names:
    """Names that expressions bind, and names that hoglet's SQL uses unqualified."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.bare: set[str] = set()
        self.sources: set[str | None] = set()
        self.is_correlated = False

    def visit(self, node: Any) -> Any:
        if isinstance(node, plan.ScalarQuery):
            self.is_correlated |= node.correlated
            return node
        if isinstance(node, plan.Name):
            self.sources.add(node.source)
        elif isinstance(node, plan.LambdaExpr):
            self.bound.update(node.names)
        elif isinstance(node, plan.TrustedSQL):
            for part in node.parts:
                if isinstance(part, str):
                    self.bare.update(_bare_names(part))
        return transform_children(node, self.visit)


def _bare_names(sql: str) -> list[str]:
    words = tokens(sql)
    return [
        word.removeprefix("`")
        for before, word in zip(["", *words], words, strict=False)
        if before != "."
    ]


class _Qualifier:
    """Names columns by their table: ``event`` as ``e.event``."""

    def __init__(self, alias: str) -> None:
        self._alias = alias

    def visit(self, node: Any) -> Any:
        if isinstance(node, plan.Name):
            return msgspec.structs.replace(node, source=self._alias)
        return transform_children(node, self.visit)


class _Substitution:
    """Replaces columns of a relation by their expressions."""

    def __init__(self, alias: str, columns: Mapping[str, plan.Expr]) -> None:
        self._alias = alias
        self._columns = columns

    def select(self, node: plan.Select) -> plan.Select:
        return transform_children(msgspec.structs.replace(node, joins=()), self.visit)

    def visit(self, node: Any) -> Any:
        if isinstance(node, plan.Name) and node.source == self._alias:
            return self._columns[node.name]
        if isinstance(node, plan.ScalarQuery):  # reads nothing of this select
            return node
        return transform_children(node, self.visit)
