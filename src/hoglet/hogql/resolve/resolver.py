"""The state of a compilation, and its two entry points.

The work is done by functions of sibling modules, one family of nodes each; they take the resolver
as their first argument and call ``expression`` and ``query`` for children. Their table is in
``node_resolver``, so that this module imports none of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.expand_placeholders import PlaceholderBinder
from hoglet.hogql.plan import Expr, Relation, SetQuery
from hoglet.hogql.resolve.scope import Scope
from hoglet.syntax import tree


class Resolver(ABC):
    """Resolves one query; not reusable.

    Args:
        context: the project.
        binder: expands placeholders.

    Attributes:
        handlers: functions that resolve expressions, by node type.
    """

    handlers: ClassVar[Mapping[type, "Callable[[Resolver, Any, Scope], Expr]"]]

    def __init__(self, context: QueryContext, binder: PlaceholderBinder) -> None:
        self.context = context
        self.binder = binder
        self.tables: list[str] = []
        self.relations = 0
        self.recursions = 0
        self.visible_names: dict[int, tuple[Relation, tuple[str, ...]]] = {}
        self._depth = 0
        self._nodes = 0

    def expression(self, node: Any, scope: Scope) -> Expr:
        """Resolve one expression."""
        handler = self.handlers.get(type(node))
        if handler is None:
            what = _NAMES.get(type(node), type(node).__name__)
            raise refused(f"{what} is not supported here", node)
        self._enter(node)
        self._nodes += 1
        if self._nodes > self.context.limits.max_nodes:
            raise refused("The query is too large", node)
        resolved = handler(self, node, scope)
        self._depth -= 1
        return resolved

    def expressions(self, nodes: Any, scope: Scope) -> tuple[Expr, ...]:
        """Resolve several expressions."""
        return tuple([self.expression(node, scope) for node in nodes or ()])

    def query(self, node: tree.Query, parent: Scope | None = None) -> Relation:
        """Resolve a SELECT or a set operation, as a subquery."""
        self._enter(node)
        resolved = self.resolve_query(node, parent)
        self._depth -= 1
        return resolved

    @abstractmethod
    def resolve_query(self, node: tree.Query, parent: Scope | None) -> Relation:
        """Resolve a SELECT or a set operation; ``query`` has counted the nesting depth."""

    def names_of(self, relation: Relation) -> tuple[str, ...]:
        """The names of a resolved query's columns in results."""
        while isinstance(relation, SetQuery):
            relation = relation.first
        return self.visible_names[id(relation)][1]

    def count_relations(self, count: int, node: Any) -> None:
        """Count more relations.

        Raises:
            SourceError: there are too many, e.g. because of doubling CTEs.
        """
        self.relations += count
        if self.relations > self.context.limits.max_tables:
            most = self.context.limits.max_tables
            raise refused(f"The query reads too many tables (at most {most})", node)

    def _enter(self, node: Any) -> None:
        self._depth += 1
        if self._depth > self.context.limits.max_depth:
            raise refused("The query is nested too deeply", node)


_NAMES: dict[type, str] = {
    tree.NamedArgument: "A named argument (a := b)",
    tree.ColumnsExpr: "columns(...) that is not a column of SELECT",
}
"""Names of misplaced syntax for error messages."""
