"""Creates and revokes keys and projects for the admin commands.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits;
docs/spec/query-endpoints.md#6-errors-keys-limits.
"""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository
from hoglet.access.api_keys.secret import MAX_KEYS
from hoglet.access.keys import (
    NewKey,
    make_key,
    make_key_id,
    make_project_token,
)
from hoglet.access.principals import Project
from hoglet.access.scopes import SECRET_KEY_SCOPES, check_form, check_scopes
from hoglet.access.tables import PersonalKeyRow, ProjectRow, SecretKeyRow
from hoglet.kit.clock import Clock, new_id, timezone_names
from hoglet.kit.errors import Invalid, NotFound


async def issue_personal_key(
    session: AsyncSession,
    clock: Clock,
    *,
    scopes: Sequence[str],
    label: str,
    project_id: int | None = None,
) -> NewKey:
    """Create a personal key for the first user.

    Args:
        session: the session of the caller's transaction.
        clock: the time of creation.
        scopes: e.g. ``["hog_function:read", "endpoint:write"]`` or ``["*"]``.
        label: its name in lists.
        project_id: restricts the key to this project.

    Raises:
        Invalid: a scope is not ``object:read``, ``object:write`` or ``*``.
        NotFound: no such project, or no user yet (the server was never started on this data
            folder).
    """
    check_form(scopes)
    owner = await repository.first_user(session)
    if owner is None:
        raise NotFound("There is no user yet. Start the server once: hoglet serve")
    if project_id is not None:
        await check_project(session, project_id)
    key = make_key("phx_")
    session.add(
        PersonalKeyRow(
            id=make_key_id(),
            user_id=owner.id,
            label=label,
            mask_value=key.mask,
            key_hash=key.hash,
            scopes=list(scopes),
            scoped_teams=[] if project_id is None else [project_id],
            scoped_organizations=[],
            created_at=clock.now(),
            last_rolled_at=clock.now(),
        )
    )
    return key


async def issue_secret_key(
    session: AsyncSession, clock: Clock, *, scopes: Sequence[str], label: str, project_id: int
) -> NewKey:
    """Create a secret key for a project.

    Raises:
        Invalid: a bad scope, or the project already has fifty keys.
        NotFound: no such project.
    """
    check_scopes(scopes, SECRET_KEY_SCOPES)
    await check_project(session, project_id)
    if await repository.count_secret_keys(session, project_id) >= MAX_KEYS:
        raise Invalid(f"Project {project_id} already has {MAX_KEYS} secret keys. Revoke one first.")
    key = make_key("phs_")
    session.add(
        SecretKeyRow(
            id=make_key_id(),
            project_id=project_id,
            label=label,
            mask_value=key.mask,
            key_hash=key.hash,
            scopes=list(scopes),
            created_at=clock.now(),
            last_rolled_at=clock.now(),
        )
    )
    return key


async def revoke_key(session: AsyncSession, id_or_key: str) -> None:
    """Delete a key by its id or value.

    Raises:
        NotFound: no such key.
    """
    if await repository.delete_key(session, id_or_key, repository.hash_key(id_or_key)) == 0:
        raise NotFound("There is no such key. See: hoglet admin keys list")


async def create_project(
    session: AsyncSession, clock: Clock, *, name: str, timezone: str = "UTC"
) -> Project:
    """Create another project in the first organization.

    Raises:
        Invalid: unknown time zone or empty name.
        NotFound: there is no organization yet.
    """
    if not name.strip():
        raise Invalid("A project name is required.", attr="name", code="blank")
    if timezone not in timezone_names():
        raise Invalid(f'"{timezone}" is not a known time zone.', attr="timezone")
    first = await repository.first_project(session)
    if first is None:
        raise NotFound("There is no organization yet. Start the server once: hoglet serve")
    row = ProjectRow(
        uuid=new_id(),
        organization_id=first.organization_id,
        api_token=make_project_token(),
        name=name.strip(),
        timezone=timezone,
        created_at=clock.now(),
        updated_at=clock.now(),
    )
    session.add(row)
    await session.flush()
    await session.refresh(row)
    return repository.project_of(row)


async def check_project(session: AsyncSession, project_id: int) -> None:
    """Reject a project that does not exist.

    Raises:
        NotFound: there is none with this id.
    """
    if await repository.find_project(session, project_id) is None:
        raise NotFound(f"There is no project {project_id}. See: hoglet admin projects list")
