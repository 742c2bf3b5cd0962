"""Statements on projects, users and memberships, personal API keys and project secret keys."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Principal, Project, User
from hoglet.access.tables import (
    MembershipRow,
    OrganizationRow,
    PersonalKeyRow,
    ProjectRow,
    SecretKeyRow,
    UserRow,
)

_MAX_ID = 2**31 - 1  # of an integer column in PostgreSQL; SQLite rejects 2**63
type KeyTable = type[PersonalKeyRow | SecretKeyRow]


def hash_key(value: str) -> str:
    """The hash under which a key is stored: 64 hex digits.

    A key has 256 random bits, so a single SHA-256 suffices: the key cannot be guessed from its
    hash, and a slow password hash would cost every request. Keys are found by their hash in a
    unique index, so no secret is compared in variable time.
    """
    return hashlib.sha256(value.encode()).hexdigest()


async def find_project(
    session: AsyncSession, project_id: int, *, lock: bool = False
) -> Project | None:
    """The project with this id; ``lock`` locks it until the transaction ends."""
    locked = {"key_share": True} if lock else None  # others may still add what belongs to it
    row = await session.get(ProjectRow, project_id, with_for_update=locked)
    return None if row is None else project_of(row)


async def find_project_by_token(session: AsyncSession, token: str) -> Project | None:
    """The project with this capture token (``phc_…``)."""
    row = await session.scalar(select(ProjectRow).where(ProjectRow.api_token == token))
    return None if row is None else project_of(row)


async def projects_of(
    session: AsyncSession, organizations: Iterable[UUID] | None = None
) -> list[Project]:
    """The projects of these organizations (None: all), oldest first."""
    return [project_of(row) for row in await session.scalars(_projects(organizations))]


async def first_project(
    session: AsyncSession, organizations: Iterable[UUID] | None = None
) -> Project | None:
    """The oldest project of these organizations (None: all)."""
    row = await session.scalar(_projects(organizations).limit(1))
    return None if row is None else project_of(row)


def _projects(organizations: Iterable[UUID] | None) -> Select[ProjectRow]:
    statement = select(ProjectRow).order_by(ProjectRow.id)
    if organizations is not None:
        statement = statement.where(ProjectRow.organization_id.in_(list(organizations)))
    return statement


async def update_project(
    session: AsyncSession, project_id: int, changes: Mapping[str, Any], at: datetime
) -> None:
    """Set columns of a project, e.g. ``{"name": "Shop"}``."""
    statement = update(ProjectRow).where(ProjectRow.id == project_id)
    await session.execute(statement.values(**changes, updated_at=at))


async def users_by_id(session: AsyncSession, ids: Iterable[int | None]) -> dict[int, User]:
    """The users with these ids, in one statement; unknown ids are omitted."""
    valid_ids = {user_id for user_id in ids if user_id is not None and 0 < user_id <= _MAX_ID}
    if not valid_ids:
        return {}
    rows = await session.scalars(select(UserRow).where(UserRow.id.in_(valid_ids)))
    return {row.id: user_of(row) for row in rows}


async def first_user(session: AsyncSession) -> User | None:
    """The oldest user, who owns the keys created on the command line."""
    user_id = await session.scalar(select(func.min(UserRow.id)))
    return (await users_by_id(session, [user_id])).get(user_id or 0)


async def find_organization(session: AsyncSession, organization_id: UUID) -> OrganizationRow | None:
    """The organization with this id."""
    return await session.get(OrganizationRow, organization_id)


async def memberships_of(
    session: AsyncSession, user_id: int
) -> Sequence[tuple[OrganizationRow, int]]:
    """A user's organizations with the membership level in each, oldest first."""
    statement = (
        select(OrganizationRow, MembershipRow.level)
        .join(MembershipRow, MembershipRow.organization_id == OrganizationRow.id)
        .where(MembershipRow.user_id == user_id)
        .order_by(OrganizationRow.created_at, OrganizationRow.id)
    )
    return [(row[0], row[1]) for row in await session.execute(statement)]


async def member_count(session: AsyncSession, organization_id: UUID) -> int:
    """Number of members of an organization."""
    statement = select(func.count()).where(MembershipRow.organization_id == organization_id)
    return await session.scalar(statement) or 0


def project_of(row: ProjectRow) -> Project:
    """The project of a row."""
    return Project(
        id=row.id,
        uuid=row.uuid,
        organization_id=row.organization_id,
        api_token=row.api_token,
        name=row.name,
        timezone=row.timezone,
        created_at=row.created_at,
        updated_at=row.updated_at,
        app_urls=row.app_urls or [],
        test_account_filters=row.test_account_filters or [],
        person_display_name_properties=row.person_display_name_properties,
        anonymize_ips=row.anonymize_ips,
        week_start_day=row.week_start_day,
        is_demo=row.is_demo,
        ingested_event=row.ingested_event,
        definitions_version=row.definitions_version,
    )


def user_of(row: UserRow) -> User:
    """The user of a row."""
    return User(
        id=row.id,
        uuid=row.uuid,
        distinct_id=row.distinct_id,
        first_name=row.first_name,
        last_name=row.last_name,
        email=row.email,
        date_joined=row.date_joined,
        is_email_verified=row.is_email_verified,
        is_staff=row.is_staff,
        hedgehog_config=row.hedgehog_config,
        theme_mode=row.theme_mode,
        current_project_id=row.current_project_id,
    )


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
    users = await users_by_id(session, [row.user_id])
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
    count = 0
    for table in (PersonalKeyRow, SecretKeyRow):
        named = or_(table.id == key_id, table.key_hash == key_hash)
        removed = await session.scalars(delete(table).where(named).returning(table.id))
        count += len(removed.all())
    return count


async def find_key(
    session: AsyncSession, key_id: str, *, lock: bool = False
) -> PersonalKeyRow | None:
    """The personal key with this id; ``lock`` locks it until the transaction ends."""
    return await session.get(PersonalKeyRow, key_id, with_for_update=lock)
