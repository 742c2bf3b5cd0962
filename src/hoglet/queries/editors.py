"""Editor queries: the database schema, errors of a text, completions.

User text is parsed in a worker, see ``hoglet.queries.worker``.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.access.principals import Project, ProjectScope
from hoglet.definitions.conversion import ConversionShares
from hoglet.endpoints.analysis.infer_types import describe
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.plan import readable_system_tables
from hoglet.endpoints.run.runner import EndpointRunner
from hoglet.endpoints.variables import values_for_run
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.endpoints.worker.messages import CompileContext
from hoglet.hogql.errors import is_certain
from hoglet.hogql.query_json.nodes import QueryNode, VariableValues
from hoglet.kit.errors import HogletError, Invalid, SourceError, Unreadable
from hoglet.queries import repository
from hoglet.queries.database_schema import DatabaseSchema, database_schema
from hoglet.queries.editor_query_schemas import LANGUAGES, METADATA, SCHEMA
from hoglet.queries.service import with_known_variables
from hoglet.queries.worker.diagnostics import finding, of_error
from hoglet.queries.worker.messages import CompleteRequest, Inspected, InspectRequest, Report
from hoglet.queries.worker.suggestion import Completions
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.warehouse.errors import QueryRefused

# Paths of operations, so that the server does not import what only workers run.
_INSPECT = "hoglet.queries.worker.metadata:inspect"
_COMPLETE = "hoglet.queries.worker.autocomplete:complete"


class EditorQueries:
    """Answers the three kinds of editor queries; nothing is run or cached."""

    def __init__(
        self,
        database: Database,
        compiler: QueryCompiler,
        runner: EndpointRunner,
        warehouse: Warehouse,
        shares: ConversionShares,
    ) -> None:
        self._database = database
        self._compiler = compiler
        self._runner = runner
        self._warehouse = warehouse
        self._shares = shares

    async def answer(self, scope: ProjectScope, node: QueryNode) -> Mapping[str, Any]:
        """The response to a validated editor query."""
        if node["kind"] == SCHEMA:
            return await self._schema(scope)
        if node["kind"] == METADATA:
            tables = readable_system_tables(scope.principal)
            return (await self.inspect(scope.project, node, tables)).metadata
        return await self._autocomplete(scope, node)

    async def inspect(
        self, project: Project, node: QueryNode, system_tables: Sequence[str]
    ) -> Inspected:
        """The findings and the plan of a validated metadata query."""
        try:
            variables = await self._variables(project, node)
            request = InspectRequest(
                node | {"variables": variables},
                await self._context(project, system_tables),
                await self._unconverted_shares(project, node["query"]),
            )
            report = await self._compiler.call(_INSPECT, request, Inspected)
        except (Invalid, SourceError, Unreadable) as error:
            failed = Report(node["query"])
            failed.errors.append(finding(node["query"], error.detail))
            return Inspected(failed.answer(), [])
        body = report.metadata
        if node["language"] == LANGUAGES[0] and body["isValid"]:
            error = await self._refusal(project, node, variables, system_tables)
            if error is not None:
                body["errors"] = [of_error(node["query"], error)]
                body["isValid"] = False
        return report

    async def _refusal(
        self,
        project: Project,
        node: QueryNode,
        variables: VariableValues,
        system_tables: Sequence[str],
    ) -> SourceError | None:
        """The error that the compiler or engine reports for a query, if any; reads no data."""
        query = {key: node.get(key) for key in ("query", "filters", "values")} | {"kind": HOGQL}
        try:
            compiled = await self._compiler.compile(
                project, query, variables=variables, system_tables=system_tables
            )
            if any(value is None for value in variables.values()) or compiled.system_tables:
                return None
            await describe(self._warehouse, compiled)
        except QueryRefused as error:
            explained = await self._compiler.explained(query, error)
            certain = _certain(explained, node["query"])
            return certain or (None if variables else _at_a_place(explained))
        except HogletError as error:
            return _certain(error, node["query"])
        return None

    async def explain(
        self, project: Project, query: QueryNode, system_tables: Sequence[str]
    ) -> dict[str, Any]:
        """``explain`` and ``metadata`` of a HogQL query, if requested."""
        if query["kind"] != HOGQL or not query.get("explain"):
            return {}
        keys = ("query", "filters", "variables", "values")
        node = {"kind": METADATA, "language": LANGUAGES[0]} | {key: query[key] for key in keys}
        inspection = await self.inspect(project, node, system_tables)
        return {"explain": inspection.explain or None, "metadata": inspection.metadata}

    async def _context(self, project: Project, system_tables: Sequence[str]) -> CompileContext:
        context = await self._compiler.context(project, system_tables=system_tables)
        return self._compiler.stamped(context)

    async def _variables(self, project: Project, node: QueryNode) -> VariableValues:
        """The values of a query's variables by code name."""
        if not node.get("variables"):
            return {}
        known = await self._runner.variables(project.id)
        query = {"kind": HOGQL, "query": node["query"], "variables": node["variables"]}
        return values_for_run(with_known_variables(query, known), {}, known)

    async def _unconverted_shares(
        self, project: Project, text: str
    ) -> list[tuple[str, str, str, float]]:
        """``("event", "price", "Numeric", 0.2)`` of the properties that the text may read."""
        async with self._database.read() as session:
            rows = await repository.typed_properties(session, project.id)
        mentioned = [row for row in rows if row.name in text]
        await self._shares.refresh(project.id, project.timezone, mentioned)
        return [
            (row.kind, row.name, row.property_type or "", row.unconverted_share)
            for row in mentioned
            if row.unconverted_share
        ]

    async def _schema(self, scope: ProjectScope) -> DatabaseSchema:
        context = await self._compiler.context(scope.project)
        async with self._database.read() as session:
            builds = await repository.builds(session, scope.project.id)
        tables = readable_system_tables(scope.principal)
        return database_schema(builds, context.schema.group_types, tables)

    async def _autocomplete(self, scope: ProjectScope, node: QueryNode) -> Completions:
        project = scope.project
        async with self._database.read() as session:
            properties = await repository.property_names(session, project.id)
        variables = [each.code_name for each in await self._runner.variables(project.id)]
        context = await self._context(project, readable_system_tables(scope.principal))
        request = CompleteRequest(node, context, properties, variables)
        try:
            return await self._compiler.call(_COMPLETE, request, Completions)
        except Invalid:
            return {"suggestions": [], "incomplete_list": True, "timings": []}


def _at_a_place(error: HogletError) -> SourceError | None:
    """An error with a position, such as of a constant in the text: ``timestamp > 'yesterday'``."""
    return error if isinstance(error, SourceError) and error.end > error.start else None


def _certain(error: HogletError, text: str) -> SourceError | None:
    """An error that does not depend on values or the state of the engine."""
    return error if isinstance(error, SourceError) and is_certain(error, text) else None
