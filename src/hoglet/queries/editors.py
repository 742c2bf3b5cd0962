"""Editor queries: the database schema, errors of a text, completions.

User text is parsed in a worker, see ``hoglet.queries.worker``.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

from collections.abc import Sequence
from typing import Any

from hoglet.access.principals import Project, ProjectScope
from hoglet.definitions.conversion import ConversionShares
from hoglet.endpoints.analysis.infer_types import describe
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.runner import EndpointRunner
from hoglet.endpoints.variables import values_for_run
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.hogql.errors import ERRORS_OF_RUNS
from hoglet.hogql.schema.system import readable_system_tables
from hoglet.kit.errors import HogletError, Invalid, SourceError, Unreadable
from hoglet.queries import repository
from hoglet.queries.database_schema import database_schema
from hoglet.queries.editor_schema import LANGUAGES, METADATA, SCHEMA
from hoglet.queries.service import with_known_variables
from hoglet.queries.worker import operations
from hoglet.queries.worker.findings import finding, of_error
from hoglet.queries.worker.metadata import Report
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.warehouse.errors import QueryRefused

type Json = dict[str, Any]


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

    async def answer(self, scope: ProjectScope, node: Json) -> Json:
        """The response to a validated editor query."""
        if node["kind"] == SCHEMA:
            return await self._schema(scope)
        if node["kind"] == METADATA:
            tables = readable_system_tables(scope.principal.scopes)
            return (await self.inspect(scope.project, node, tables))["metadata"]
        return await self._autocomplete(scope, node)

    async def inspect(self, project: Project, node: Json, system_tables: Sequence[str]) -> Json:
        """``{"metadata": …, "explain": […]}`` of a validated metadata query."""
        try:
            variables = await self._variables(project, node)
            payload = {
                "query": node | {"variables": variables},
                "context": await self._context(project, system_tables),
                "shares": await self._unconverted_shares(project, node["query"]),
            }
            report = await self._compiler.call(operations.inspect, payload)
        except (Invalid, SourceError, Unreadable) as error:
            failed = Report(node["query"])
            failed.errors.append(finding(node["query"], error.detail))
            return {"metadata": failed.answer(), "explain": []}
        body = report["metadata"]
        if node["language"] == LANGUAGES[0] and body["isValid"]:
            error = await self._refusal(project, node, variables, system_tables)
            if error is not None:
                body |= {"errors": [of_error(node["query"], error)], "isValid": False}
        return report

    async def _refusal(
        self, project: Project, node: Json, variables: Json, system_tables: Sequence[str]
    ) -> SourceError | None:
        """Errors that the compiler or engine reports for a query; no data is read."""
        query = {key: node.get(key) for key in ("query", "filters", "values")} | {"kind": HOGQL}
        try:
            compiled = await self._compiler.compile(
                project, query, variables=variables, system_tables=system_tables
            )
            if any(value is None for value in variables.values()) or compiled.system_tables:
                return None
            await describe(self._warehouse, compiled)
        except QueryRefused as error:
            return _certain(await self._compiler.explained(query, error))
        except HogletError as error:
            return _certain(error)
        return None

    async def explain(self, project: Project, query: Json, system_tables: Sequence[str]) -> Json:
        """``explain`` and ``metadata`` of a HogQL query, if requested."""
        if query["kind"] != HOGQL or not query.get("explain"):
            return {}
        keys = ("query", "filters", "variables", "values")
        node = {"kind": METADATA, "language": LANGUAGES[0]} | {key: query[key] for key in keys}
        found = await self.inspect(project, node, system_tables)
        return {"explain": found["explain"] or None, "metadata": found["metadata"]}

    async def _context(self, project: Project, system_tables: Sequence[str]) -> Json:
        context = await self._compiler.context(project, system_tables=system_tables)
        return self._compiler.stamped(context)

    async def _variables(self, project: Project, node: Json) -> Json:
        """The values of a query's variables by code name."""
        if not node.get("variables"):
            return {}
        known = await self._runner.variables(project.id)
        query = {"kind": HOGQL, "query": node["query"], "variables": node["variables"]}
        return values_for_run(with_known_variables(query, known), {}, known)

    async def _unconverted_shares(self, project: Project, text: str) -> list[list[Any]]:
        """``["event", "price", "Numeric", 0.2]`` of the properties that the text may read."""
        async with self._database.read() as session:
            rows = await repository.typed_properties(session, project.id)
        mentioned = [row for row in rows if row.name in text]
        await self._shares.refresh(project.id, project.timezone, mentioned)
        return [
            [row.kind, row.name, row.property_type, row.unconverted_share]
            for row in mentioned
            if row.unconverted_share
        ]

    async def _schema(self, scope: ProjectScope) -> Json:
        context = await self._compiler.context(scope.project)
        async with self._database.read() as session:
            builds = await repository.builds(session, scope.project.id)
        tables = readable_system_tables(scope.principal.scopes)
        return database_schema(builds, context["group_types"], tables)

    async def _autocomplete(self, scope: ProjectScope, node: Json) -> Json:
        project = scope.project
        async with self._database.read() as session:
            properties = await repository.property_names(session, project.id)
        variables = [each.code_name for each in await self._runner.variables(project.id)]
        payload = {
            "query": node,
            "context": await self._context(project, readable_system_tables(scope.principal.scopes)),
            "properties": properties,
            "variables": variables,
        }
        try:
            return await self._compiler.call(operations.complete, payload)
        except Invalid:
            return {"suggestions": [], "incomplete_list": True, "timings": []}


def _certain(error: HogletError) -> SourceError | None:
    """An error that does not depend on values or the state of the engine."""
    if isinstance(error, SourceError) and error.error_code in ERRORS_OF_RUNS:
        return error
    return None
