"""Creates, updates and deletes endpoints and their versions. No SQL, no HTTP.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies and
docs/spec/query-endpoints.md#4-versions.
"""

from collections.abc import Sequence
from datetime import timedelta

import msgspec
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity
from hoglet.access.auth import AccessService
from hoglet.access.principals import Project, ProjectScope
from hoglet.access.variables import InsightVariable, list_variables
from hoglet.endpoints import errors, repository, variables
from hoglet.endpoints.analysis.model import Analysis, Analyzer, Buckets
from hoglet.endpoints.analysis.save_checks import (
    check_breakdowns,
    refuse_contradictions,
    refuse_ineligible,
)
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.materialization.scheduler import MaterializationScheduler
from hoglet.endpoints.query_schema import expand
from hoglet.endpoints.repository import FoundEndpoint, ListFilters
from hoglet.endpoints.row_factory import (
    active_after,
    apply_active,
    apply_rest,
    apply_times,
    new_rows,
    next_version,
    sorted_tags,
)
from hoglet.endpoints.schemas import CreateBody, UpdateBody
from hoglet.endpoints.tables import EndpointRow, EndpointVersionRow
from hoglet.hogql.errors import UNKNOWN_FUNCTION
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import HogletError, Invalid, NotFound, SourceError
from hoglet.kit.json import same_json

HALF_YEAR = timedelta(days=183)
_TIMES = ("cache_age_seconds", "data_freshness_seconds", "sync_frequency")


class Changed(msgspec.Struct, frozen=True):
    """The outcome of a PATCH: the version to return (``targeted``: as a version object)."""

    stored: FoundEndpoint
    targeted: bool
    materialization_error: str | None = None


class EndpointService:
    """Manages endpoints; runs are elsewhere.

    Args:
        access: database, clock, activity log.
        analyzer: analyzes queries.
        materializer: schedules materializations.
    """

    def __init__(
        self, access: AccessService, analyzer: Analyzer, materializer: MaterializationScheduler
    ) -> None:
        self._access = access
        self._database = access.database
        self._clock = access.clock
        self._analyzer = analyzer
        self._materializer = materializer

    async def create(self, scope: ProjectScope, body: CreateBody) -> FoundEndpoint:
        """Create an endpoint with version 1.

        Raises:
            Invalid: a field is invalid; nothing is saved.
        """
        refuse_contradictions(body, is_active=body.is_active is not False)
        query, analysis = await self._read_query(scope.project, body.query, body.bucket_overrides)
        check_breakdowns(body.optional_breakdown_properties, query, analysis)
        if body.is_materialized:
            refuse_ineligible(analysis)
        async with self._database.write() as session:
            if await repository.find_endpoint(session, scope.project.id, body.name):
                raise errors.name_taken(body.name)
            endpoint, version = new_rows(scope, body, query, analysis, self._clock.now())
            session.add(endpoint)
            await _claim(session, body.name)
            session.add(version)
            await session.flush()
            if body.is_materialized:
                await self._materializer.enable(session, scope.project, endpoint, version)
            await self._log(session, scope, endpoint, "created")
            stored = await repository.find_version(session, endpoint)
        return _must(stored)

    async def read(
        self, scope: ProjectScope, name: str, number: int | None = None
    ) -> FoundEndpoint:
        """An endpoint with a version (the current one by default).

        Raises:
            NotFound: no such endpoint, or no such version (with ``error``).
        """
        async with self._database.read() as session:
            return await self._find(session, scope, name, number)

    async def read_with_current(
        self, scope: ProjectScope, name: str, number: int
    ) -> tuple[FoundEndpoint, EndpointVersionRow]:
        """A version together with the current one."""
        async with self._database.read() as session:
            stored = await self._find(session, scope, name, number)
            current = await self._find(session, scope, name)
        return stored, current.version

    async def page(
        self, scope: ProjectScope, filters: ListFilters
    ) -> tuple[int, Sequence[FoundEndpoint]]:
        """The number of matching endpoints, and a page of them, newest first."""
        async with self._database.read() as session:
            return await repository.list_endpoints(session, scope.project.id, filters)

    async def versions(
        self, scope: ProjectScope, name: str, *, limit: int | None, offset: int
    ) -> tuple[EndpointVersionRow, Sequence[FoundEndpoint]]:
        """The current version, and a page of all versions, newest first."""
        async with self._database.read() as session:
            current = await self._find(session, scope, name)
            page = await repository.list_versions(
                session, current.endpoint, limit=limit, offset=offset
            )
        return current.version, page

    async def delete(self, scope: ProjectScope, name: str) -> None:
        """Soft-delete an endpoint: all its routes return 404 and its name becomes available."""
        async with self._database.write() as session:
            stored = await self._find_target(session, scope, name, None)
            endpoint = stored.endpoint
            endpoint.live_name = None
            endpoint.updated_at = self._clock.now()
            await self._materializer.disable_all(session, endpoint.id)
            await self._log(session, scope, endpoint, "deleted")

    async def update(
        self, scope: ProjectScope, name: str, body: UpdateBody, target: int | None
    ) -> Changed:
        """Update an endpoint, or (``target``) one of its versions.

        Raises:
            NotFound: no such endpoint.
            Invalid: a field is invalid; nothing is saved.
        """
        if target is not None and body.query is not None:
            raise Invalid(
                "The query of a version cannot be changed: a changed query creates a "
                "version. Send query without version.",
                attr="query",
            )
        prepared = None
        if body.query is not None:
            await self.read(scope, name)
            prepared = await self._read_query(scope.project, body.query, body.bucket_overrides)
        elif body.bucket_overrides is not None or body.is_materialized:
            prepared = await self._read_again(scope, name, target, body.bucket_overrides)
        async with self._database.write() as session:
            stored = await self._find_target(session, scope, name, target)
            return await self._change(
                session, scope, stored, body, prepared, targeted=target is not None
            )

    async def variables(self, scope: ProjectScope) -> Sequence[InsightVariable]:
        """The project's variables."""
        async with self._database.read() as session:
            return await list_variables(session, scope.project.id)

    async def last_executions(self, scope: ProjectScope, names: Sequence[str]) -> list[list[str]]:
        """``[["a", "2026-01-05T12:00:00+00:00"]]`` for endpoints that ran in the last half year."""
        since = self._clock.now() - HALF_YEAR
        async with self._database.read() as session:
            rows = await repository.last_executions(session, scope.project.id, names, since)
        return [[name, at.isoformat()] for name, at in rows]

    async def _change(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        stored: FoundEndpoint,
        body: UpdateBody,
        prepared: tuple[QueryNode, Analysis] | None,
        *,
        targeted: bool,
    ) -> Changed:
        endpoint, now = stored.endpoint, self._clock.now()
        changed = (
            body.query is not None and prepared and not same_json(prepared[0], stored.version.query)
        )
        active = active_after(stored, body, targeted=targeted, renewed=bool(changed))
        refuse_contradictions(body, is_active=active)
        version = stored.version
        if changed and prepared:
            version = next_version(scope, stored, *prepared, now)
            session.add(version)
            endpoint.current_version = version.number
        elif prepared:
            version.analysis = msgspec.to_builtins(prepared[1])
        apply_times(version, body)
        apply_rest(version, body)
        apply_active(endpoint, version, body, targeted=targeted)
        if body.tags is not None:
            endpoint.tags = sorted_tags(body.tags)
        endpoint.updated_at = version.updated_at = now
        await session.flush()
        problem = await self._follow_materialization(session, scope, stored, version, body)
        await self._log(session, scope, endpoint, "updated")
        after = await repository.find_version(session, endpoint, version.number)
        return Changed(_must(after), targeted, problem)

    async def _follow_materialization(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        before: FoundEndpoint,
        version: EndpointVersionRow,
        body: UpdateBody,
    ) -> str | None:
        """Enable, disable or reschedule the materialization after an update.

        Returns the error of a new version that cannot be materialized.
        """
        endpoint, analysis = before.endpoint, msgspec.convert(version.analysis, Analysis)
        if not endpoint.is_active:
            await self._materializer.disable_all(session, endpoint.id)
            return None
        is_new = version.id != before.version.id
        had = before.materialization is not None
        if not version.is_active or (body.is_materialized is False and not (is_new and not had)):
            await self._materializer.disable(session, version.id)
            return None
        if body.is_materialized:
            refuse_ineligible(analysis)
        elif is_new and had and not analysis.eligibility.can_materialize:
            return analysis.eligibility.reason
        rescheduled = had and (any(map(body.sent, _TIMES)) or body.sent("bucket_overrides"))
        if body.is_materialized or (had and is_new) or rescheduled:
            try:
                await self._materializer.enable(session, scope.project, endpoint, version)
            except HogletError as error:
                if not is_new or body.is_materialized:
                    raise
                return error.detail
        return None

    async def _read_query(
        self, project: Project, query: QueryNode, buckets: Buckets | None
    ) -> tuple[QueryNode, Analysis]:
        """The query to store, and its analysis."""
        expanded = expand(query)
        async with self._database.read() as session:
            known = await list_variables(session, project.id)
        analysis = await self._analyze(project, expanded, buckets)
        if expanded["kind"] == HOGQL:
            synced = variables.synchronize(expanded["variables"], analysis.variables, known)
            expanded = {**expanded, "variables": synced}
            if analysis.variables:
                analysis = await self._analyze(project, expanded, buckets)
        return expanded, analysis

    async def _read_again(
        self, scope: ProjectScope, name: str, target: int | None, buckets: Buckets | None
    ) -> tuple[QueryNode, Analysis]:
        """The stored query, analyzed with the current types of its properties."""
        async with self._database.read() as session:
            version = (await self._find_target(session, scope, name, target)).version
        buckets = version.bucket_overrides if buckets is None else buckets
        return version.query, await self._analyze(scope.project, version.query, buckets)

    async def _analyze(
        self, project: Project, query: QueryNode, buckets: Buckets | None
    ) -> Analysis:
        try:
            return await self._analyzer.analyze(project, query, buckets)
        except SourceError as error:
            # Bad SQL is invalid_input (docs/spec/query-endpoints.md#3-create-and-update-bodies),
            # but 10.4 has a code for unknown functions.
            code = UNKNOWN_FUNCTION if error.error_code == UNKNOWN_FUNCTION else "invalid_input"
            attr = f"query__{error.attr}" if error.attr else "query"
            raise Invalid(error.advice, code=code, attr=attr) from None
        except Invalid as error:
            error.attr = error.attr or "query"
            raise

    async def _find(
        self, session: AsyncSession, scope: ProjectScope, name: str, number: int | None = None
    ) -> FoundEndpoint:
        endpoint = await repository.find_endpoint(session, scope.project.id, name)
        if endpoint is None:
            raise NotFound
        stored = await repository.find_version(session, endpoint, number)
        if stored is None and number is not None:
            raise errors.unknown_version(number, name, endpoint.current_version)
        return _must(stored)

    async def _find_target(
        self, session: AsyncSession, scope: ProjectScope, name: str, target: int | None
    ) -> FoundEndpoint:
        endpoint = await repository.find_endpoint(session, scope.project.id, name, lock=True)
        if endpoint is None:
            raise NotFound
        stored = await repository.find_version(session, endpoint, target)
        if stored is None and target is not None:
            raise errors.unknown_target(target, name)
        return _must(stored)

    async def _log(
        self, session: AsyncSession, scope: ProjectScope, endpoint: EndpointRow, activity: str
    ) -> None:
        entry = Activity.by(scope, activity, "Endpoint", (endpoint.id, endpoint.name))
        await self._access.activity.record(session, entry)


def _must(stored: FoundEndpoint | None) -> FoundEndpoint:
    if stored is None:
        raise NotFound
    return stored


async def _claim(session: AsyncSession, name: str) -> None:
    """Write a new endpoint; on PostgreSQL a concurrent request may have taken the name."""
    try:
        await session.flush()
    except IntegrityError:
        raise errors.name_taken(name) from None
