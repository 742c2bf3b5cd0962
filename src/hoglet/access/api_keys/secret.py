"""Project secret keys over the API: for programs that run endpoints and queries.

Source: docs/spec/data-and-queries.md#52-project-secret-keys-project_secret_api_keys.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import key_repository
from hoglet.access.activity import Activity, FieldChange, changes_between
from hoglet.access.api_keys.schemas import SecretKeyChanges, SecretKeyFields
from hoglet.access.keys import make_key, make_key_id
from hoglet.access.principals import ProjectScope
from hoglet.access.scopes import SECRET_KEY_SCOPES, check_grant, check_scopes
from hoglet.access.service import AccessService
from hoglet.access.tables import SecretKeyRow
from hoglet.kit.errors import Invalid, NotFound

MOST_KEYS = 50  # of a project


class SecretKeys:
    """The secret keys of one project.

    Args:
        access: database, clock, activity log.
        scope: the project and the caller.
    """

    def __init__(self, access: AccessService, scope: ProjectScope) -> None:
        self._access = access
        self._scope = scope

    async def all(self) -> Sequence[SecretKeyRow]:
        """The project's keys, newest first."""
        async with self._access.database.read() as session:
            rows = await key_repository.secret_keys(session, self._scope.project.id)
        return rows[::-1]

    async def get(self, key_id: str) -> SecretKeyRow:
        """A key of the project.

        Raises:
            NotFound: the project has no key with this id.
        """
        async with self._access.database.read() as session:
            return await self._find(session, key_id)

    async def create(self, fields: SecretKeyFields) -> tuple[SecretKeyRow, str]:
        """A new key with its value.

        Raises:
            Invalid: a scope that secret keys cannot have, a label in use, or fifty keys already.
            Forbidden: the caller's own key does not have the scope.
        """
        project_id, now = self._scope.project.id, self._access.clock.now()
        self._check_scopes(fields.scopes)
        async with self._access.database.write() as session:
            await self._check_label(session, fields.label)
            if await key_repository.count_secret_keys(session, project_id) >= MOST_KEYS:
                raise Invalid(
                    f"A project can have at most {MOST_KEYS} secret keys. Delete one first."
                )
            key = make_key("phs_")
            row = SecretKeyRow(
                id=make_key_id(),
                project_id=project_id,
                label=fields.label,
                mask_value=key.mask,
                key_hash=key.hash,
                scopes=fields.scopes,
                created_by_id=self._scope.user_id,
                created_at=now,
                last_rolled_at=now,
            )
            session.add(row)
            await self._log(session, row, "created")
        return row, key.value

    async def change(self, key_id: str, changes: SecretKeyChanges) -> SecretKeyRow:
        """Change the given fields.

        Raises:
            NotFound, Invalid, Forbidden: as ``create``.
        """
        given = changes.model_dump(include=changes.model_fields_set)
        if "scopes" in given:
            self._check_scopes(given["scopes"])
        async with self._access.database.write() as session:
            row = await self._find(session, key_id)
            if given.get("label", row.label) != row.label:
                await self._check_label(session, given["label"])
            changed = changes_between(_state(row), given)
            for name, value in given.items():
                setattr(row, name, value)
            if changed:
                await self._log(session, row, "updated", changed)
        self._access.forget()
        return row

    async def roll(self, key_id: str) -> tuple[SecretKeyRow, str]:
        """Generate a new value for a key; the old one stops working at once."""
        async with self._access.database.write() as session:
            row = await self._find(session, key_id)
            key = make_key("phs_")
            row.key_hash, row.mask_value = key.hash, key.mask
            row.last_rolled_at = self._access.clock.now()
            await self._log(session, row, "rolled")
        self._access.forget()
        return row, key.value

    async def delete(self, key_id: str) -> None:
        """Delete a key; it stops working at once."""
        async with self._access.database.write() as session:
            row = await self._find(session, key_id)
            await self._log(session, row, "deleted")
            await session.delete(row)
        self._access.forget()

    async def _find(self, session: AsyncSession, key_id: str) -> SecretKeyRow:
        row = await session.get(SecretKeyRow, key_id.replace("\x00", ""))
        if row is None or row.project_id != self._scope.project.id:
            raise NotFound
        return row

    def _check_scopes(self, scopes: Sequence[str]) -> None:
        check_scopes(scopes, SECRET_KEY_SCOPES)
        check_grant(self._scope.principal, scopes)

    async def _check_label(self, session: AsyncSession, label: str) -> None:
        rows = await key_repository.secret_keys(session, self._scope.project.id)
        if any(row.label == label for row in rows):
            raise Invalid(f'A secret key with the label "{label}" already exists.', attr="label")

    async def _log(
        self,
        session: AsyncSession,
        row: SecretKeyRow,
        activity: str,
        changes: Sequence[FieldChange] = (),
    ) -> None:
        entry = Activity(
            row.project_id,
            self._scope.user_id,
            activity,
            "ProjectSecretAPIKey",
            row.id,
            row.label,
            changes,
        )
        await self._access.activity.record(session, entry)


def _state(row: SecretKeyRow) -> dict[str, Any]:
    return {"label": row.label, "scopes": row.scopes}
