"""Creates the first organization, project, user and key in a new data folder.

Source: the interface that scripts rely on (docs: "First start"); project id of the first is 1.
"""

from datetime import datetime

import msgspec
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository
from hoglet.access.keys import (
    NewKey,
    make_key,
    make_key_id,
    make_project_token,
)
from hoglet.access.principals import ANY_SCOPE, Level
from hoglet.access.tables import (
    MembershipRow,
    OrganizationRow,
    PersonalKeyRow,
    ProjectRow,
    UserRow,
)
from hoglet.kit.clock import Clock, new_id
from hoglet.store.database import Database

FIRST_EMAIL = "admin@hoglet.localhost"
_FIRST_PROJECT_LOCK = 7_226_314  # arbitrary; nothing else in the database locks it


class FirstStart(msgspec.Struct, frozen=True):
    """The first project and its keys.

    Attributes:
        created: whether the project was just created.
        personal_api_key: the key that was given or created; None at later starts without one.
    """

    created: bool
    project_id: int
    project_token: str
    personal_api_key: str | None


async def has_project(session: AsyncSession) -> bool:
    """Whether a server has ever been started on the database."""
    return await session.scalar(select(ProjectRow.id).limit(1)) is not None


async def ensure_first_project(
    database: Database,
    clock: Clock,
    *,
    personal_api_key: str | None = None,
    project_token: str | None = None,
) -> FirstStart:
    """Create the first project unless it exists; safe to call at every start.

    Concurrency: if several servers start at once on one database, only one creates it.

    Args:
        database: its schema must exist.
        clock: the time of creation.
        personal_api_key: a key to register with all scopes; if omitted, a new data folder gets a
            random one.
        project_token: the capture token of project 1.
    """
    async with database.write() as session:
        await database.serialize(session, _FIRST_PROJECT_LOCK)
        project = await session.scalar(select(ProjectRow).order_by(ProjectRow.id).limit(1))
        if project is not None:
            project.api_token = project_token or project.api_token
            await _ensure_key(session, personal_api_key, clock.now())
            return FirstStart(False, project.id, project.api_token, personal_api_key)
        key = make_key("phx_", personal_api_key)
        project = await _create(session, clock.now(), key, project_token)
        return FirstStart(True, project.id, project.api_token, key.value)


async def _create(
    session: AsyncSession, at: datetime, key: NewKey, project_token: str | None
) -> ProjectRow:
    organization = OrganizationRow(
        id=new_id(), name="hoglet", slug="hoglet", created_at=at, updated_at=at
    )
    session.add(organization)
    await session.flush()
    project = ProjectRow(
        uuid=new_id(),
        organization_id=organization.id,
        api_token=project_token or make_project_token(),
        name="Default project",
        created_at=at,
        updated_at=at,
    )
    session.add(project)
    await session.flush()
    user = await _create_user(session, organization, project, at)
    session.add(_key_row(user.id, key, at))
    return project


async def _create_user(
    session: AsyncSession, organization: OrganizationRow, project: ProjectRow, at: datetime
) -> UserRow:
    user = UserRow(
        uuid=new_id(),
        distinct_id=str(new_id()),
        first_name="Admin",
        email=FIRST_EMAIL,
        is_email_verified=True,
        is_staff=True,
        current_project_id=project.id,
        date_joined=at,
    )
    session.add(user)
    await session.flush()
    session.add(
        MembershipRow(
            id=new_id(), organization_id=organization.id, user_id=user.id, level=Level.OWNER
        )
    )
    return user


async def _ensure_key(session: AsyncSession, value: str | None, at: datetime) -> None:
    if (
        value is None
        or await repository.find_personal(session, repository.hash_key(value)) is not None
    ):
        return
    owner = await repository.first_user(session)
    if owner is not None:
        session.add(_key_row(owner.id, make_key("phx_", value), at))


def _key_row(user_id: int, key: NewKey, at: datetime) -> PersonalKeyRow:
    return PersonalKeyRow(
        id=make_key_id(),
        user_id=user_id,
        label="First key",
        mask_value=key.mask,
        key_hash=key.hash,
        scopes=[ANY_SCOPE],
        scoped_teams=[],
        scoped_organizations=[],
        created_at=at,
        last_rolled_at=at,
    )
