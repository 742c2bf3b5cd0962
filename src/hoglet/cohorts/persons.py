"""Persons of cohorts, and the cohorts of persons.

Source: docs/spec/data-and-queries.md#36-use (row 5), #31-routes (persons/cohorts).
"""

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.cohorts import repository
from hoglet.cohorts.compiler import CohortCompiler
from hoglet.cohorts.members import CohortMembers
from hoglet.cohorts.static import as_uuid
from hoglet.cohorts.tables import CohortRow
from hoglet.cohorts.worker_operations import SEARCHED
from hoglet.events.tables import DistinctIdRow
from hoglet.kit.errors import Invalid, NotFound
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.web.pagination import Page
from hoglet.web.timestamps import iso_z

type Json = dict[str, Any]

MOST_DISTINCT_IDS = 10
_COLUMNS = ("id", "name", "distinct_ids", "created_at", "is_identified", "properties")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class CohortPersons:
    """Reads members as persons.

    Args:
        database: distinct ids, cohorts.
        warehouse: persons and members.
        compiler: the query of a page.
        members: which cohorts hold a person.
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
        self, project: Project, row: CohortRow, page: Page, *, search: str, properties: list[Any]
    ) -> tuple[list[Json], bool]:
        """A page of a cohort's persons, newest first, and whether there are more.

        Raises:
            SourceError: a property filter that does not compile.
        """
        limit = page.limit or 0
        found = await self._named(project.id, search)
        wanted = {
            "cohort": row.id,
            "search": search,
            "found": found,
            "properties": properties,
            "limit": limit + 1,
            "offset": page.offset,
        }
        sql, params = await self._compiler.persons(project, wanted)
        rows = (await self._warehouse.query(sql, params)).rows
        async with self._database.read() as session:
            ids = await _distinct_ids(session, project.id, [each[0] for each in rows[:limit]])
        names = project.person_display_name_properties or SEARCHED
        shown = [_person(each, ids[each[0]], names) for each in rows[:limit]]
        return shown, len(rows) > limit

    async def cohorts_of(self, project: Project, person_id: str) -> list[Json]:
        """The cohorts that hold a person: ``[{"id": 1, "name": "Paying", "count": 3}]``.

        Raises:
            Invalid: no id of a person. NotFound: nobody's.
        """
        person = as_uuid(person_id)
        if person is None:
            raise Invalid("Must be a valid UUID.", attr="person_id")
        async with self._database.read() as session:
            if not await repository.known_persons(session, project.id, {person}):
                raise NotFound
            rows = await repository.list_all(session, project.id)
        pairs = [(row.id, row.calculation_id) for row in rows]
        inside = await self._members.cohorts_of(project.id, person, pairs)
        return [
            {"id": row.id, "name": row.name, "count": row.count} for row in rows if row.id in inside
        ]

    async def _named(self, project_id: int, search: str) -> list[str]:
        """The person that a search names exactly, by distinct id or UUID."""
        if not search:
            return []
        async with self._database.read() as session:
            found = await repository.persons_by_distinct_id(session, project_id, {search})
        person = as_uuid(search)
        return [str(each) for each in found | ({person} if person else set())]


async def _distinct_ids(
    session: AsyncSession, project_id: int, persons: Sequence[UUID]
) -> dict[UUID, list[str]]:
    found: dict[UUID, list[str]] = defaultdict(list)
    statement = select(DistinctIdRow.person_id, DistinctIdRow.distinct_id).where(
        DistinctIdRow.project_id == project_id, DistinctIdRow.person_id.in_(persons)
    )
    for person, distinct_id in await session.execute(statement.order_by(DistinctIdRow.distinct_id)):
        if len(found[person]) < MOST_DISTINCT_IDS:
            found[person].append(distinct_id)
    return found


def _person(row: Sequence[Any], distinct_ids: list[str], names: Sequence[str]) -> Json:
    person, created_at, bag, is_identified = row
    properties = orjson.loads(bag)
    named = [properties[name] for name in names if properties.get(name)]
    name = str(named[0]) if named else next(iter(distinct_ids), str(person))
    return {
        "type": "person",
        "id": str(person),
        "uuid": str(person),
        "name": name,
        "distinct_ids": distinct_ids,
        "properties": properties,
        "created_at": iso_z(created_at),
        "last_seen_at": None,
        "is_identified": bool(is_identified),
        "matched_recordings": [],
        "value_at_data_point": None,
    }


def as_csv(persons: Sequence[Json]) -> str:
    """Persons as CSV; cells that a spreadsheet would take for a formula get an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for person in persons:
        writer.writerow([_cell(person[name]) for name in _COLUMNS])
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return orjson.dumps(value).decode()
