"""Compiles criteria and queries of persons to SQL in the sandbox."""

from hoglet.access.principals import Project
from hoglet.cohorts.criteria.model import Criteria
from hoglet.cohorts.messages import CohortRequest, PersonsPage, PersonsRequest, PersonsSql
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.endpoints.worker.messages import CompileContext
from hoglet.hogql.query_json.nodes import QueryNode

# Paths of operations, so that the server does not import what only workers run.
_COMPILE_PERSONS = "hoglet.cohorts.worker_operations:compile_persons"
_COMPILE_COHORT = "hoglet.cohorts.worker_operations:compile_cohort"


class CohortCompiler:
    """Compiles queries of persons.

    Args:
        compiler: compiles queries with the project's properties, actions and cohorts.
    """

    def __init__(self, compiler: QueryCompiler) -> None:
        self._compiler = compiler

    async def criteria(self, project: Project, criteria: Criteria) -> PersonsSql:
        """Compile criteria to a query of the ``person_id`` of those who meet them.

        Raises:
            SourceError: ``attr`` is the path below ``filters``.
        """
        return await self._compile(project, criteria=criteria)

    async def query(self, project: Project, query: QueryNode) -> PersonsSql:
        """Compile a user's query to a query of ``person_id``.

        Raises:
            SourceError: it does not compile, or its first column is not a person id.
        """
        return await self._compile(project, query=query)

    async def persons(self, project: Project, page: PersonsPage) -> PersonsSql:
        """Compile a page of a cohort's persons.

        Raises:
            SourceError: a property filter does not compile.
        """
        request = PersonsRequest(page, await self._context(project))
        return await self._compiler.call(_COMPILE_PERSONS, request, PersonsSql)

    async def _compile(
        self,
        project: Project,
        *,
        criteria: Criteria | None = None,
        query: QueryNode | None = None,
    ) -> PersonsSql:
        request = CohortRequest(await self._context(project), criteria=criteria, query=query)
        return await self._compiler.call(_COMPILE_COHORT, request, PersonsSql)

    async def _context(self, project: Project) -> CompileContext:
        return self._compiler.stamped(await self._compiler.context(project, unlimited=True))
