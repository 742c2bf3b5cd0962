"""The resolver with the functions that resolve each kind of node."""

from typing import ClassVar

from hoglet.hogql.plan import Relation
from hoglet.hogql.resolve import (
    calls,
    compare,
    expressions,
    selects,
    subqueries,
    tuples,
    windows,
)
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.syntax import tree


class NodeResolver(Resolver):
    """Resolves one query; not reusable."""

    handlers: ClassVar = {
        tree.Constant: expressions.resolve_constant,
        tree.Field: expressions.resolve_field,
        tree.Alias: expressions.resolve_alias,
        tree.And: expressions.resolve_and,
        tree.Or: expressions.resolve_or,
        tree.Not: expressions.resolve_not,
        tree.ArithmeticOperation: expressions.resolve_arithmetic,
        tree.Array: expressions.resolve_array,
        tree.Tuple: tuples.resolve_tuple,
        tree.HogQLXTag: tuples.resolve_tag,
        tree.ArrayAccess: expressions.resolve_array_access,
        tree.ArraySlice: expressions.resolve_array_slice,
        tree.TupleAccess: expressions.resolve_tuple_access,
        tree.Dict: expressions.resolve_dict,
        tree.Lambda: expressions.resolve_lambda,
        tree.Placeholder: expressions.resolve_placeholder,
        tree.TypeCast: expressions.resolve_cast,
        tree.TryCast: expressions.resolve_cast,
        tree.ExprCall: expressions.resolve_expr_call,
        tree.SelectQuery: subqueries.resolve_subquery,
        tree.SelectSetQuery: subqueries.resolve_subquery,
        tree.CompareOperation: compare.resolve_compare,
        tree.BetweenExpr: compare.resolve_between,
        tree.IsDistinctFrom: compare.resolve_distinct_from,
        tree.Call: calls.resolve_call,
        tree.WindowFunction: windows.resolve_window_function,
    }

    def resolve_query(self, node: tree.Query, parent: Scope | None) -> Relation:
        """Resolve a SELECT or a set operation; ``query`` has counted the nesting depth."""
        return selects.resolve_query(self, node, parent)
