"""Manages personal API keys over the API.

Source: docs/spec/data-and-queries.md#51-personal-keys-apipersonal_api_keys.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository
from hoglet.access.activity import Fields
from hoglet.access.api_keys.schemas import PersonalKeyChanges, PersonalKeyFields
from hoglet.access.api_keys.stored_keys import StoredKeys
from hoglet.access.auth import AccessService
from hoglet.access.principals import ANY_SCOPE, Principal, User
from hoglet.access.scopes import check_grant, check_scopes
from hoglet.access.tables import PersonalKeyRow
from hoglet.kit.errors import Forbidden, Invalid

MAX_KEYS = 10  # of a user, created by the API


class PersonalKeys(StoredKeys[PersonalKeyRow]):
    """The keys of the caller's user.

    Args:
        access: database, clock, activity log.
        principal: the caller; a personal key with ``*``.
    """

    prefix = "phx_"
    logged_as = "PersonalAPIKey"
    logged_fields = ("label", "scopes", "scoped_teams", "scoped_organizations")

    def __init__(self, access: AccessService, principal: Principal) -> None:
        if principal.user is None or ANY_SCOPE not in principal.scopes:
            raise Forbidden("Managing personal API keys needs a key with the scope '*'.")
        super().__init__(access, principal.user.id)
        self._principal = principal
        self._user: User = principal.user

    @property
    def owner_id(self) -> int:
        """The user."""
        return self._user.id

    async def all(self) -> Sequence[PersonalKeyRow]:
        """The user's keys, newest first."""
        async with self._access.database.read() as session:
            return await repository.personal_keys_of(session, self._user.id)

    async def create(self, fields: PersonalKeyFields) -> tuple[PersonalKeyRow, str]:
        """A new key with its value.

        Raises:
            Invalid: unknown scopes, unreachable projects, or ten keys already.
            Forbidden: the new key would have more access than the caller's own.
        """
        async with self._access.database.write() as session:
            await self._lock_all(session)
            await self._check(session, fields.model_dump())
            if await repository.count_made_by_api(session, self._user.id) >= MAX_KEYS:
                raise Invalid(f"A user can have at most {MAX_KEYS} keys. Delete one first.")
            generated, value = self._generate()
            row = PersonalKeyRow(
                **generated._asdict(),
                user_id=self._user.id,
                label=fields.label,
                scopes=fields.scopes,
                scoped_teams=fields.scoped_teams,
                scoped_organizations=[str(each) for each in fields.scoped_organizations],
                is_made_by_api=True,
            )
            await self._add(session, row)
        return row, value

    async def change(self, key_id: str, changes: PersonalKeyChanges) -> PersonalKeyRow:
        """Change the given fields.

        Raises:
            NotFound, Invalid, Forbidden: as ``create``.
        """
        given = changes.model_dump(include=changes.model_fields_set)
        async with self._access.database.write() as session:
            await self._lock_all(session)
            row = await self._get(session, key_id, lock=True)
            await self._check(session, {**self._logged(row), **given})
            if "scopes" in given and ANY_SCOPE not in given["scopes"]:
                await self._keep_an_unrestricted_key(session, row)
            if "scoped_organizations" in given:
                given["scoped_organizations"] = [str(e) for e in given["scoped_organizations"]]
            await self._apply(session, row, given)
        self._access.forget()
        return row

    async def _find(
        self, session: AsyncSession, key_id: str, *, lock: bool
    ) -> PersonalKeyRow | None:
        row = await repository.find_key(session, key_id, lock=lock)
        return row if row is not None and row.user_id == self._user.id else None

    async def _project_id(self, row: PersonalKeyRow) -> int | None:  # noqa: ARG002 (of the caller)
        project = await self._access.current_project(self._principal)
        return None if project is None else project.id

    async def _check_delete(self, session: AsyncSession, row: PersonalKeyRow) -> None:
        await self._keep_an_unrestricted_key(session, row)

    async def _check(self, session: AsyncSession, fields: Fields) -> None:
        check_scopes(fields["scopes"])
        check_grant(self._principal, fields["scopes"])
        organizations = [UUID(str(each)) for each in fields["scoped_organizations"]]
        unknown = [each for each in organizations if each not in self._principal.organizations]
        if unknown:
            raise _unreachable("scoped_organizations", unknown)
        projects = await repository.projects_of(session, self._principal.organizations)
        reachable = {project.id for project in projects}
        missing = [each for each in fields["scoped_teams"] if each not in reachable]
        if missing:
            raise _unreachable("scoped_teams", missing)
        own = self._principal
        _check_within("scoped_teams", own.scoped_teams, fields["scoped_teams"])
        _check_within("scoped_organizations", own.scoped_organizations, organizations)

    async def _keep_an_unrestricted_key(self, session: AsyncSession, row: PersonalKeyRow) -> None:
        if ANY_SCOPE not in (row.scopes or [ANY_SCOPE]):
            return
        others = await repository.personal_keys_of(session, self._user.id)
        if not any(ANY_SCOPE in each.scopes for each in others if each.id != row.id):
            raise Invalid("This is your last key with the scope '*'. Create another one first.")


def _unreachable(attr: str, values: Iterable[Any]) -> Invalid:
    return Invalid(f"Not accessible with your key: {', '.join(map(str, values))}.", attr=attr)


def _check_within(name: str, own: frozenset[Any], granted: Sequence[Any]) -> None:
    """A restricted key can only create keys that are at least as restricted."""
    if own and (not granted or not own.issuperset(granted)):
        allowed = ", ".join(sorted(map(str, own)))
        raise Forbidden(f"This key is restricted to {name} {allowed} and cannot grant more.")
