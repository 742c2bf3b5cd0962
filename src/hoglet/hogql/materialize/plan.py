"""Plans materialization: the query that builds the table and the query that reads it.

Correct by construction: predicates on variables are removed from WHERE, their columns are added to
the result (and GROUP BY), and a run filters on them. Queries that might return other rows than the
inline run are rejected.

Source: docs/spec/query-endpoints.md#72-what-can-be-materialized,
docs/spec/query-endpoints.md#73-how-variables-are-stored and
docs/spec/query-endpoints.md#76-preview.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import (
    Expression,
    alias,
    call,
    changed,
    compare,
    every,
    field,
)
from hoglet.hogql.compile import OutputColumn, compile_query
from hoglet.hogql.context import Limits, QueryContext
from hoglet.hogql.frontend.preprocess import read_query
from hoglet.hogql.frontend.print_hogql import print_expression, print_query
from hoglet.hogql.materialize.add_group_columns import (
    add_columns,
    has_star,
    refuse_unsound,
)
from hoglet.hogql.materialize.aggregates import (
    aggregates_in,
    aggregates_of,
    is_aggregated,
    written_out,
)
from hoglet.hogql.materialize.merge_aggregates import reread_items
from hoglet.hogql.materialize.model import ColumnRange, MergeableAggregate
from hoglet.hogql.materialize.order_by import keep_order
from hoglet.hogql.materialize.predicates import (
    EQUALITY,
    RANGE,
    TEXT_HINT,
    Predicate,
    compares_text,
    take_predicates,
    variables_in,
)
from hoglet.hogql.materialize.push_up_variables import lift_ctes
from hoglet.hogql.materialize.refusal import INVALID, UNSUPPORTED_TYPE, Refusal
from hoglet.hogql.materialize.stored_columns import StoredColumns, stored_columns
from hoglet.hogql.schema.system import SYSTEM_TABLES
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

BUCKETS = {
    "minute": "toStartOfMinute",
    "fifteen_minutes": "toStartOfFifteenMinutes",
    "hour": "toStartOfHour",
    "day": "toStartOfDay",
    "week": "toStartOfWeek",
    "month": "toStartOfMonth",
}

__all__ = ["ColumnRange", "MaterializationPlan", "MergeableAggregate", "plan_materialization"]


class MaterializationPlan(msgspec.Struct, frozen=True):
    """How a table is built and read.

    ``build`` has no variables; compile it with ``Limits(max_limit=None)`` and the saved
    ``filters``. ``variables`` are the code names that a run must send. ``read`` returns the tree of
    a run: compile it with the table in ``context.saved_tables``, and ``variables`` as sent.
    ``filtered`` are the columns that runs filter by, those with ``=`` first.
    """

    build: tree.SelectQuery | tree.SelectSetQuery
    variables: tuple[str, ...]
    range_pairs: tuple[ColumnRange, ...]
    aggregates: tuple[MergeableAggregate, ...]
    reading: tree.SelectQuery
    filtered: tuple[str, ...] = ()

    def read(self, table: str) -> tree.SelectQuery:
        """The query of a run on the table with that (logical) name."""
        source = tree.JoinExpr(table=field(table))
        return changed(self.reading, select_from=source)

    def rounded(self) -> dict[str, str]:
        """The range variables that runs round, and to what: ``{"since": "day"}``."""
        words = {function: word for word, function in BUCKETS.items()}
        return {
            code: words[pair.bucket_fn]
            for pair in self.range_pairs
            if pair.bucket_fn is not None
            for code in pair.variables
        }

    def transformed_query(self) -> str:
        """The building query as HogQL."""
        return print_query(self.build)

    def execution_query(self, table: str) -> str:
        """The reading query as HogQL, variables as placeholders."""
        return print_query(self.read(table))


def plan_materialization(
    query: str,
    *,
    context: QueryContext,
    variables: Mapping[str, Any],
    filters: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    bucket_overrides: Mapping[str, str] | None = None,
) -> MaterializationPlan:
    """Plan the materialization of a HogQL query.

    Args:
        query: the saved text.
        context: the project.
        variables: definitions by code name; only the names matter.
        filters: the saved query's filters, for ``{filters}``.
        values: the saved query's values, for other placeholders.
        bucket_overrides: ``{"timestamp": "hour"}``, by column as written.

    Raises:
        Refusal: the query cannot be materialized; code and reason say why.
    """
    try:
        parsed = read_query(query)
    except SourceError as error:
        raise Refusal(f"The query does not parse: {error.message}", code=INVALID) from None
    for name in variables_in(parsed):
        if name not in variables:
            raise Refusal(f"No variable with the code name '{name}' is defined")
    compiler = _Compiler(context, filters, values)
    plan = _plan(parsed, bucket_overrides or {}, compiler)
    compiler.columns(plan.build)
    return plan


class _Compiler:
    """Compiles candidates to determine their columns and validity."""

    def __init__(
        self,
        context: QueryContext,
        filters: Mapping[str, Any] | None,
        values: Mapping[str, Any] | None,
    ) -> None:
        self._context = msgspec.structs.replace(context, limits=Limits(max_limit=None))
        self._filters = filters
        self._values = values

    def columns(self, query: Any) -> list[tuple[str, str, str]]:
        """``(shown name, name in the SQL, type)`` of a query's columns; raises as ``output``."""
        return [(column.name, column.label, column.hogql) for column in self.output(query)]

    def output(self, query: Any) -> tuple[OutputColumn, ...]:
        """The columns of a query; variables are NULL.

        Raises:
            Refusal: the query does not compile.
        """
        try:
            compiled = compile_query(
                query,
                context=self._context,
                variables=dict.fromkeys(variables_in(query)),
                filters=self._filters,
                values=self._values,
            )
        except SourceError as error:
            raise Refusal(f"The query is not valid: {error.message}", code=INVALID) from None
        live = next((name for name in compiled.tables if name in SYSTEM_TABLES), None)
        if live is not None:
            raise Refusal(
                f"The query reads {live}, whose records are always read live", code=UNSUPPORTED_TYPE
            )
        return compiled.columns

    def has_text(self, select: tree.SelectQuery, predicate: Predicate) -> bool:
        """Whether a predicate's column is a property that is not read as a string."""
        if not compares_text(predicate, select):
            return False
        probe = add_columns(changed(select, order_by=None), {"__probe": predicate.column})
        return self.columns(probe)[-1][2] != "String"


def _plan(parsed: Any, overrides: Mapping[str, str], compiler: _Compiler) -> MaterializationPlan:
    if isinstance(parsed, tree.SelectSetQuery):
        if names := variables_in(parsed):
            raise Refusal(f"Variable '{names[0]}' is used in a set operation")
        return _plain_plan(parsed, compiler)
    if not isinstance(parsed, tree.SelectQuery):
        raise Refusal("The query is empty", code=INVALID)
    if not variables_in(parsed):
        return _plain_plan(parsed, compiler)
    lifted, from_ctes = lift_ctes(parsed, compiler.has_text)
    if from_ctes and has_star(lifted):
        lifted = _named(lifted, compiler.columns(parsed))
    refuse_unsound(lifted, inner=False)
    rest, predicates = take_predicates(lifted)
    texts = [
        msgspec.structs.replace(each, text=call("toString", each.column))
        if compiler.has_text(rest, each)
        else each
        for each in predicates
    ]
    return _variable_plan(rest, [*from_ctes, *texts], overrides, compiler)


def _named(select: tree.SelectQuery, columns: list[tuple[str, str, str]]) -> tree.SelectQuery:
    """``SELECT *`` with explicit columns, so that it does not include added ones."""
    if len(select.select) != 1:
        raise Refusal(
            "'*' together with other columns, over a CTE with variables, is not supported"
        )
    return changed(select, select=tuple(field(label) for _, label, _ in columns))


def _plain_plan(parsed: Any, compiler: _Compiler) -> MaterializationPlan:
    ordered = keep_order(parsed) if isinstance(parsed, tree.SelectQuery) else (parsed, ())
    build, order_by = ordered
    count = len(compiler.columns(parsed))
    columns = compiler.columns(build)[:count]
    items = tuple(alias(visible, field(label)) for visible, label, _ in columns)
    order_by = tuple(changed(item, with_fill=None) for item in order_by)  # filled rows are stored
    # With ties there are more rows than the limit.
    ties = isinstance(parsed, tree.SelectQuery) and parsed.limit_with_ties
    limit = None if ties else parsed.limit
    reading = tree.SelectQuery(select=items, order_by=order_by or None, limit=limit)
    return MaterializationPlan(build, (), (), (), reading)


def _variable_plan(
    rest: tree.SelectQuery,
    predicates: list[Predicate],
    overrides: Mapping[str, str],
    compiler: _Compiler,
) -> MaterializationPlan:
    rest = _without_constant_groups(rest)
    is_total = not rest.group_by and not rest.group_by_mode and bool(aggregates_of(rest))
    matches_several = any(not each.is_exact for each in predicates)
    if (matches_several or is_total) and rest.having is not None:
        raise Refusal("HAVING is only supported with GROUP BY and variables compared by '='")
    original = compiler.columns(rest)
    buckets = _buckets(rest, predicates, overrides, compiler)
    stored = stored_columns(rest, predicates, buckets)
    regroup = matches_several and (is_aggregated(rest) or bool(rest.distinct))
    ordered, order_by = keep_order(changed(rest, limit=None, offset=None), regroup=regroup)
    again = is_aggregated(rest) and (matches_several or is_total)
    with _explaining_texts(predicates):
        reread = reread_items(
            rest,
            original,
            again=again,
            several=matches_several,
            columns_of=lambda parts: _added(rest, parts, compiler),
        )
    build = add_columns(changed(ordered, select=(*ordered.select, *reread.parts)), stored.columns)
    reading = tree.SelectQuery(
        select=reread.items,
        distinct=rest.distinct if matches_several else None,
        where=every([_filter(each, stored, buckets) for each in predicates]),
        group_by=reread.group_by,
        order_by=order_by or None,
        limit=rest.limit,
        offset=rest.offset,
    )
    by_equality = sorted(predicates, key=lambda each: each.operator not in EQUALITY)
    return MaterializationPlan(
        changed(build, order_by=None),
        tuple(dict.fromkeys(code for each in predicates for code in each.codes)),
        _pairs(predicates, buckets),
        reread.aggregates,
        reading,
        tuple(dict.fromkeys(stored.names[each.code] for each in by_equality)),
    )


def _without_constant_groups(select: tree.SelectQuery) -> tree.SelectQuery:
    """``GROUP BY ALL`` of aggregates and constants groups by nothing: it always gives a row."""
    if select.group_by_mode != "all" or not all(
        isinstance(each, tree.Constant) or aggregates_in(each)
        for each in written_out(select).columns
    ):
        return select
    return changed(select, group_by_mode=None)


@contextmanager
def _explaining_texts(predicates: list[Predicate]) -> Generator[None]:
    """Explain why ``=`` can match several rows if it does so only for the text of a property."""
    try:
        yield
    except Refusal as refusal:
        several = [each for each in predicates if not each.is_exact]
        if not several or any(each.text is None for each in several):
            raise
        several_values = "'=' with a property that is not text may match several values"
        reason = f"{refusal.reason}. {several_values}: {TEXT_HINT}"
        raise Refusal(reason, code=refusal.reason_code) from None


def _added(
    select: tree.SelectQuery, added: tuple[Expression, ...], compiler: _Compiler
) -> tuple[OutputColumn, ...]:
    """Expressions as columns of a select."""
    items = tuple(alias(f"__type_{number}", each) for number, each in enumerate(added))
    probe = changed(select, select=(*select.select, *items), order_by=None)
    return compiler.output(probe)[-len(added) :]


def _buckets(
    rest: tree.SelectQuery,
    predicates: list[Predicate],
    overrides: Mapping[str, str],
    compiler: _Compiler,
) -> dict[str, str | None]:
    """The bucket function of each variable's column, None for exact values."""
    buckets: dict[str, str | None] = {}
    for each in predicates:
        name = print_expression(each.column)
        bucket = None
        if each.operator in RANGE and isinstance(each.column, tree.Field):
            short = str(each.column.chain[-1])
            word = overrides.get(name) or overrides.get(short)
            if word is not None or ("properties" not in each.column.chain):
                bucket = BUCKETS[word or "day"]
            probe = add_columns(changed(rest, order_by=None), {"__probe": each.column})
            if word is None and compiler.columns(probe)[-1][2] != "DateTime":
                bucket = None
        buckets[each.code] = buckets.get(each.code) or bucket
    return buckets


def _filter(
    each: Predicate, stored: StoredColumns, buckets: Mapping[str, str | None]
) -> Expression:
    column, bucket, value = field(stored.names[each.code]), buckets[each.code], each.value
    if bucket is not None:
        value = call(
            bucket, call("_toDateTime", value)
        )  # an invalid timestamp is an error inline too
    elif each.text is not None:
        column = call("_propertyOrText", column, field(stored.texts[each.code]))
    return compare(each.operator, column, value)


def _pairs(predicates: list[Predicate], buckets: dict[str, str | None]) -> tuple[ColumnRange, ...]:
    pairs: dict[str, ColumnRange] = {}
    for each in predicates:
        if each.operator not in RANGE:
            continue
        name = print_expression(each.column)
        known = pairs.get(name)
        names = (*(known.variables if known else ()), *each.codes)
        pairs[name] = ColumnRange(name, tuple(dict.fromkeys(names)), buckets[each.code])
    return tuple(pairs.values())
