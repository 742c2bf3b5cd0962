"""What placeholders stand for: ``{variables.x}``, ``{filters}``, ``{name}``.

Values become constants of the tree; the printer binds them as parameters. A placeholder without a
value is an error that names it.

Source: docs/spec/query-endpoints.md#52-variables, docs/spec/query-endpoints.md#54-overrides and
docs/spec/query-endpoints.md#102-access-and-placeholders.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from uuid import UUID

from hoglet.hogql.client_schemas import FILTERS, check_shape
from hoglet.hogql.context import QueryContext
from hoglet.hogql.dates import as_text, clock_of, moment_constant
from hoglet.hogql.errors import near, refused
from hoglet.hogql.filters.properties import conditions
from hoglet.hogql.frontend.trees import compare, constant, every, field
from hoglet.hogql.schema.catalog import LAZY_TABLES
from hoglet.kit.relative_dates import Bounds, NotADate, range_bounds
from hoglet.syntax import tree

type TableAliases = tuple[tuple[str, str], ...]
"""``((alias, logical table), ...)`` of the select around a placeholder."""


class Binder:
    """Expands the placeholders of one query and notes which variables were used."""

    def __init__(
        self,
        context: QueryContext,
        variables: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        self._context = context
        self._variables = variables or {}
        check_shape(filters, FILTERS)
        self._filters = filters or {}
        self._values = values or {}
        self._expanded: dict[int, tuple[tree.Placeholder, tree.Expression]] = {}
        self.variables_used: dict[str, None] = {}
        self.has_filters = False

    def expand(self, node: tree.Placeholder, tables: TableAliases = ()) -> tree.Expression:
        """What the placeholder stands for; the same node stands for the same thing again.

        Raises:
            SourceError: there is no such value, or the placeholder's form is not known.
        """
        known = self._expanded.get(id(node))
        if known is None:
            # The node is kept beside its expansion, so that its id stays taken.
            known = self._expanded[id(node)] = (node, self._expand(node, tables))
        return known[1]

    def _expand(self, node: tree.Placeholder, tables: TableAliases) -> tree.Expression:
        chain = node.expr.chain if isinstance(node.expr, tree.Field) else ()
        if len(chain) == 2 and chain[0] == "variables":
            return self._variable(str(chain[1]), node)
        if chain and chain[0] == "filters":
            self.has_filters = True
            return self._filter(tuple(map(str, chain[1:])), node, tables)
        if len(chain) == 1 and chain[0] in self._values:
            return as_tree(self._values[str(chain[0])], node)
        name = ".".join(map(str, chain)) or "this expression"
        raise refused(f"Placeholder {{{name}}} has no value.{near(name, self._values)}", node)

    def _variable(self, name: str, node: tree.Placeholder) -> tree.Expression:
        self.variables_used[name] = None
        if name not in self._variables:
            raise refused(
                f"Variable {{variables.{name}}} has no value.{near(name, self._variables)}", node
            )
        return as_tree(self._variables[name], node)

    def _filter(
        self, path: tuple[str, ...], node: tree.Placeholder, tables: TableAliases
    ) -> tree.Expression:
        if not path:
            return filters_condition(self._filters, self._context, tables)
        if path in {("dateRange", "from"), ("dateRange", "to")}:
            return self._date(path[1])
        raise refused(f"Unknown placeholder {{filters.{'.'.join(path)}}}", node)

    def _date(self, edge: str) -> tree.Expression:
        bounds = date_bounds(self._filters, self._context)
        moment = bounds.start if edge == "from" else bounds.end
        if moment is None and edge == "to":
            moment = self._context.now
        return constant(as_text(moment) if moment else "1970-01-01 00:00:00.000000")


def as_tree(value: Any, node: Any = None) -> tree.Expression:
    """A JSON value as a constant, a list of constants, or a map of them."""
    if isinstance(value, list | tuple):
        return tree.Array(exprs=tuple(as_tree(item, node) for item in value))
    if isinstance(value, Mapping):
        pairs = ((constant(str(key)), as_tree(item, node)) for key, item in value.items())
        return tree.Dict(items=tuple(pairs))
    if isinstance(value, datetime | date | UUID):
        value = str(value)
    start, end = getattr(node, "start", None), getattr(node, "end", None)
    return tree.Constant(value=value, start=start, end=end)


def filters_condition(
    filters: Mapping[str, Any], context: QueryContext, tables: TableAliases
) -> tree.Expression:
    """The condition of ``{filters}``: dates of the first table with a time, properties."""
    timed = [(alias, LAZY_TABLES[name]) for alias, name in tables if name in LAZY_TABLES]
    timed = [(alias, table) for alias, table in timed if table.time is not None]
    found: list[tree.Expression] = []
    bounds = date_bounds(filters, context)
    if timed:
        alias, table = timed[0]
        column = field(alias, str(table.time))
        if bounds.start is not None:
            found.append(compare(">=", column, moment_constant(bounds.start)))
        if bounds.end is not None:
            operator = "<=" if bounds.includes_end else "<"
            found.append(compare(operator, column, moment_constant(bounds.end)))
    prefix = (timed[0][0],) if timed and len(tables) > 1 else ()
    found += conditions(filters.get("properties") or [], context, prefix)
    if filters.get("filterTestAccounts"):
        found += conditions(context.test_account_filters, context, prefix)
    return every(found)


def date_bounds(filters: Mapping[str, Any], context: QueryContext) -> Bounds:
    """The range of ``filters.dateRange``.

    Raises:
        SourceError: one of its dates is none.
    """
    range_ = filters.get("dateRange") or {}
    explicit = bool(range_.get("explicitDate"))
    clock = clock_of(context)
    try:
        return range_bounds(
            range_.get("date_from"), range_.get("date_to"), clock, explicit=explicit
        )
    except NotADate as error:
        raise refused(str(error), attr=f"filters__dateRange__{error.key}") from None
