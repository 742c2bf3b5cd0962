"""Analyzes queries: references, columns, and whether they can be materialized.

A query is analyzed when it is saved, and again with the project's current definitions when its
record is read: ``sum(properties.price)`` cannot run until an event has a numeric price.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies,
docs/spec/query-endpoints.md#72-what-can-be-materialized and
docs/spec/data-and-queries.md#24-what-the-type-does-to-queries.
"""

from hashlib import blake2b
from typing import Any
from uuid import UUID

import msgspec

from hoglet.access.principals import Project
from hoglet.endpoints.analysis.infer_types import derive_types
from hoglet.endpoints.analysis.model import Analysis, Buckets, Eligibility
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.repository import FoundEndpoint
from hoglet.endpoints.variables import stored_values
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.endpoints.worker.messages import CompileRequest, MaterializationPreview
from hoglet.endpoints.worker.query_errors import as_query_error
from hoglet.hogql.errors import ERRORS_OF_RUNS
from hoglet.hogql.materialize.refusal import INVALID
from hoglet.hogql.query_json.nodes import QueryNode, VariableValues
from hoglet.hogql.schema.system import SYSTEM_TABLES
from hoglet.kit.cache import BoundedCache
from hoglet.kit.errors import HogletError
from hoglet.warehouse import Warehouse
from hoglet.warehouse.errors import QueryRefused

# Paths of operations, so that the server does not import what only workers run.
_ANALYZE = "hoglet.endpoints.worker.operations:analyze"
_PREVIEW = "hoglet.endpoints.worker.operations:preview"

EVERY_SYSTEM_TABLE = tuple(SYSTEM_TABLES)
"""Analysis may refer to every system table; runs check the scopes of their caller."""


class QueryAnalyzer:
    """The ``Analyzer`` of the server, based on the compiler."""

    def __init__(self, compiler: QueryCompiler, warehouse: Warehouse) -> None:
        self._compiler = compiler
        self._warehouse = warehouse

    async def analyze(
        self, project: Project, query: QueryNode, buckets: Buckets | None
    ) -> Analysis:
        """See ``analysis.Analyzer``."""
        request = await self._request(project, query, buckets)
        analysis = await self._compiler.call(_ANALYZE, request, Analysis)
        if query.get("kind") != HOGQL or _has_no_value(analysis, request.variables):
            return analysis
        try:
            compiled = await self._compiler.compile(
                project, query, variables=request.variables, system_tables=EVERY_SYSTEM_TABLE
            )
            return await derive_types(analysis, compiled, self._warehouse)
        except QueryRefused as error:
            explained = await self._compiler.explained(query, error)
            if explained.error_code in ERRORS_OF_RUNS:
                return _failing(analysis, explained)
            return analysis  # a value of the wrong type, which the build or the run reports
        except HogletError:
            return analysis

    async def preview(
        self, project: Project, query: QueryNode, buckets: Buckets | None, table: str
    ) -> MaterializationPreview:
        """How a query would be materialized as a table of that name."""
        request = await self._request(project, query, buckets)
        request = msgspec.structs.replace(request, table=table)
        return await self._compiler.call(_PREVIEW, request, MaterializationPreview)

    async def _request(
        self, project: Project, query: QueryNode, buckets: Buckets | None
    ) -> CompileRequest:
        definitions = {} if not isinstance(query.get("variables"), dict) else stored_names(query)
        context = await self._compiler.context(project, system_tables=EVERY_SYSTEM_TABLE)
        return CompileRequest(
            query=query,
            variables=definitions,
            buckets=buckets,
            context=self._compiler.stamped(context),
        )


def _failing(analysis: Analysis, error: HogletError) -> Analysis:
    """The analysis of a query that parses but that the engine rejects (ADR 14)."""
    reason = f"The query is not valid: {as_query_error(error)}"
    refusal = Eligibility(can_materialize=False, reason=reason, reason_code=INVALID)
    return msgspec.structs.replace(analysis, columns=[], types=[], eligibility=refusal, plan=None)


def _has_no_value(analysis: Analysis, values: VariableValues) -> bool:
    """Whether a variable of the query has no value yet, so that its type is unknown."""
    return any(values.get(name) is None for name in analysis.variables)


def stored_names(query: QueryNode) -> VariableValues:
    """Values by code name of a query whose variables may be incomplete."""
    if all("code_name" in each for each in query["variables"].values()):
        return {name: each.get("value") for name, each in stored_values(query).items()}
    return {}


type Json = dict[str, Any]

_CAPACITY = 2_000


class CurrentAnalyses:
    """Analyzes versions again when the definitions of their project have changed.

    Concurrency: safe within one event loop; two callers may analyze the same version at once.
    """

    def __init__(self, compiler: QueryCompiler, analyzer: QueryAnalyzer) -> None:
        self._compiler = compiler
        self._analyzer = analyzer
        self._known = BoundedCache[UUID, tuple[bytes, Json]](_CAPACITY)

    async def show(self, project: Project, endpoint: FoundEndpoint) -> FoundEndpoint:
        """The same version with its current analysis, for display only; it is not stored.

        Returns the stored analysis for a version that cannot be analyzed at the moment, and for a
        materialized one, whose table was built from that analysis.
        """
        if endpoint.materialization is None:
            try:
                endpoint.version.analysis = await self._analysis(project, endpoint)
            except HogletError:
                return endpoint
        return endpoint

    async def _analysis(self, project: Project, endpoint: FoundEndpoint) -> Json:
        version = endpoint.version
        context = await self._compiler.context(project, system_tables=EVERY_SYSTEM_TABLE)
        parts = [context, version.query, version.bucket_overrides]
        seen = blake2b(msgspec.json.encode(parts, order="sorted"), digest_size=16).digest()
        known = self._known.get(version.id)
        if known is not None and known[0] == seen:
            return known[1]
        fresh = await self._analyzer.analyze(project, version.query, version.bucket_overrides)
        analysis = msgspec.to_builtins(fresh)
        self._known.put(version.id, (seen, analysis))
        return analysis
