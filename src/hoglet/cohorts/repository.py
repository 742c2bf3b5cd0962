"""Statements on cohorts, and the search of their list.

Source: docs/spec/data-and-queries.md#31-routes (row 1), and its
docs/spec/hog-functions.md#9-rows-6-13 on search.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.cohorts.criteria.model import PersonProperty, cohorts_in, stored_criteria
from hoglet.cohorts.schemas import CohortListParams
from hoglet.cohorts.serializers import cohort_type
from hoglet.cohorts.tables import CohortCalculationRow, CohortRow, CohortUploadRow
from hoglet.events.tables import DistinctIdRow, PersonRow
from hoglet.hogql.context import CohortRef

MAX_HISTORY_ROWS = 100
MAX_ERRORS = 20
_BEHAVIORAL = frozenset({"behavioral", "analytical"})
_CHUNK = 500  # values per IN; SQLite allows 32,766 and plans long lists slowly


async def find(
    session: AsyncSession, project_id: int, cohort_id: int, *, lock: bool = False
) -> CohortRow | None:
    """A cohort of the project, including deleted ones; ``lock`` locks it for the transaction."""
    statement = select(CohortRow).where(
        CohortRow.id == cohort_id, CohortRow.project_id == project_id
    )
    return await session.scalar(statement.with_for_update() if lock else statement)


async def find_locked(session: AsyncSession, cohort_id: int) -> CohortRow | None:
    """A cohort of any project, locked for update."""
    return await session.get(CohortRow, cohort_id, with_for_update=True)


async def list_all(session: AsyncSession, project_id: int) -> Sequence[CohortRow]:
    """The cohorts of a project that are not deleted, newest first."""
    statement = select(CohortRow).where(
        CohortRow.project_id == project_id, CohortRow.deleted.is_(False)
    )
    return list(await session.scalars(statement.order_by(CohortRow.id.desc())))


async def list_static(session: AsyncSession, project_id: int) -> Sequence[CohortRow]:
    """The static cohorts of a project, including deleted ones, which can be restored."""
    return list(await session.scalars(select(CohortRow).where(*_static(project_id))))


async def has_static(session: AsyncSession, project_id: int) -> bool:
    """Whether a project has a static cohort."""
    return bool(
        await session.scalar(select(select(CohortRow).where(*_static(project_id)).exists()))
    )


def _static(project_id: int) -> tuple[ColumnElement[bool], ...]:
    return CohortRow.project_id == project_id, CohortRow.is_static.is_(True)


async def refs(session: AsyncSession, project_id: int) -> Sequence[Any]:
    """``(id, name, calculation_id, is_static)`` of each cohort that is not deleted."""
    statement = select(
        CohortRow.id, CohortRow.name, CohortRow.calculation_id, CohortRow.is_static
    ).where(CohortRow.project_id == project_id, CohortRow.deleted.is_(False))
    return (await session.execute(statement.order_by(CohortRow.id))).all()


async def candidates(session: AsyncSession) -> Sequence[Any]:
    """Cohorts that the schedule may compute, oldest first.

    Rows are ``(id, last_calculation, errors_calculating, last_error_at)``.
    """
    statement = select(
        CohortRow.id,
        CohortRow.last_calculation,
        CohortRow.errors_calculating,
        CohortRow.last_error_at,
    ).where(
        CohortRow.is_static.is_(False),
        CohortRow.deleted.is_(False),
        CohortRow.is_calculating.is_(False),
        CohortRow.errors_calculating <= MAX_ERRORS,
    )
    by_age = (CohortRow.last_calculation.is_not(None), CohortRow.last_calculation, CohortRow.id)
    return (await session.execute(statement.order_by(*by_age))).all()


async def stuck(session: AsyncSession, before: datetime) -> Sequence[CohortRow]:
    """Cohorts whose calculation started before a time, locked."""
    statement = select(CohortRow).where(
        CohortRow.is_calculating.is_(True), CohortRow.calculating_since < before
    )
    return list(await session.scalars(statement.with_for_update()))


# --- calculations


async def add_calculation(
    session: AsyncSession, cohort: CohortRow, now: datetime
) -> CohortCalculationRow:
    """Start an attempt; deletes the oldest beyond a hundred."""
    row = CohortCalculationRow(
        cohort_id=cohort.id,
        project_id=cohort.project_id,
        version=cohort.pending_version or 0,
        filters=cohort.filters,
        started_at=now,
    )
    session.add(row)
    await session.flush()
    newest = (
        select(CohortCalculationRow.id)
        .where(CohortCalculationRow.cohort_id == cohort.id)
        .order_by(CohortCalculationRow.id.desc())
        .limit(MAX_HISTORY_ROWS)
    )
    await session.execute(
        delete(CohortCalculationRow).where(
            CohortCalculationRow.cohort_id == cohort.id, CohortCalculationRow.id.not_in(newest)
        )
    )
    return row


async def calculation(session: AsyncSession, calculation_id: int) -> CohortCalculationRow | None:
    """One attempt."""
    return await session.get(CohortCalculationRow, calculation_id)


async def history(
    session: AsyncSession, cohort_id: int, *, limit: int, offset: int
) -> tuple[int, Sequence[CohortCalculationRow]]:
    """The number of attempts, and a page of them, newest first."""
    mine = CohortCalculationRow.cohort_id == cohort_id
    count = await session.scalar(select(func.count()).select_from(CohortCalculationRow).where(mine))
    newest = select(CohortCalculationRow).where(mine).order_by(CohortCalculationRow.id.desc())
    return count or 0, list(await session.scalars(newest.limit(limit).offset(offset)))


# --- uploads


async def upload(session: AsyncSession, upload_id: UUID) -> CohortUploadRow | None:
    """An upload whose persons are not members yet."""
    return await session.get(CohortUploadRow, upload_id)


async def drop_upload(session: AsyncSession, upload_id: UUID) -> None:
    """Delete an upload whose persons are members."""
    await session.execute(delete(CohortUploadRow).where(CohortUploadRow.id == upload_id))


# --- persons


async def known_persons(
    session: AsyncSession, project_id: int, person_ids: Collection[UUID]
) -> set[UUID]:
    """Those of the ids that are persons of the project."""
    known: set[UUID] = set()
    ids = list(person_ids)
    for start in range(0, len(ids), _CHUNK):
        statement = select(PersonRow.id).where(
            PersonRow.project_id == project_id, PersonRow.id.in_(ids[start : start + _CHUNK])
        )
        known |= set(await session.scalars(statement))
    return known


async def persons_by_distinct_id(
    session: AsyncSession, project_id: int, distinct_ids: Collection[str]
) -> set[UUID]:
    """The persons with these distinct ids."""
    persons: set[UUID] = set()
    ids = [item for item in distinct_ids if len(item) <= DistinctIdRow.distinct_id.type.length]
    for start in range(0, len(ids), _CHUNK):
        statement = select(DistinctIdRow.person_id).where(
            DistinctIdRow.project_id == project_id,
            DistinctIdRow.distinct_id.in_(ids[start : start + _CHUNK]),
        )
        persons |= set(await session.scalars(statement))
    return persons


def matching_cohorts(
    rows: Sequence[CohortRow], params: CohortListParams
) -> list[tuple[CohortRow, str | None]]:
    """The cohorts that match the filters and search, each with how its name matches."""
    hidden = _behavioral(rows) if params.hide_behavioral_cohorts else set[int]()
    matching: list[tuple[CohortRow, str | None]] = []
    for row in rows:
        if row.id in hidden or (params.type and row.is_static != (params.type == "static")):
            continue
        if params.created_by_id is not None and row.created_by_id != params.created_by_id:
            continue
        match = _match(row.name, params.search)
        if match is not None or not params.search:
            matching.append((row, match))
    return matching


def _match(name: str, search: str | None) -> str | None:
    if not search:
        return None
    if name == search:
        return "exact"
    words = search.lower().split()
    return "similar" if all(word in name.lower() for word in words) else None


def _behavioral(rows: Sequence[CohortRow]) -> set[int]:
    """Dynamic cohorts that depend on events, directly or through another cohort."""
    behavioral = {row.id for row in rows if cohort_type(row) in _BEHAVIORAL}
    size = -1
    while size != len(behavioral):
        size = len(behavioral)
        behavioral |= {
            row.id for row in rows if not row.is_static and cohorts_in(row.filters) & behavioral
        }
    return behavioral


async def cohort_refs(session: AsyncSession, project_id: int) -> dict[str, CohortRef]:
    """The cohorts that are not deleted, by id as string."""
    return {
        str(row.id): CohortRef(row.name, row.calculation_id, row.is_static)
        for row in await refs(session, project_id)
    }


async def person_criteria(
    session: AsyncSession, project_id: int
) -> dict[str, list[dict[str, Any]]]:
    """The criteria of cohorts that can be evaluated on a person alone.

    These are dynamic cohorts of person properties without negation:
    ``{"3": [{"type": "AND", "values": [{"type": "person", "key": "plan", "value": "pro"}]}]}``.
    """
    groups_by_id: dict[str, list[dict[str, Any]]] = {}
    for row in await list_all(session, project_id):
        if row.is_static or not row.filters:
            continue
        criteria = stored_criteria(row.filters)
        if not criteria.filterTestAccounts and all(
            isinstance(leaf, PersonProperty) and not leaf.negation for leaf in criteria.leaves()
        ):
            groups_by_id[str(row.id)] = [_plain(row.filters["properties"])]
    return groups_by_id


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    if "values" in node:
        return {"type": node["type"], "values": [_plain(each) for each in node["values"]]}
    return {name: value for name, value in node.items() if name != "negation"}
