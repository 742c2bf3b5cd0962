"""What a run reads: the query with its values or the materialized table, and its cache key.

Source: docs/spec/query-endpoints.md#55-which-source-is-read-and-the-cache and
docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from datetime import datetime
from hashlib import blake2b
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from hoglet.access.principals import Principal, Project
from hoglet.access.variables import InsightVariable
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.insights.variables import DATE_NAMES, bind
from hoglet.endpoints.run.targets import Materialization, RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.endpoints.variables import (
    breakdown_values,
    values_for_run,
    with_moments,
)
from hoglet.hogql.paging.keyset import KeysetCondition
from hoglet.hogql.query_json.nodes import QueryNode, VariableValues
from hoglet.hogql.schema.system import SYSTEM_TABLES
from hoglet.kit.json import is_array
from hoglet.kit.relative_dates import DateClock

_MIN_CACHE_SECONDS = 1
_RAW_WORDS = frozenset({"direct", "force_blocking"})

type ProjectSettings = dict[str, Any]
"""``{"timezone": "Europe/Berlin"}``, as stored with a table and compared."""


class ReadPlan(msgspec.Struct, frozen=True):
    """What to compute; ``materialization`` is set if a materialized table is read.

    ``seek`` is set for a page by cursor; ``system_tables`` are those that the caller may read.
    ``is_reusable`` is false if ``variables`` has a relative date as the moment of this run.
    """

    project: Project
    target: RunTarget
    query: QueryNode
    variables: VariableValues
    limit: int | None
    offset: int | None
    materialization: Materialization | None
    key: str
    seek: KeysetCondition | None = None
    system_tables: tuple[str, ...] = ()
    is_reusable: bool = True

    def is_expired(self, now: datetime) -> bool:
        """Whether the table is due to be built again."""
        return self.materialization is not None and self.materialization.seconds_left(now) <= 0


def plan_read(
    project: Project,
    target: RunTarget,
    request: RunRequest,
    known: list[InsightVariable],
    now: datetime,
) -> ReadPlan:
    """Choose the source and bind the values.

    Raises:
        Invalid: attr ``variables``; a value of the wrong type.
    """
    materialization = _usable_table(project, target, request, now)
    query = _with_overrides(target.query, request)
    if query["kind"] == HOGQL:
        variables = values_for_run(query, request.variables, known)
        read_plan = _read_plan(
            project, target, request, query, variables=variables, materialization=materialization
        )
        clock = DateClock(now, project.timezone, project.week_start_day)
        moments = with_moments(query, variables, known, clock)
        return replace(read_plan, variables=moments, is_reusable=moments == variables)
    variables = breakdown_values(request.variables)
    overridden = request.filters_override or {}
    dates = not any(overridden.get(name) for name in DATE_NAMES)
    query = query if materialization is not None else bind(query, variables, dates=dates)
    return _read_plan(
        project, target, request, query, variables=variables, materialization=materialization
    )


def fall_back_to_inline(read_plan: ReadPlan, request: RunRequest) -> ReadPlan:
    """The same run on the raw data, if the table could not be read after all."""
    query = read_plan.query
    if query["kind"] != HOGQL:
        query = bind(query, read_plan.variables, dates=True)
    return _read_plan(
        read_plan.project,
        read_plan.target,
        request,
        query,
        variables=read_plan.variables,
        materialization=None,
    )


def effective_ttl_seconds(read_plan: ReadPlan, computed_at: datetime) -> float:
    """The cache time of a result: the endpoint's, or until the next build of the table."""
    if read_plan.materialization is None:
        return read_plan.target.cache_seconds
    return max(_MIN_CACHE_SECONDS, read_plan.materialization.seconds_left(computed_at))


def _read_plan(
    project: Project,
    target: RunTarget,
    request: RunRequest,
    query: QueryNode,
    *,
    variables: VariableValues,
    materialization: Materialization | None,
) -> ReadPlan:
    source = None if materialization is None else materialization.table
    seek = None if request.cursor is None else _seek(request.after)
    page = [request.limit, request.offset, *([] if seek is None else [{"after": request.after}])]
    types = project.definitions_version
    parts = [project.id, types, depends_on(query, project), source, query, variables, page]
    text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    key = f"cache_{project.id}_{blake2b(text, digest_size=16).hexdigest()}"
    return ReadPlan(
        project,
        target,
        query,
        variables,
        request.limit,
        request.offset,
        materialization,
        key,
        seek,
        request.system_tables,
    )


def depends_on(query: QueryNode, project: Project) -> ProjectSettings:
    """The settings of the project that the rows of a query depend on.

    They are part of the key of cached results and stored with materialized tables: after a change
    the inline run returns different rows, so the table is not read until it is rebuilt.

    Returns:
        ``{"timezone": "Europe/Berlin"}``, with ``test_account_filters`` if the query uses them.
    """
    settings: ProjectSettings = {"timezone": project.timezone}
    if project.week_start_day:  # omitted if weeks start on Sunday, the former behavior
        settings["week_start_day"] = project.week_start_day
    filters = query if query["kind"] != HOGQL else query.get("filters") or {}
    if filters.get("filterTestAccounts"):
        settings["test_account_filters"] = project.test_account_filters
    return settings


def _seek(after: list[Any] | None) -> KeysetCondition:
    return KeysetCondition(after=None if after is None else tuple(after))


def _usable_table(
    project: Project, target: RunTarget, request: RunRequest, now: datetime
) -> Materialization | None:
    materialization = target.materialization
    is_overridden = request.filters_override is not None or request.query_override is not None
    if materialization is None or is_overridden or request.refresh in _RAW_WORDS:
        return None
    if materialization.plan.built_for != depends_on(target.query, project):
        return None
    return materialization if materialization.seconds_left(now) > 0 else None


def _with_overrides(query: QueryNode, request: RunRequest) -> QueryNode:
    changed = {**query, **(request.query_override or {})}
    filters = request.filters_override
    if filters is None:
        return changed
    dates = {name: filters[name] for name in ("date_from", "date_to") if filters.get(name)}
    if query["kind"] == HOGQL:
        changed["filters"] = _merged_filters(
            changed.get("filters"), dates, filters.get("properties")
        )
        return changed
    if dates:
        changed["dateRange"] = {**(changed.get("dateRange") or {}), **dates}
    if filters.get("properties"):
        changed["properties"] = both_filters(changed.get("properties"), filters["properties"])
    return changed


def _merged_filters(
    filters: dict[str, Any] | None, dates: dict[str, str], properties: Any
) -> dict[str, Any]:
    merged = dict(filters or {})
    if dates:
        merged["dateRange"] = {**(merged.get("dateRange") or {}), **dates}
    if properties:
        merged["properties"] = both_filters(merged.get("properties"), properties)
    return merged


def both_filters(saved: Any, more: Any) -> Any:
    """Property filters combined with AND; each is a list or a group ``{type, values}``."""
    if not saved:
        return more
    if is_array(saved) and is_array(more):
        return [*saved, *more]
    return {"type": "AND", "values": [_group(saved), _group(more)]}


def _group(properties: Any) -> Any:
    return {"type": "AND", "values": properties} if is_array(properties) else properties


def readable_system_tables(principal: Principal) -> tuple[str, ...]:
    """The ``system`` tables that queries of a caller may read, e.g. ``("system.actions",)``."""
    return tuple(name for name, each in SYSTEM_TABLES.items() if principal.may(each.scope))
