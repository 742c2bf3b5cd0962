"""Inspects a query: all its errors, its tables, properties and time bounds.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from hoglet.hogql.compile import compile_query
from hoglet.hogql.context import QueryContext
from hoglet.hogql.expand_placeholders import PlaceholderBinder
from hoglet.hogql.frontend.preprocess import read_query
from hoglet.hogql.inspection.property_reads import PropertyRead, property_reads
from hoglet.hogql.inspection.query_plan import explain
from hoglet.hogql.inspection.time_bounds import (
    IndexUse,
    index_use,
    table_names,
    unbounded_events,
)
from hoglet.hogql.plan import Expr, Number
from hoglet.hogql.resolve.node_resolver import NodeResolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.types import UNKNOWN
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_MAX_ERRORS = 50


class Inspection(msgspec.Struct, frozen=True, kw_only=True):
    """The result; an invalid query has ``errors`` and no ``plan``."""

    errors: tuple[SourceError, ...] = ()
    tables: tuple[str, ...] = ()
    reads: tuple[PropertyRead, ...] = ()
    unbounded: tuple[tree.Node, ...] = ()
    index_use: IndexUse = "undecisive"
    plan: tuple[str, ...] = ()


def inspect_query(
    query: "str | tree.Query",
    context: QueryContext,
    *,
    variables: Mapping[str, Any] | None = None,
    filters: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
) -> Inspection:
    """Inspect a query; never raises for invalid ones.

    Args:
        query: HogQL text, or a tree of it.
        context: the project.
        variables: values by code name.
        filters: filters for ``{filters}``.
        values: values of other placeholders.
    """
    try:
        parsed = read_query(query) if isinstance(query, str) else query
    except SourceError as error:
        return Inspection(errors=(error,))
    given: dict[str, Any] = {"variables": variables, "filters": filters, "values": values}
    known = Inspection(tables=table_names(parsed), reads=property_reads(parsed, context))
    try:
        compiled = compile_query(query, context=context, **given)
    except SourceError as error:
        errors = _all_errors(parsed, context, error, given)
        return msgspec.structs.replace(known, errors=errors)
    binder = PlaceholderBinder(context, variables, filters, values)
    relation = NodeResolver(context, binder).query(binder.without_absent_dates(parsed))
    return msgspec.structs.replace(
        known,
        unbounded=unbounded_events(parsed),
        index_use=index_use(parsed),
        plan=explain(relation, compiled.limits),
    )


def _all_errors(
    parsed: "tree.Query", context: QueryContext, first: SourceError, given: Mapping[str, Any]
) -> tuple[SourceError, ...]:
    """The error that ends the compilation and those after it, in text order."""
    errors = [first]
    try:
        binder = PlaceholderBinder(context, **given)
        collecting = _CollectingResolver(context, binder, errors)
        collecting.query(binder.without_absent_dates(parsed))
    except SourceError as error:
        errors.append(error)
    except RecursionError:
        pass
    apart = {(error.start, error.end, error.message): error for error in errors}
    return tuple(sorted(apart.values(), key=lambda error: error.start))[:_MAX_ERRORS]


class _CollectingResolver(NodeResolver):
    """Records errors of expressions and continues with an unknown value."""

    def __init__(
        self, context: QueryContext, binder: PlaceholderBinder, errors: list[SourceError]
    ) -> None:
        super().__init__(context, binder)
        self._errors = errors

    def expression(self, node: Any, scope: Scope) -> Expr:
        """Resolve an expression, or record its error."""
        depth = self._depth
        try:
            return super().expression(node, scope)
        except SourceError as error:
            if len(self._errors) >= _MAX_ERRORS:
                raise
            self._errors.append(error)
            self._depth = depth
            return Number(text="NULL", type=UNKNOWN)
