"""Personal API keys over the API.

The value of a key is returned once; afterwards only its hash is stored.

Source: docs/spec/data-and-queries.md#51-personal-keys-apipersonal_api_keys.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import key_repository, repository
from hoglet.access.activity import Activity, FieldChange, changes_between
from hoglet.access.api_keys.schemas import PersonalKeyChanges, PersonalKeyFields
from hoglet.access.keys import NewKey, make_key, make_key_id
from hoglet.access.principals import ANY_SCOPE, Principal, User
from hoglet.access.scopes import check_grant, check_scopes
from hoglet.access.service import AccessService
from hoglet.access.tables import PersonalKeyRow
from hoglet.kit.errors import Forbidden, Invalid, NotFound

MOST_KEYS = 10  # of a user, created by the API
_LOGGED = ("label", "scopes", "scoped_teams", "scoped_organizations")


class PersonalKeys:
    """The keys of the caller's user.

    Args:
        access: database, clock, activity log.
        principal: the caller; a personal key with ``*``.
    """

    def __init__(self, access: AccessService, principal: Principal) -> None:
        if principal.user is None or ANY_SCOPE not in principal.scopes:
            raise Forbidden("Managing personal API keys needs a key with the scope '*'.")
        self._access = access
        self._principal = principal
        self._user: User = principal.user

    async def all(self) -> Sequence[PersonalKeyRow]:
        """The user's keys, newest first."""
        async with self._access.database.read() as session:
            return await key_repository.personal_keys_of(session, self._user.id)

    async def get(self, key_id: str) -> PersonalKeyRow:
        """One of the user's keys.

        Raises:
            NotFound: no such key.
        """
        async with self._access.database.read() as session:
            return await self._find(session, key_id)

    async def create(self, fields: PersonalKeyFields) -> tuple[PersonalKeyRow, str]:
        """A new key with its value.

        Raises:
            Invalid: unknown scopes, unreachable projects, or ten keys already.
            Forbidden: more than the caller's own key may do.
        """
        now = self._access.clock.now()
        async with self._access.database.write() as session:
            await self._check(session, fields.model_dump())
            if await key_repository.count_made_by_api(session, self._user.id) >= MOST_KEYS:
                raise Invalid(f"A user can have at most {MOST_KEYS} keys. Delete one first.")
            key = make_key("phx_")
            row = PersonalKeyRow(
                id=make_key_id(),
                user_id=self._user.id,
                label=fields.label,
                mask_value=key.mask,
                key_hash=key.hash,
                scopes=fields.scopes,
                scoped_teams=fields.scoped_teams,
                scoped_organizations=[str(each) for each in fields.scoped_organizations],
                is_made_by_api=True,
                created_at=now,
                last_rolled_at=now,
            )
            session.add(row)
            await self._log(session, row, "created")
        return row, key.value

    async def change(self, key_id: str, changes: PersonalKeyChanges) -> PersonalKeyRow:
        """Change the given fields.

        Raises:
            NotFound, Invalid, Forbidden: as ``create``.
        """
        given = changes.model_dump(include=changes.model_fields_set)
        async with self._access.database.write() as session:
            row = await self._find(session, key_id)
            await self._check(session, _state(row) | given)
            if "scopes" in given and ANY_SCOPE not in given["scopes"]:
                await self._keep_one_with_everything(session, row)
            if "scoped_organizations" in given:
                given["scoped_organizations"] = [str(e) for e in given["scoped_organizations"]]
            changed = changes_between(_state(row), given)
            for name, value in given.items():
                setattr(row, name, value)
            if changed:
                await self._log(session, row, "updated", changed)
        self._access.forget()
        return row

    async def roll(self, key_id: str) -> tuple[PersonalKeyRow, str]:
        """Generate a new value for a key; the old one stops working at once."""
        async with self._access.database.write() as session:
            row = await self._find(session, key_id)
            key: NewKey = make_key("phx_")
            row.key_hash, row.mask_value = key.hash, key.mask
            row.last_rolled_at = self._access.clock.now()
            await self._log(session, row, "rolled")
        self._access.forget()
        return row, key.value

    async def delete(self, key_id: str) -> None:
        """Delete a key.

        Raises:
            NotFound: no such key. Invalid: it is the user's last key with ``*``.
        """
        async with self._access.database.write() as session:
            row = await self._find(session, key_id)
            await self._keep_one_with_everything(session, row)
            await self._log(session, row, "deleted")
            await session.delete(row)
        self._access.forget()

    async def _find(self, session: AsyncSession, key_id: str) -> PersonalKeyRow:
        row = await key_repository.find_key(session, key_id.replace("\x00", ""))
        if row is None or row.user_id != self._user.id:
            raise NotFound
        return row

    async def _check(self, session: AsyncSession, fields: dict[str, Any]) -> None:
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

    async def _keep_one_with_everything(self, session: AsyncSession, row: PersonalKeyRow) -> None:
        if ANY_SCOPE not in (row.scopes or [ANY_SCOPE]):
            return
        others = await key_repository.personal_keys_of(session, self._user.id)
        if not any(ANY_SCOPE in each.scopes for each in others if each.id != row.id):
            raise Invalid("This is your last key with the scope '*'. Create another one first.")

    async def _log(
        self,
        session: AsyncSession,
        row: PersonalKeyRow,
        activity: str,
        changes: Sequence[FieldChange] = (),
    ) -> None:
        project = await self._access.current_project(self._principal)
        if project is not None:
            entry = Activity(
                project.id, self._user.id, activity, "PersonalAPIKey", row.id, row.label, changes
            )
            await self._access.activity.record(session, entry)


def _state(row: PersonalKeyRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _LOGGED}


def _unreachable(attr: str, values: Iterable[Any]) -> Invalid:
    return Invalid(f"Not accessible with your key: {', '.join(map(str, values))}.", attr=attr)


def _check_within(name: str, own: frozenset[Any], granted: Sequence[Any]) -> None:
    """A restricted key can only create keys that are at least as restricted."""
    if own and (not granted or not own.issuperset(granted)):
        allowed = ", ".join(sorted(map(str, own)))
        raise Forbidden(f"This key is restricted to {name} {allowed} and cannot grant more.")
