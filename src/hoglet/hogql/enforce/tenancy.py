"""Adds the project to every scan, and rejects tables and functions outside of the allow-lists.

It runs on every finished plan: of text, filters, insights and materialization. A plan that it
rejects is a bug of an earlier stage, hence ``Bug``.

Source: docs/adr/0008-warehouse.md.
"""

from typing import Any

import msgspec

from hoglet.hogql import plan
from hoglet.hogql.context import QueryContext
from hoglet.hogql.functions import find_function, functions
from hoglet.hogql.schema.catalog import SCANNED
from hoglet.hogql.transform_plan import transform_children
from hoglet.hogql.types import INTEGER
from hoglet.kit.errors import Bug

_INTERNAL = frozenset(
    {"toUnixTimestamp", "exists", "notEmpty", "negate", "cityHash64", "isNotDistinctFrom"}
)
_ALLOWED = frozenset(row.clickhouse for row in functions()) | _INTERNAL


def enforce(relation: plan.Relation, context: QueryContext) -> plan.Relation:
    """Add the project's predicate to every scan of a plan.

    Raises:
        Bug: the plan uses a table or function outside of the allow-lists.
    """
    tables = SCANNED | {table.physical for table in context.saved_tables.values()}
    project = plan.Value(value=context.project_id, bind="Project", type=INTEGER)
    return _Enforcer(project, tables).visit(relation)


class _Enforcer:
    def __init__(self, project: plan.Value, tables: frozenset[str]) -> None:
        self._project = project
        self._tables = tables

    def visit(self, node: Any) -> Any:
        kind = type(node)
        if kind in _LEAVES:
            return node
        if kind is plan.FunctionCall:
            self._check_function(node)
        elif kind is plan.Scan:
            self._check_table(node)
            node = msgspec.structs.replace(node, project=self._project)
        return transform_children(node, self.visit)

    def _check_table(self, node: plan.Scan) -> None:
        if node.table not in self._tables:
            raise Bug(f"plan reads {node.table}, which is on no allow-list")
        if node.project is not None and node.project != self._project:
            raise Bug(f"plan reads {node.table} of another project")

    def _check_function(self, node: plan.FunctionCall) -> None:
        if node.function not in _ALLOWED and find_function(node.function) is None:
            raise Bug(f"plan calls {node.function}, which is on no allow-list")


_LEAVES = frozenset({plan.Name, plan.Number, plan.Value})
