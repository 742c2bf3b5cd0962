"""Expands placeholders: ``{variables.x}``, ``{filters}``, ``{name}``.

Values become constants in the tree, which the printer binds as parameters. A placeholder without a
value is an error.

Source: docs/spec/query-endpoints.md#52-variables, docs/spec/query-endpoints.md#54-overrides and
docs/spec/query-endpoints.md#102-access-and-placeholders.
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any
from uuid import UUID

import msgspec

from hoglet.hogql.ast_builders import compare, constant
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.filters.dates import moment_constant
from hoglet.hogql.filters.placeholders import (
    FORMS,
    TableAliases,
    bound_condition,
    breakdown_expression,
    date_bounds,
    filters_condition,
    interval_of,
)
from hoglet.hogql.filters.properties import filter_expressions
from hoglet.hogql.query_json.nodes import FILTERS
from hoglet.hogql.query_json.validation import check_shape
from hoglet.syntax import tree


class PlaceholderBinder:
    """Expands the placeholders of a query and records which variables were used."""

    def __init__(
        self,
        context: QueryContext,
        variables: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        self._context = context
        self._variables = variables or {}
        check_shape(filters, FILTERS, "filters")
        self._filters = filters or {}
        self._values = values or {}
        self._expanded: dict[int, tuple[tree.Placeholder, tree.Expression]] = {}
        self.variables_used: dict[str, None] = {}
        self.has_filters = False

    def expand(self, node: tree.Placeholder, tables: TableAliases = ()) -> tree.Expression:
        """The expansion of a placeholder; the same node always has the same expansion.

        Raises:
            SourceError: there is no such value, or the form of the placeholder is unknown.
        """
        known = self._expanded.get(id(node))
        if known is None:
            # The node is kept with its expansion, so that its id is not reused.
            known = self._expanded[id(node)] = (node, self._expand(node, tables))
        return known[1]

    def filter_expressions(self, node: tree.Placeholder) -> Iterator[tuple[str, str]]:
        """Paths and texts of the HogQL expressions that ``{filters}`` expands to."""
        if _is_filters(node.expr):
            yield from filter_expressions(self._filters.get("properties"), "filters__properties")
            if self._filters.get("filterTestAccounts"):
                tests = self._context.test_account_filters
                yield from filter_expressions(tests, "filters__filterTestAccounts")

    def _expand(self, node: tree.Placeholder, tables: TableAliases) -> tree.Expression:
        if _is_filters(node.expr):
            self.has_filters = True
            return self._filter(node, tables)
        chain = node.expr.chain if isinstance(node.expr, tree.Field) else ()
        if len(chain) == 2 and chain[0] == "variables":
            return self._variable(str(chain[1]), node)
        if len(chain) == 1 and chain[0] in self._values:
            return as_tree(self._values[str(chain[0])], node)
        name = ".".join(map(str, chain)) or "this expression"
        hint = near(name, [*self._values, "filters"])
        raise refused(f"Placeholder {{{name}}} has no value.{hint}", node)

    def _variable(self, name: str, node: tree.Placeholder) -> tree.Expression:
        self.variables_used[name] = None
        if name not in self._variables:
            raise refused(
                f"Variable {{variables.{name}}} has no value.{near(name, self._variables)}", node
            )
        return as_tree(self._variables[name], node)

    def _filter(self, node: tree.Placeholder, tables: TableAliases) -> tree.Expression:
        path, args = _path_of(node.expr)
        filters, context = self._filters, self._context
        match path, args:
            case (), None:
                return filters_condition(filters, context, tables)
            case (), _:
                return bound_condition(filters, context, _bindings(args, node))
            case ("dateRange", "from" | "to" as edge), None:
                return self._date(edge, node)
            case ("interval",), None:
                return constant(interval_of(filters))
            case ("interval",), (tree.Constant(value=str() as default),):
                return constant(interval_of(filters, default))
            case ("breakdown",), tuple():
                return breakdown_expression(filters, _bindings(args, node))
            case _:
                name = ".".join(("filters", *path))
                message = f"Unknown placeholder {{{name}}}. Supported are {', '.join(FORMS)}"
                raise refused(message, node)

    def _date(self, edge: str, node: tree.Placeholder) -> tree.Expression:
        bounds = date_bounds(self._filters, self._context)
        moment = bounds.start if edge == "from" else bounds.end
        if moment is None:
            message = (
                f"{{filters.dateRange.{edge}}} has no value, so it can only be used in comparisons"
            )
            raise refused(message, node)
        return moment_constant(moment)

    def without_absent_dates(self, query: Any) -> Any:
        """The query with comparisons to a missing bound of the date range replaced by true."""
        bounds = date_bounds(self._filters, self._context)
        edges = {"from": bounds.start, "to": bounds.end}
        absent = {edge for edge, moment in edges.items() if moment is None}
        return _without_comparisons(query, absent) if absent else query


def _without_comparisons(  # noqa: PLR0911 (one return a kind of node)
    node: Any, absent: set[str]
) -> Any:
    """The tree with every comparison around one of the placeholders replaced by true.

    BETWEEN keeps its other bound.
    """
    if isinstance(node, tuple):
        return tuple(_without_comparisons(item, absent) for item in node)
    if isinstance(node, dict):
        return {key: _without_comparisons(value, absent) for key, value in node.items()}
    if not isinstance(node, tree.Node):
        return node
    if isinstance(node, tree.CompareOperation) and _mentions((node.left, node.right), absent):
        return constant(True)
    if isinstance(node, tree.BetweenExpr) and _mentions((node.expr, node.low, node.high), absent):
        return _half_between(node, absent)
    names = [name for name in node.__struct_fields__ if name not in {"start", "end"}]
    inner = {name: _without_comparisons(getattr(node, name), absent) for name in names}
    if all(inner[name] is getattr(node, name) for name in names):
        return node
    return msgspec.structs.replace(node, **inner)


def _half_between(node: tree.BetweenExpr, absent: set[str]) -> tree.Expression:
    """The comparison with the remaining bound, negated for NOT BETWEEN."""
    signs = ("<", ">") if node.negated else (">=", "<=")
    if _mentions(node.expr, absent):
        return constant(True)
    for sign, end in zip(signs, (node.low, node.high), strict=True):
        if not _mentions(end, absent):
            return compare(sign, node.expr, end)
    return constant(True)


def _mentions(node: Any, absent: set[str]) -> bool:
    """Whether the node uses a missing bound, not counting its subqueries."""
    if isinstance(node, tuple):
        return any(_mentions(item, absent) for item in node)
    if isinstance(node, tree.Placeholder):
        path, args = _path_of(node.expr)
        is_date = args is None and path[:1] == ("dateRange",) and _is_filters(node.expr)
        return is_date and path[1:] in {(edge,) for edge in absent}
    if not isinstance(node, tree.Node) or isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
        return False
    return any(_mentions(getattr(node, name), absent) for name in node.__struct_fields__)


def _is_filters(node: Any) -> bool:
    """Whether a placeholder is ``{filters}`` in one of its forms."""
    if isinstance(node, tree.ExprCall):
        return _is_filters(node.expr)
    if isinstance(node, tree.Call):
        return node.name == "filters"
    return isinstance(node, tree.Field) and node.chain[:1] == ("filters",)


def _path_of(node: Any) -> tuple[tuple[str, ...], tuple[Any, ...] | None]:
    """``("dateRange", "from")`` and the call's arguments, None if it is not a call."""
    if isinstance(node, tree.Call):
        return (), node.args
    if isinstance(node, tree.ExprCall):
        return _path_of(node.expr)[0], node.args
    return tuple(map(str, node.chain[1:])) if isinstance(node, tree.Field) else (), None


def _bindings(args: Any, node: tree.Placeholder) -> dict[str, tree.Expression]:
    bindings: dict[str, tree.Expression] = {}
    for arg in args or ():
        if not isinstance(arg, tree.Alias):
            raise refused(
                "Each argument of {filters(...)} needs AS, as in {filters(created AS timestamp)}",
                node,
            )
        bindings[arg.alias] = arg.expr
    return bindings


def as_tree(value: Any, node: Any = None) -> tree.Expression:
    """A JSON value as a constant, or a list or map of constants."""
    if isinstance(value, list | tuple):
        return tree.Array(exprs=tuple(as_tree(item, node) for item in value))
    if isinstance(value, Mapping):
        pairs = ((constant(str(key)), as_tree(item, node)) for key, item in value.items())
        return tree.Dict(items=tuple(pairs))
    if isinstance(value, datetime | date | UUID):
        value = str(value)
    start, end = getattr(node, "start", None), getattr(node, "end", None)
    return tree.Constant(value=value, start=start, end=end)
