"""Statements on personal API keys and project secret keys."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository
from hoglet.access.principals import Principal
from hoglet.access.tables import (
    MembershipRow,
    PersonalKeyRow,
    SecretKeyRow,
    UserRow,
)

type KeyTable = type[PersonalKeyRow | SecretKeyRow]


async def find_personal(session: AsyncSession, key_hash: str) -> PersonalKeyRow | None:
    """The personal key with this hash, unless its user is inactive."""
    statement = (
        select(PersonalKeyRow)
        .join(UserRow, UserRow.id == PersonalKeyRow.user_id)
        .where(PersonalKeyRow.key_hash == key_hash, UserRow.is_active)
    )
    return await session.scalar(statement)


async def find_secret(session: AsyncSession, key_hash: str) -> SecretKeyRow | None:
    """The secret key with this hash."""
    return await session.scalar(select(SecretKeyRow).where(SecretKeyRow.key_hash == key_hash))


async def principal_of(session: AsyncSession, row: PersonalKeyRow | SecretKeyRow) -> Principal:
    """The principal of a key."""
    if isinstance(row, SecretKeyRow):
        return Principal("secret", row.id, frozenset(row.scopes), project_id=row.project_id)
    users = await repository.users_by_id(session, [row.user_id])
    organizations = await session.scalars(
        select(MembershipRow.organization_id).where(MembershipRow.user_id == row.user_id)
    )
    return Principal(
        "personal",
        row.id,
        frozenset(row.scopes),
        user=users[row.user_id],
        scoped_teams=frozenset(row.scoped_teams),
        scoped_organizations=frozenset(UUID(text) for text in row.scoped_organizations),
        organizations=frozenset(organizations),
    )


async def touch(
    session: AsyncSession, table: KeyTable, key_id: str, at: datetime, before: datetime
) -> None:
    """Set ``last_used_at`` to ``at``, unless it is ``before`` or later."""
    stale = or_(table.last_used_at.is_(None), table.last_used_at < before)
    statement = update(table).where(table.id == key_id, stale)
    await session.execute(statement.values(last_used_at=at))


async def personal_keys(session: AsyncSession) -> Sequence[PersonalKeyRow]:
    """All personal keys, oldest first."""
    order = (PersonalKeyRow.created_at, PersonalKeyRow.id)
    return (await session.scalars(select(PersonalKeyRow).order_by(*order))).all()


async def personal_keys_of(session: AsyncSession, user_id: int) -> Sequence[PersonalKeyRow]:
    """The keys of a user, newest first."""
    order = (PersonalKeyRow.created_at.desc(), PersonalKeyRow.id.desc())
    statement = select(PersonalKeyRow).where(PersonalKeyRow.user_id == user_id).order_by(*order)
    return (await session.scalars(statement)).all()


async def count_made_by_api(session: AsyncSession, user_id: int) -> int:
    """Number of a user's keys created by the API; those of the command line do not count."""
    created = (PersonalKeyRow.user_id == user_id, PersonalKeyRow.is_made_by_api)
    return await session.scalar(select(func.count()).where(*created)) or 0


async def secret_keys(
    session: AsyncSession, project_id: int | None = None
) -> Sequence[SecretKeyRow]:
    """The secret keys of a project (None: of all projects), oldest first."""
    statement = select(SecretKeyRow).order_by(SecretKeyRow.created_at, SecretKeyRow.id)
    if project_id is not None:
        statement = statement.where(SecretKeyRow.project_id == project_id)
    return (await session.scalars(statement)).all()


async def count_secret_keys(session: AsyncSession, project_id: int) -> int:
    """Number of secret keys of a project."""
    statement = select(func.count()).where(SecretKeyRow.project_id == project_id)
    return await session.scalar(statement) or 0


async def delete_key(session: AsyncSession, key_id: str, key_hash: str) -> int:
    """Delete the key with this id or hash, of either kind; returns the number of deleted rows."""
    found = 0
    for table in (PersonalKeyRow, SecretKeyRow):
        named = or_(table.id == key_id, table.key_hash == key_hash)
        removed = await session.scalars(delete(table).where(named).returning(table.id))
        found += len(removed.all())
    return found


async def find_key(session: AsyncSession, key_id: str) -> PersonalKeyRow | None:
    """The personal key with this id."""
    return await session.get(PersonalKeyRow, key_id)
