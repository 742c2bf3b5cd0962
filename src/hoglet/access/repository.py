"""Statements on projects, users and memberships."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project, User
from hoglet.access.tables import (
    MembershipRow,
    OrganizationRow,
    ProjectRow,
    UserRow,
)

_LARGEST_ID = 2**31 - 1  # of an integer column of PostgreSQL; SQLite refuses 2**63


async def find_project(session: AsyncSession, project_id: int) -> Project | None:
    """The project with this id."""
    row = await session.get(ProjectRow, project_id)
    return None if row is None else project_of(row)


async def find_project_by_token(session: AsyncSession, token: str) -> Project | None:
    """The project with this capture token (``phc_…``)."""
    row = await session.scalar(select(ProjectRow).where(ProjectRow.api_token == token))
    return None if row is None else project_of(row)


async def projects_of(
    session: AsyncSession, organizations: Iterable[UUID] | None = None
) -> list[Project]:
    """The projects of these organizations (None: all), oldest first."""
    statement = select(ProjectRow).order_by(ProjectRow.id)
    if organizations is not None:
        statement = statement.where(ProjectRow.organization_id.in_(list(organizations)))
    return [project_of(row) for row in await session.scalars(statement)]


async def update_project(
    session: AsyncSession, project_id: int, changes: Mapping[str, Any], at: datetime
) -> None:
    """Set columns of a project, e.g. ``{"name": "Shop"}``."""
    statement = update(ProjectRow).where(ProjectRow.id == project_id)
    await session.execute(statement.values(**changes, updated_at=at))


async def users_by_id(session: AsyncSession, ids: Iterable[int | None]) -> dict[int, User]:
    """The users with these ids, in one statement; unknown ids are omitted."""
    wanted = {user_id for user_id in ids if user_id is not None and 0 < user_id <= _LARGEST_ID}
    if not wanted:
        return {}
    rows = await session.scalars(select(UserRow).where(UserRow.id.in_(wanted)))
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
