"""Users, organizations and projects that a caller may see. No SQL, no HTTP."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository
from hoglet.access.activity import Activity, changes_between
from hoglet.access.auth import CURRENT, AccessService, reaches
from hoglet.access.principals import Principal, Project, ProjectScope
from hoglet.access.schemas import MeObject, OrganizationObject, ProjectChanges
from hoglet.access.serializers import me_object, organization_object
from hoglet.access.tables import OrganizationRow
from hoglet.kit.errors import Forbidden, NotFound


class AccessQueries:
    """Reads the users, organizations and projects that the caller can access."""

    def __init__(self, access: AccessService, principal: Principal) -> None:
        self._access = access
        self._principal = principal

    async def me(self) -> MeObject:
        """The caller's user with project and organizations."""
        user = self._principal.user
        assert user is not None, "authorization admits personal keys only"  # noqa: S101
        team = await self._team()
        async with self._access.database.read() as session:
            memberships = await repository.memberships_of(session, user.id)
            home = memberships[0][0] if memberships else None
            if team is not None:
                home = await repository.find_organization(session, team.organization_id)
            organization = None if home is None else await self._organization(session, home)
        return me_object(user, team, organization, memberships)

    async def organization(self, organization_id: str) -> OrganizationObject:
        """An organization the caller is a member of.

        Raises:
            NotFound: no such organization, or not a member.
            Forbidden: the key has no access to it.
        """
        async with self._access.database.read() as session:
            return await self._organization(session, await self._find(session, organization_id))

    async def organizations(self) -> list[OrganizationObject]:
        """The caller's organizations that the key can access."""
        user = self._principal.user
        allowed = self._principal.scoped_organizations
        async with self._access.database.read() as session:
            memberships = await repository.memberships_of(session, 0 if user is None else user.id)
            return [
                await self._organization(session, row)
                for row, _ in memberships
                if not allowed or row.id in allowed
            ]

    async def projects(self, organization_id: str | None = None) -> list[Project]:
        """The projects that the caller can access, in one organization or all.

        Raises:
            NotFound, Forbidden: as ``organization``.
        """
        async with self._access.database.read() as session:
            organizations = self._principal.organizations
            if organization_id is not None:
                organizations = {(await self._find(session, organization_id)).id}
            projects = await repository.projects_of(session, organizations)
        return [project for project in projects if reaches(self._principal, project)]

    async def _team(self) -> Project | None:
        """The current project, or the first one that the key can access."""
        current = await self._access.current_project(self._principal)
        if current is not None and reaches(self._principal, current):
            return current
        reached = await self.projects()
        return reached[0] if reached else None

    async def _find(self, session: AsyncSession, organization_id: str) -> OrganizationRow:
        if organization_id == CURRENT:
            team = await self._team()
            uuid = None if team is None else team.organization_id
        else:
            uuid = _uuid(organization_id)
        row = None if uuid is None else await repository.find_organization(session, uuid)
        if row is None:
            raise NotFound
        allowed = self._principal.scoped_organizations
        if allowed and row.id not in allowed:
            raise Forbidden(f"This key does not have access to the organization {row.id}.")
        if row.id not in self._principal.organizations:
            raise NotFound
        return row

    async def _organization(
        self, session: AsyncSession, row: OrganizationRow
    ) -> OrganizationObject:
        user = self._principal.user
        memberships = await repository.memberships_of(session, 0 if user is None else user.id)
        projects = await repository.projects_of(session, [row.id])
        return organization_object(
            row,
            level=next((level for each, level in memberships if each.id == row.id), 0),
            members=await repository.member_count(session, row.id),
            projects=[project for project in projects if reaches(self._principal, project)],
        )


async def change_project(
    access: AccessService, scope: ProjectScope, changes: ProjectChanges
) -> Project:
    """Change fields of a project and log the changes."""
    given = changes.model_dump(include=changes.model_fields_set)
    async with access.database.write() as session:
        # Not the caller's: it may have been read before another server changed the project.
        stored = await repository.find_project(session, scope.project.id, lock=True)
        before = {name: getattr(stored, name) for name in given}
        if given:
            await repository.update_project(session, scope.project.id, given, access.clock.now())
        project = await repository.find_project(session, scope.project.id)
        if project is None:
            raise NotFound
        changed = changes_between(before, given)
        if changed:
            activity = Activity(
                project.id,
                scope.user_id,
                "updated",
                "Team",
                str(project.id),
                project.name,
                changed,
            )
            await access.activity.record(session, activity)
            for notify in access.providers.project_changed:
                await notify(session, project)
    access.forget()
    return project


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
