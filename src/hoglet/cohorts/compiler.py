"""Compiles criteria and queries of persons to SQL in the sandbox."""

from typing import Any

from hoglet.access.principals import Project
from hoglet.cohorts import worker_operations as operations
from hoglet.endpoints.worker.compiler import QueryCompiler

type Json = dict[str, Any]
type Sql = tuple[str, Json]
"""A statement and its values."""


class CohortCompiler:
    """Compiles queries of persons.

    Args:
        compiler: the query compiler, which knows a project's properties, actions and cohorts.
    """

    def __init__(self, compiler: QueryCompiler) -> None:
        self._compiler = compiler

    async def criteria(self, project: Project, filters: Json) -> Sql:
        """The persons of validated criteria, as a query of ``person_id``.

        Raises:
            SourceError: ``attr`` is the path below ``filters``.
        """
        return await self._compile(project, {"filters": filters})

    async def query(self, project: Project, query: Json) -> Sql:
        """The persons of a user's query, as a query of ``person_id``.

        Raises:
            SourceError: it does not compile, or its first column is not a person id.
        """
        return await self._compile(project, {"query": query})

    async def persons(self, project: Project, wanted: Json) -> Sql:
        """A page of a cohort's persons; see ``worker_operations.compile_persons``."""
        context = await self._compiler.context(project, unlimited=True)
        payload = wanted | {"context": self._compiler.stamped(context)}
        answer = await self._compiler.call(operations.compile_persons, payload)
        return answer["sql"], answer["params"]

    async def _compile(self, project: Project, payload: Json) -> Sql:
        context = await self._compiler.context(project, unlimited=True)
        answer = await self._compiler.call(
            operations.compile_cohort, payload | {"context": self._compiler.stamped(context)}
        )
        return answer["sql"], answer["params"]
