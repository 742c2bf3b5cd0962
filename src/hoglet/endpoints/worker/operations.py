"""Sandbox operations of endpoints: parsing and compiling user queries.

Payloads and results are plain values (see ``hoglet.sandbox``). A payload is::

    {"query": {"kind": "HogQLQuery", "query": "SELECT 1", ...}, "context": {...},
     "variables": {"plan": "pro"}, "limit": None, "offset": None}
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import wraps
from typing import Any

import msgspec

from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.insights.variables import (
    breakdown_names,
    eligibility,
    for_table,
    refuse_live,
)
from hoglet.hogql.ast_builders import TRUE, every
from hoglet.hogql.compile import CompiledQuery, compile_query
from hoglet.hogql.context import (
    CohortRef,
    Limits,
    QueryContext,
    SavedColumn,
    SavedTable,
)
from hoglet.hogql.diagnostics import explain
from hoglet.hogql.errors import ERRORS_OF_RUNS, Fragment, in_fragment
from hoglet.hogql.filters.properties import filter_expressions
from hoglet.hogql.frontend.preprocess import read_expression, read_query
from hoglet.hogql.insights import compile_insight as compile_insight_queries
from hoglet.hogql.insights import expressions
from hoglet.hogql.materialize import (
    MaterialisationPlan,
    Refusal,
    plan_materialisation,
)
from hoglet.hogql.materialize.incremental import (
    BuildMode,
    ChangedBuckets,
    IncrementalBuild,
    groups_by_time,
    mode_of,
    plan_incremental,
)
from hoglet.hogql.materialize.predicates import variables_in
from hoglet.hogql.materialize.refusal import INVALID
from hoglet.hogql.paging.keyset import KeysetCondition
from hoglet.hogql.query_upgrade import upgraded
from hoglet.hogql.schema.system import SYSTEM_TABLES
from hoglet.hogql.types import Type
from hoglet.kit.errors import SourceError
from hoglet.kit.json_values import object_at

type Json = dict[str, Any]

TABLE = "materialized_table"
_PARSED_TIME = re.compile(r"BestEffort\w*\((?:\{(\w+):String\})?")
_WHOLE_TIME = re.compile(r"\d{4}-\d\d-\d\d")
_MALFORMED = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
INSIGHT_COLUMNS: list[Any] = [
    ["position", {"name": "Integer"}],
    ["breakdown_value", {"name": "Array", "item": {"name": "String"}}],
    ["item", {"name": "String"}],
]


def _refusing_malformed[**P](operation: Callable[P, Json]) -> Callable[P, Json]:
    """Report malformed nested parts (such as a string as filter) as errors of the query.

    Series and filters have many forms, which are parsed where they are used; whatever does not fit
    there is an error of the author.
    """

    @wraps(operation)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Json:
        try:
            return operation(*args, **kwargs)
        except _MALFORMED as error:
            raise SourceError(
                f"A part of the query has an unexpected form ({error}).", code="hogql_query_error"
            ) from error

    return guarded


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


@_refusing_malformed
def compile_insight(payload: Json) -> Json:
    """Compile the queries of an insight to SQL on the raw data."""
    context = context_of(payload["context"])
    plan, compiled = compile_insight_queries(payload["query"], context)
    return {"queries": [_plain(each) for each in compiled], "date_range": plan.date_range}


@_refusing_malformed
def compile_run(payload: Json) -> Json:
    """Compile a query with its values to SQL on the raw data."""
    query = payload["query"]
    return _plain(_compile(payload, query["query"], query))


@_refusing_malformed
def explain_refusal(payload: Json) -> Json:
    """Raise an engine error as an error of the query's text, or of an expression in its keys.

    The payload is ``{"query": {...}, "message": "...", "code": "no_common_type"}``.
    """
    query = payload["query"]
    roots: list[Any] = []
    fragments: list[Fragment] = []
    length = 0
    if query["kind"] == HOGQL:
        roots.append(read_query(query["query"]))
        length = len(query["query"])
    for path, text in _expressions(query):
        length += 1
        fragments.append(Fragment(path, length, text))
        # Blanks before it give each expression offsets of its own.
        roots.append(every([read_expression(" " * length + text), TRUE]))
        length += len(text)
    error = explain(payload["message"], payload["code"], tuple(roots))
    raise in_fragment(error, fragments) or error


def _expressions(query: Json) -> Iterator[tuple[str, str]]:
    if query["kind"] != HOGQL:
        yield from expressions(upgraded(query))
        return
    filters = object_at(query, "filters")
    yield from filter_expressions(filters.get("properties"), "filters__properties")


@_refusing_malformed
def analyze(payload: Json) -> Json:
    """The columns of a query, its variables, and whether it can be materialized."""
    query = payload["query"]
    if query["kind"] != HOGQL:
        return _analyse_insight(payload)
    try:
        compiled = compile_query(
            query["query"],
            context=context_of(payload["context"]),
            variables=AnyValue(payload["variables"]),
            filters=query.get("filters"),
            values=query.get("values"),
        )
    except SourceError as error:
        if error.error_code not in ERRORS_OF_RUNS:
            raise
        return _analyse_failing(query, error)
    return {
        "columns": [{"name": column.name, "type": column.type} for column in compiled.columns],
        "types": [msgspec.to_builtins(column.kind) for column in compiled.columns],
        "variables": list(compiled.variables_used),
        "uses_filters": compiled.has_filters,
        **_eligibility(payload),
    }


def _analyse_failing(query: Json, error: SourceError) -> Json:
    """The partial analysis of a query that parses but will fail when run (ADR 14)."""
    refusal = Refusal(f"The query is not valid: {error}", code=INVALID)
    return {"variables": variables_in(read_query(query["query"])), **_ineligible(refusal)}


def _analyse_insight(payload: Json) -> Json:
    query = payload["query"]
    context = payload["context"] | {"unlimited": True}
    compiled = compile_insight(payload | {"context": context})
    names = breakdown_names(query)
    live = [name for each in compiled["queries"] for name in each["system_tables"]]
    allowed = refuse_live(live[0]) if live else eligibility(query)
    plan = {"columns": INSIGHT_COLUMNS, "variables": names} if allowed.can_materialize else None
    return {
        "breakdowns": names,
        "eligibility": msgspec.to_builtins(allowed),
        "plan": plan,
    }


@_refusing_malformed
def compile_build(payload: Json) -> Json:
    """Compile the query that fills a table, and ``state`` if it can be built incrementally.

    With ``changes`` (``{"buckets": ["2026-01-05 00:00:00"], "first": …, "last": …}``) it computes
    the rows of these buckets only.
    """
    plan, query = _plan(payload), payload["query"]
    complete = payload | {"limit": None, "offset": None}
    incremental = _incremental(complete, plan)
    if isinstance(incremental, BuildMode):
        return _plain(_compile(complete, plan.build, query)) | {"filtered": plan.filtered}
    changes = payload.get("changes")
    only = None if changes is None else msgspec.convert(changes, ChangedBuckets)
    build = incremental.build if only is None else incremental.only(only)
    return _plain(_compile(complete, build, query)) | {
        "filtered": plan.filtered,
        "state": _plain(_compile(complete, incremental.state, query)),
    }


def _incremental(complete: Json, plan: MaterialisationPlan) -> IncrementalBuild | BuildMode:
    """How tables of a plan are built; in full if its SQL may turn incomplete text into times.

    "12:00" depends on the day of the build; only literals such as '2026-01-05' are known to be
    complete.
    """
    planned = plan_incremental(plan.build)
    if isinstance(planned, IncrementalBuild):
        compiled = _compile(complete, planned.build, complete["query"])
        texts = [compiled.params.get(name, "") for name in _PARSED_TIME.findall(compiled.sql)]
        if not all(_WHOLE_TIME.match(str(text)) for text in texts):
            return BuildMode("full", "The query reads text as a time, which may lack its date.")
    return planned


@_refusing_malformed
def compile_read(payload: Json) -> Json:
    """Compile a run on a table, which the context has as ``TABLE``."""
    if payload.get("seek") is not None:
        payload = payload | {"seek": payload["seek"] | {"keys": _keys(payload)}}
    return _plain(_compile(payload, _plan(payload).read(TABLE), {}))


def _keys(payload: Json) -> Any:
    """The sort order of the saved query: reads of the table have the same columns."""
    query = payload["query"]
    first = payload | {"seek": {"after": None}}
    return _compile(first, query["query"], query).keys


@_refusing_malformed
def preview(payload: Json) -> Json:
    """How a query would be materialized (docs/spec/query-endpoints.md#76-preview)."""
    if payload["query"]["kind"] != HOGQL:
        return _preview_insight(payload)
    try:
        plan = _plan(payload)
        complete = payload | {"limit": None, "offset": None}
        _compile(complete, plan.build, payload["query"])
        mode = mode_of(_incremental(complete, plan))
        # The other previews keep the keys that PostHog's clients know.
        is_time_series = groups_by_time(plan.build) and not plan.range_pairs
    except Refusal as refusal:
        return _empty_preview(False, refusal.reason, refusal.reason_code)
    return {
        "can_materialize": True,
        "reason": None,
        "transformed_query": plan.transformed_query(),
        "execution_query": plan.execution_query(payload["table"]),
        "display_execution_query": plan.execution_query(payload["table"]),
        "range_pairs": [msgspec.to_builtins(pair) for pair in plan.range_pairs],
        "aggregates": [msgspec.to_builtins(each) for each in plan.aggregates],
        **({"build": msgspec.to_builtins(mode)} if is_time_series else {}),
    }


def _preview_insight(payload: Json) -> Json:
    query = payload["query"]
    allowed = eligibility(query)
    shown = _empty_preview(allowed.can_materialize, allowed.reason, allowed.reason_code)
    if not allowed.can_materialize:
        return shown
    context = payload["context"] | {"unlimited": True}
    built = compile_insight(payload | {"query": for_table(query), "context": context})
    conditions = "".join(
        f" AND breakdown_value[{number}] = {{variables.{name}}}"
        for number, name in enumerate(breakdown_names(query), 1)
    )
    reading = f"SELECT item FROM {payload['table']}"  # noqa: S608 (shown to people, never run)
    reading += f" WHERE {conditions.removeprefix(' AND ')}" if conditions else ""
    reading += " ORDER BY position"
    return shown | {
        "transformed_query": ";\n".join(each["hogql"] for each in built["queries"]),
        "execution_query": reading,
        "display_execution_query": reading,
    }


def _empty_preview(can: bool, reason: str | None, code: str | None) -> Json:  # noqa: FBT001 (private)
    return {
        "can_materialize": can,
        "reason": reason,
        **({"reason_code": code} if code else {}),
        "transformed_query": None,
        "execution_query": None,
        "display_execution_query": None,
        "range_pairs": [],
        "aggregates": [],
    }


def _eligibility(payload: Json) -> Json:
    try:
        plan = _plan(payload)
        built = _compile(payload | {"limit": None, "offset": None}, plan.build, payload["query"])
    except Refusal as refusal:
        return _ineligible(refusal)
    columns = [
        [column.label, {"name": column.hogql, "nullable": column.nullable}]
        for column in built.columns
    ]
    return {
        "eligibility": {"can_materialize": True, "reason": None, "reason_code": None},
        "plan": {"columns": columns, "variables": list(plan.variables)},
    }


def _ineligible(refusal: Refusal) -> Json:
    told = {"reason": refusal.reason, "reason_code": refusal.reason_code}
    return {"eligibility": {"can_materialize": False, **told}, "plan": None}


def _plan(payload: Json) -> MaterialisationPlan:
    query = payload["query"]
    return plan_materialisation(
        query["query"],
        context=context_of(payload["context"]),
        variables=payload["variables"],
        filters=query.get("filters"),
        values=query.get("values"),
        bucket_overrides=payload.get("buckets"),
    )


def _compile(payload: Json, source: Any, query: Json) -> CompiledQuery:
    return compile_query(
        source,
        context=context_of(payload["context"]),
        variables=payload["variables"],
        filters=query.get("filters"),
        values=query.get("values"),
        limit=payload.get("limit"),
        offset=payload.get("offset") or 0,
        seek=_seek(payload.get("seek")),
    )


def _seek(plain: Json | None) -> KeysetCondition | None:
    if plain is None:
        return None
    after = plain["after"]
    return KeysetCondition(plain.get("keys"), None if after is None else tuple(after))


def _plain(compiled: CompiledQuery) -> Json:
    return {
        "sql": compiled.sql,
        "params": compiled.params,
        "columns": [[column.name, column.type] for column in compiled.columns],
        "hogql": compiled.hogql,
        "limits": msgspec.to_builtins(compiled.limits),
        "keys": msgspec.to_builtins(compiled.keys),
        "system_tables": [name for name in compiled.tables if name in SYSTEM_TABLES],
    }


def context_of(plain: Json) -> QueryContext:
    """The compiler's context of a project, from plain values."""
    return QueryContext(
        project_id=plain["project_id"],
        timezone=plain["timezone"],
        week_start_day=plain.get("week_start_day", 0),
        property_types={(kind, name): type_ for kind, name, type_ in plain["property_types"]},
        property_forms={(kind, name): form for kind, name, form in plain["property_forms"]},
        group_types=plain["group_types"],
        actions=plain["actions"],
        cohorts=msgspec.convert(plain.get("cohorts", {}), dict[str, CohortRef]),
        saved_tables={name: _saved_table(table) for name, table in plain["saved_tables"].items()},
        test_account_filters=tuple(plain["test_account_filters"]),
        readable_system_tables=frozenset(plain.get("readable_system_tables", ())),
        now=datetime.fromisoformat(plain["now"]),
        is_now_pinned=plain.get("is_now_pinned", False),
        limits=Limits(max_limit=None) if plain["unlimited"] else Limits(),
    )


def _saved_table(plain: Json) -> SavedTable:
    columns = (SavedColumn(name, msgspec.convert(type_, Type)) for name, type_ in plain["columns"])
    return SavedTable(plain["physical"], tuple(columns))
