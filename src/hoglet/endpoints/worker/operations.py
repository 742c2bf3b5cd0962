"""Sandbox operations of endpoints: parsing and compiling user queries.

Their requests and results are in :mod:`hoglet.endpoints.worker.messages`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import msgspec

from hoglet.endpoints.analysis.model import Analysis, Eligibility, TableShape
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.insights.variables import (
    breakdown_names,
    eligibility,
    for_table,
    refuse_live,
)
from hoglet.endpoints.worker.messages import (
    TABLE,
    CompileRequest,
    EndpointSql,
    ExplainRequest,
    InsightSql,
    MaterializationPreview,
)
from hoglet.hogql.ast_builders import TRUE, every
from hoglet.hogql.compile import CompiledQuery, compile_query
from hoglet.hogql.diagnostics.engine_errors import explain
from hoglet.hogql.errors import ERRORS_OF_RUNS, Fragment, in_fragment
from hoglet.hogql.filters.properties import filter_expressions
from hoglet.hogql.frontend.preprocess import read_expression, read_query
from hoglet.hogql.insights.plan import compile_insight as compile_insight_queries
from hoglet.hogql.insights.plan import expressions
from hoglet.hogql.materialize.incremental import (
    IncrementalBuild,
    groups_by_time,
    mode_of,
    plan_incremental,
)
from hoglet.hogql.materialize.model import BuildDecision
from hoglet.hogql.materialize.plan import MaterializationPlan, plan_materialization
from hoglet.hogql.materialize.predicates import variables_in
from hoglet.hogql.materialize.refusal import INVALID, Refusal
from hoglet.hogql.paging.keyset import WHOLE_RESULT, Key, KeysetCondition
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.hogql.query_json.upgrade import upgraded
from hoglet.hogql.schema.system import SYSTEM_TABLES
from hoglet.hogql.types import INTEGER, STRING, Type
from hoglet.kit.errors import SourceError
from hoglet.kit.json import object_at
from hoglet.syntax import tree

_PARSED_TIME = re.compile(r"BestEffort\w*\((?:\{(\w+):String\})?")
_WHOLE_TIME = re.compile(r"\d{4}-\d\d-\d\d")
_MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
INSIGHT_COLUMNS = [
    ("position", INTEGER),
    ("breakdown_value", Type("Array", item=STRING)),
    ("item", STRING),
]


def _refusing_malformed[Message, Outcome](
    message: type[Message],
) -> Callable[[Callable[[Message], Outcome]], Callable[[Any], Outcome]]:
    """An operation on a message, which is received as plain values.

    Series and filters have many forms, which are parsed where they are used. A malformed nested
    part (such as a string in place of a filter) fails there, and is reported as a query error.
    """

    def operation(function: Callable[[Message], Outcome]) -> Callable[[Any], Outcome]:
        @wraps(function)
        def guarded(payload: Any) -> Outcome:
            try:
                return function(msgspec.convert(payload, message))
            except _MALFORMED as error:
                raise SourceError(
                    f"A part of the query has an unexpected shape ({error}).",
                    code="hogql_query_error",
                ) from error

        return guarded

    return operation


class AnyValue(Mapping[str, Any]):
    """A placeholder for variables in analysis: every name has a value."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known = known

    def __contains__(self, key: object) -> bool:
        return True

    def __getitem__(self, key: str) -> Any:
        return self._known.get(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __bool__(self) -> bool:
        return True


@_refusing_malformed(CompileRequest)
def compile_insight(request: CompileRequest) -> InsightSql:
    """Compile the queries of an insight to SQL on the raw data."""
    return _insight(request)


def _insight(request: CompileRequest) -> InsightSql:
    plan, compiled = compile_insight_queries(request.query, request.query_context())
    return InsightSql([_sql(each) for each in compiled], plan.date_range)


@_refusing_malformed(CompileRequest)
def compile_run(request: CompileRequest) -> EndpointSql:
    """Compile a query with its values to SQL on the raw data."""
    return _sql(_compile(request, request.query["query"]))


@_refusing_malformed(ExplainRequest)
def explain_refusal(request: ExplainRequest) -> None:
    """Raise an engine error as an error of the query's text, or of an expression in its keys."""
    query = request.query
    roots: list[Any] = []
    fragments: list[Fragment] = []
    length = 0
    if query["kind"] == HOGQL:
        roots.append(read_query(query["query"]))
        length = len(query["query"])
    for path, text in _expressions(query):
        length += 1
        fragments.append(Fragment(path, length, text))
        # Leading spaces give each expression distinct offsets.
        roots.append(every([read_expression(" " * length + text), TRUE]))
        length += len(text)
    error = explain(request.message, request.code, tuple(roots))
    raise in_fragment(error, fragments) or error


def _expressions(query: QueryNode) -> Iterator[tuple[str, str]]:
    if query["kind"] != HOGQL:
        yield from expressions(upgraded(query))
        return
    filters = object_at(query, "filters")
    yield from filter_expressions(filters.get("properties"), "filters__properties")


@_refusing_malformed(CompileRequest)
def analyze(request: CompileRequest) -> Analysis:
    """The columns of a query, its variables, and whether it can be materialized."""
    query = request.query
    if query["kind"] != HOGQL:
        return _analyze_insight(request)
    try:
        compiled = compile_query(
            query["query"],
            context=request.query_context(),
            variables=AnyValue(request.variables),
            filters=query.get("filters"),
            values=query.get("values"),
        )
    except SourceError as error:
        if error.error_code not in ERRORS_OF_RUNS:
            raise
        return _analyze_failing(query, error)
    allowed, table = _eligibility(request)
    return Analysis(
        columns=[{"name": column.name, "type": column.type} for column in compiled.columns],
        types=[column.kind for column in compiled.columns],
        variables=list(compiled.variables_used),
        uses_filters=compiled.has_filters,
        eligibility=allowed,
        plan=table,
    )


def _analyze_failing(query: QueryNode, error: SourceError) -> Analysis:
    """The partial analysis of a query that parses but will fail when run (ADR 14)."""
    refusal = Refusal(f"The query is not valid: {error}", code=INVALID)
    names = variables_in(read_query(query["query"]))
    return Analysis(variables=names, eligibility=_ineligible(refusal))


def _analyze_insight(request: CompileRequest) -> Analysis:
    compiled = _insight(_without_limit(request))
    names = breakdown_names(request.query)
    live = [name for each in compiled.queries for name in each.system_tables]
    allowed = refuse_live(live[0]) if live else eligibility(request.query)
    table = TableShape(INSIGHT_COLUMNS, names) if allowed.can_materialize else None
    return Analysis(breakdowns=names, eligibility=allowed, plan=table)


@_refusing_malformed(CompileRequest)
def compile_build(request: CompileRequest) -> EndpointSql:
    """Compile the query that fills a table, and ``state`` if it can be built incrementally.

    With ``changes``, it only computes the rows of these buckets.
    """
    plan = _plan(request)
    complete = msgspec.structs.replace(request, page=WHOLE_RESULT)
    incremental = _incremental(complete, plan)
    filtered = list(plan.filtered)
    if isinstance(incremental, BuildDecision):
        built = _sql(_compile(complete, plan.build))
        return msgspec.structs.replace(built, filtered=filtered)
    changes = request.changes
    build = incremental.build if changes is None else incremental.only(changes)
    return msgspec.structs.replace(
        _sql(_compile(complete, build)),
        filtered=filtered,
        state=_sql(_compile(complete, incremental.state)),
    )


def _incremental(
    complete: CompileRequest, plan: MaterializationPlan
) -> IncrementalBuild | BuildDecision:
    """How the tables of a plan are built; in full if its SQL may parse a time without a date.

    The meaning of "12:00" depends on the day of the build; only literals such as '2026-01-05' are
    known to have a date.
    """
    planned = plan_incremental(plan.build)
    if isinstance(planned, IncrementalBuild):
        compiled = _compile(complete, planned.build)
        texts = [compiled.params.get(name, "") for name in _PARSED_TIME.findall(compiled.sql)]
        if not all(_WHOLE_TIME.match(str(text)) for text in texts):
            return BuildDecision("full", "The query reads text as a time, which may lack its date.")
    return planned


@_refusing_malformed(CompileRequest)
def compile_read(request: CompileRequest) -> EndpointSql:
    """Compile a run on a table, which the context has as ``TABLE``."""
    seek = request.page.seek
    if seek is not None:
        seek = KeysetCondition(_keys(request), seek.after)
    page = msgspec.structs.replace(request.page, seek=seek)
    read = msgspec.structs.replace(request, query={"kind": HOGQL}, page=page)
    plan = _plan(request)
    return msgspec.structs.replace(_sql(_compile(read, plan.read(TABLE))), rounded=plan.rounded())


def _keys(request: CompileRequest) -> tuple[Key, ...]:
    """The sort order of the saved query; reads of the table use the same columns."""
    first = msgspec.structs.replace(request.page, seek=KeysetCondition())
    saved = msgspec.structs.replace(request, page=first)
    return _compile(saved, request.query["query"]).keys


@_refusing_malformed(CompileRequest)
def preview(request: CompileRequest) -> MaterializationPreview:
    """How a query would be materialized (docs/spec/query-endpoints.md#76-preview)."""
    if request.query["kind"] != HOGQL:
        return _preview_insight(request)
    try:
        plan = _plan(request)
        complete = msgspec.structs.replace(request, page=WHOLE_RESULT)
        _compile(complete, plan.build)
        mode = mode_of(_incremental(complete, plan))
        # The other previews keep the keys that PostHog's clients know.
        is_time_series = groups_by_time(plan.build) and not plan.range_pairs
    except Refusal as refusal:
        return _empty_preview(_ineligible(refusal))
    reading = plan.execution_query(request.table)
    return MaterializationPreview(
        can_materialize=True,
        reason=None,
        transformed_query=plan.transformed_query(),
        execution_query=reading,
        display_execution_query=reading,
        range_pairs=plan.range_pairs,
        aggregates=plan.aggregates,
        build=mode if is_time_series else msgspec.UNSET,
    )


def _preview_insight(request: CompileRequest) -> MaterializationPreview:
    query = request.query
    allowed = eligibility(query)
    refused = _empty_preview(allowed)
    if not allowed.can_materialize:
        return refused
    built = _insight(_without_limit(msgspec.structs.replace(request, query=for_table(query))))
    conditions = "".join(
        f" AND breakdown_value[{number}] = {{variables.{name}}}"
        for number, name in enumerate(breakdown_names(query), 1)
    )
    reading = f"SELECT item FROM {request.table}"  # noqa: S608 (shown to people, never run)
    reading += f" WHERE {conditions.removeprefix(' AND ')}" if conditions else ""
    reading += " ORDER BY position"
    return msgspec.structs.replace(
        refused,
        transformed_query=";\n".join(each.hogql for each in built.queries),
        execution_query=reading,
        display_execution_query=reading,
    )


def _empty_preview(allowed: Eligibility) -> MaterializationPreview:
    return MaterializationPreview(
        can_materialize=allowed.can_materialize,
        reason=allowed.reason,
        reason_code=allowed.reason_code or msgspec.UNSET,
    )


def _eligibility(request: CompileRequest) -> tuple[Eligibility, TableShape | None]:
    try:
        plan = _plan(request)
        built = _compile(msgspec.structs.replace(request, page=WHOLE_RESULT), plan.build)
    except Refusal as refusal:
        return _ineligible(refusal), None
    columns = [(column.label, Type(column.hogql, column.nullable)) for column in built.columns]
    return Eligibility(can_materialize=True), TableShape(columns, list(plan.variables))


def _ineligible(refusal: Refusal) -> Eligibility:
    return Eligibility(
        can_materialize=False, reason=refusal.reason, reason_code=refusal.reason_code
    )


def _without_limit(request: CompileRequest) -> CompileRequest:
    context = request.context and msgspec.structs.replace(request.context, unlimited=True)
    return msgspec.structs.replace(request, context=context)


def _plan(request: CompileRequest) -> MaterializationPlan:
    query = request.query
    return plan_materialization(
        query["query"],
        context=request.query_context(),
        variables=request.variables,
        filters=query.get("filters"),
        values=query.get("values"),
        bucket_overrides=request.buckets,
    )


def _compile(request: CompileRequest, source: "str | tree.Query") -> CompiledQuery:
    """Compile a query, or the tree that replaces it, with the filters of the request."""
    return compile_query(
        source,
        context=request.query_context(),
        variables=request.variables,
        filters=request.query.get("filters"),
        values=request.query.get("values"),
        page=request.page,
    )


def _sql(compiled: CompiledQuery) -> EndpointSql:
    return EndpointSql(
        sql=compiled.sql,
        params=compiled.params,
        columns=[(column.name, column.type) for column in compiled.columns],
        hogql=compiled.hogql,
        limits=compiled.limits,
        text_properties=list(compiled.text_properties),
        keys=compiled.keys,
        system_tables=[name for name in compiled.tables if name in SYSTEM_TABLES],
    )
