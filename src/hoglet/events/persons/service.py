"""Finds persons, and changes their properties through events.

A change is an event in the spool: it triggers functions and is applied in order.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from hoglet.access.activity import Activity, ActivityLog, FieldChange
from hoglet.access.principals import ProjectScope
from hoglet.events.parse import refusal_of
from hoglet.events.persons import repository
from hoglet.events.persons.last_seen import with_last_seen
from hoglet.events.persons.repository import PersonRecord
from hoglet.events.spool import Spool, SpooledV1
from hoglet.kit.clock import Clock, new_id
from hoglet.kit.errors import Invalid, NotFound
from hoglet.kit.json import dump_json
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse

SET_EVENT, UNSET_EVENT = "$set", "$delete_person_property"
_MAX_DIGITS = 19


class PersonService:
    """Persons of a project."""

    def __init__(
        self,
        database: Database,
        spool: Spool,
        clock: Clock,
        warehouse: Warehouse,
        activity: ActivityLog,
    ) -> None:
        self._activity = activity
        self._database = database
        self._spool = spool
        self._clock = clock
        self._warehouse = warehouse

    async def find(self, project_id: int, given: str) -> PersonRecord:
        """The person with a UUID or number.

        Raises:
            Invalid: not a UUID or number.
            NotFound: no such person in this project.
        """
        async with self._database.read() as session:
            if given.isascii() and given.isdecimal() and len(given) <= _MAX_DIGITS:
                persons = await repository.find_by_number(session, project_id, int(given))
            else:
                item = await repository.find_by_uuid(session, project_id, _uuid(given))
                persons = [item] if item else []
        if len(persons) > 1:
            raise Invalid(
                "Several persons have this number; use the UUID.", code="invalid", attr="id"
            )
        if not persons:
            raise NotFound
        return persons[0]

    async def find_by_distinct_id(self, project_id: int, distinct_id: str) -> PersonRecord | None:
        """The person with a distinct id."""
        async with self._database.read() as session:
            return await repository.find_by_distinct_id(session, project_id, distinct_id)

    async def find_by_distinct_ids(
        self, project_id: int, distinct_ids: Sequence[str]
    ) -> list[PersonRecord]:
        """The persons with these distinct ids, without duplicates."""
        async with self._database.read() as session:
            return await repository.find_by_distinct_ids(session, project_id, distinct_ids)

    async def load(self, project_id: int, ids: Sequence[UUID]) -> list[PersonRecord]:
        """The existing persons with these UUIDs, in this order."""
        async with self._database.read() as session:
            return await repository.load_persons(session, project_id, ids)

    async def with_last_seen(
        self, project_id: int, persons: Sequence[PersonRecord]
    ) -> list[PersonRecord]:
        """The persons with the time of their newest event."""
        return await with_last_seen(self._warehouse, project_id, persons)

    async def set_properties(
        self, scope: ProjectScope, person: PersonRecord, properties: Mapping[str, Any]
    ) -> None:
        """Merge properties into a person's; durable when this returns.

        Raises:
            Invalid: the person has no distinct id.
            SpoolUnavailable: storage is not writable.
        """
        await self._append(scope.project.id, person, SET_EVENT, {"$set": dict(properties)})
        await self._record(scope, person, "updated")

    async def unset_property(self, scope: ProjectScope, person: PersonRecord, key: str) -> None:
        """Remove a property; otherwise like :meth:`set_properties`."""
        await self._append(scope.project.id, person, UNSET_EVENT, {"$unset": [key]})
        await self._record(scope, person, "delete_property")

    async def _record(self, scope: ProjectScope, person: PersonRecord, activity: str) -> None:
        """Log a change of properties, without the values, which can be personal data."""
        changes = (FieldChange("properties", "changed", None, None),)
        entry = Activity.by(scope, activity, "Person", (person.id, None), changes)
        async with self._database.write() as session:
            await self._activity.record(session, entry)

    async def _append(
        self, project_id: int, person: PersonRecord, event: str, properties: Mapping[str, Any]
    ) -> None:
        if not person.distinct_ids:
            raise Invalid("The person has no distinct id for the event of this change.")
        raw = {
            "event": event,
            "distinct_id": person.distinct_ids[0],
            "uuid": str(new_id()),
            "properties": properties,
        }
        refusal = refusal_of(raw)
        if refusal is not None:
            raise refusal
        spooled = SpooledV1(
            project_id=project_id,
            received_at=self._clock.now(),
            ip=None,
            body=dump_json({"batch": [raw]}),
        )
        await self._spool.append(spooled, [raw])


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Invalid(
            "Persons are addressed by UUID or number. To find one by distinct id, use "
            "persons/?distinct_id=…",
            code="invalid",
            attr="id",
        ) from None
