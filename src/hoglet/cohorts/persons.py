"""Persons of cohorts, and cohorts of persons.

Source: docs/spec/data-and-queries.md#36-use (row 5), #31-routes (persons/cohorts).
"""

from typing import Any

from hoglet.access.principals import Project
from hoglet.cohorts import repository
from hoglet.cohorts.compiler import CohortCompiler
from hoglet.cohorts.members import CohortMembers
from hoglet.cohorts.messages import PersonsPage
from hoglet.cohorts.static.service import as_uuid
from hoglet.cohorts.tables import CohortRow
from hoglet.events.persons.last_seen import with_last_seen
from hoglet.events.persons.repository import PersonRecord, load_persons
from hoglet.kit.errors import Invalid, NotFound
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.web.pagination import PageRequest

type Json = dict[str, Any]


class CohortPersons:
    """Reads members as persons.

    Args:
        database: stores distinct ids and cohorts.
        warehouse: stores persons and members.
        compiler: compiles the query of a page.
        members: finds the cohorts of a person.
    """

    def __init__(
        self,
        database: Database,
        warehouse: Warehouse,
        compiler: CohortCompiler,
        members: CohortMembers,
    ) -> None:
        self._database = database
        self._warehouse = warehouse
        self._compiler = compiler
        self._members = members

    async def page(
        self,
        project: Project,
        row: CohortRow,
        page: PageRequest,
        *,
        search: str,
        properties: list[Any],
    ) -> tuple[list[PersonRecord], bool]:
        """A page of a cohort's persons, newest first, and whether there are more.

        Raises:
            SourceError: a property filter does not compile.
        """
        limit = page.limit or 0
        named = await self._named(project.id, search)
        request = PersonsPage(
            cohort=row.id,
            search=search,
            person_ids=named,
            properties=properties,
            limit=limit + 1,
            offset=page.offset,
        )
        compiled = await self._compiler.persons(project, request)
        rows = (await self._warehouse.query(compiled.sql, compiled.params)).rows
        ids = [row[0] for row in rows[:limit]]
        async with self._database.read() as session:
            persons = await load_persons(session, project.id, ids)
        seen = await with_last_seen(self._warehouse, project.id, persons)
        return seen, len(rows) > limit

    async def cohorts_of(self, project: Project, person_id: str) -> list[Json]:
        """The cohorts of a person: ``[{"id": 1, "name": "Paying", "count": 3}]``.

        Raises:
            Invalid: not a person id.
            NotFound: no such person.
        """
        person = as_uuid(person_id)
        if person is None:
            raise Invalid("Must be a valid UUID.", attr="person_id")
        async with self._database.read() as session:
            if not await repository.known_persons(session, project.id, {person}):
                raise NotFound
            rows = await repository.list_all(session, project.id)
        pairs = [(row.id, row.calculation_id) for row in rows]
        inside = await self._members.memberships(project.id, {person}, pairs)
        return [
            {"id": row.id, "name": row.name, "count": row.count}
            for row in rows
            if (row.id, person) in inside
        ]

    async def _named(self, project_id: int, search: str) -> list[str]:
        """The person whose distinct id or UUID is the searched text."""
        if not search:
            return []
        async with self._database.read() as session:
            owners = await repository.persons_by_distinct_id(session, project_id, {search})
        person = as_uuid(search)
        return [str(each) for each in owners | ({person} if person else set())]
