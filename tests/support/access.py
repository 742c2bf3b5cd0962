"""A database with a project and API keys, for tests of packages above ``access``."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from cryptography.fernet import Fernet

from hoglet.access.auth import AccessService
from hoglet.access.bootstrap import FirstStart, ensure_first_project
from hoglet.access.keys import make_key, make_key_id
from hoglet.access.tables import (
    MembershipRow,
    OrganizationRow,
    PersonalKeyRow,
    ProjectRow,
    SecretKeyRow,
    UserRow,
)
from hoglet.functions.secrets.box import SecretBox
from hoglet.kit.clock import FixedClock, new_id
from hoglet.store.database import Base, Database
from support.databases import content_of, open_database, sqlite_file

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
_first_starts: dict[int, tuple[bytes, FirstStart]] = {}
"""A SQLite file with the first project, which takes as long as a test to create, by its tables."""


@dataclass(frozen=True, slots=True)
class World:
    """An empty hoglet: one project, one owner, one key with every scope."""

    database: Database
    clock: FixedClock
    access: AccessService
    first: FirstStart

    @property
    def headers(self) -> dict[str, str]:
        """Headers that carry the first key."""
        return {"Authorization": f"Bearer {self.first.personal_api_key}"}

    async def add_key(
        self,
        scopes: Sequence[str],
        *,
        teams: Sequence[int] = (),
        organizations: Sequence[UUID] = (),
        user_id: int = 1,
    ) -> str:
        """A personal key with these scopes and restrictions."""
        key = make_key("phx_")
        async with self.database.write() as session:
            session.add(
                PersonalKeyRow(
                    id=make_key_id(),
                    user_id=user_id,
                    label="test",
                    mask_value=key.mask,
                    key_hash=key.hash,
                    scopes=list(scopes),
                    scoped_teams=list(teams),
                    scoped_organizations=[str(each) for each in organizations],
                    created_at=self.clock.now(),
                )
            )
        return key.value

    async def add_secret_key(
        self, project_id: int = 1, scopes: Sequence[str] = ("endpoint:read",)
    ) -> str:
        """A secret key of a project."""
        key = make_key("phs_")
        async with self.database.write() as session:
            session.add(
                SecretKeyRow(
                    id=make_key_id(),
                    project_id=project_id,
                    label="test",
                    mask_value=key.mask,
                    key_hash=key.hash,
                    scopes=list(scopes),
                    created_at=self.clock.now(),
                )
            )
        return key.value

    async def add_project(self, *, member: bool = True) -> ProjectRow:
        """Another project, in the first organization or (``member=False``) in a different one."""
        async with self.database.write() as session:
            first = await session.get(ProjectRow, 1)
            assert first is not None
            organization_id = first.organization_id
            if not member:
                organization_id = new_id()
                session.add(
                    OrganizationRow(
                        id=organization_id,
                        name="Others",
                        slug=str(organization_id),
                        created_at=NOW,
                        updated_at=NOW,
                    )
                )
                await session.flush()
            project = ProjectRow(
                uuid=new_id(),
                organization_id=organization_id,
                api_token=f"phc_{new_id()}",
                name="Another",
                created_at=NOW,
                updated_at=NOW,
            )
            session.add(project)
        return project

    async def add_user(self, organization_id: UUID, *, is_active: bool = True) -> int:
        """A member of an organization."""
        async with self.database.write() as session:
            user = UserRow(
                uuid=new_id(),
                distinct_id=str(new_id()),
                email=f"{new_id()}@example.com",
                is_active=is_active,
                date_joined=NOW,
            )
            session.add(user)
            await session.flush()
            session.add(
                MembershipRow(
                    id=new_id(), organization_id=organization_id, user_id=user.id, level=1
                )
            )
        return user.id


@asynccontextmanager
async def open_world(location: Path | str, *, cache_seconds: float = 0) -> AsyncGenerator[World]:
    """Create the tables of all imported packages, and the first project.

    ``location`` is a folder for a SQLite file, or the URL of an empty database. A server caches
    callers and projects; without a cache, tests can change them in the database.
    """
    url = location if isinstance(location, str) else sqlite_file(location)
    known = _first_starts.get(len(Base.metadata.tables)) if url.startswith("sqlite") else None
    content, first = known or (None, None)
    async with open_database(url, content) as database:
        clock = FixedClock(NOW)
        if first is None:
            first = await ensure_first_project(database, clock)
            if database.is_sqlite:
                _first_starts[len(Base.metadata.tables)] = content_of(url), first
        box = SecretBox([Fernet.generate_key()])
        access = AccessService(database, clock, cache_seconds=cache_seconds, box=box)
        yield World(database, clock, access, first)


async def add_project_with_id(database: Database, project_id: int) -> None:
    """A project of the first organization with a unique id, for tests that share a warehouse."""
    async with database.write() as session:
        first = await session.get(ProjectRow, 1)
        assert first is not None
        session.add(
            ProjectRow(
                id=project_id,
                uuid=new_id(),
                organization_id=first.organization_id,
                api_token=f"phc_{new_id()}",
                name="Another",
                created_at=first.created_at,
                updated_at=first.updated_at,
            )
        )
