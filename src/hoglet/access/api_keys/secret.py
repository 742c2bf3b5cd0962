"""Manages project secret keys, which programs use to run endpoints and queries.

Source: docs/spec/data-and-queries.md#52-project-secret-keys-project_secret_api_keys.
"""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository
from hoglet.access.api_keys.schemas import SecretKeyChanges, SecretKeyFields
from hoglet.access.api_keys.stored_keys import StoredKeys
from hoglet.access.auth import AccessService
from hoglet.access.principals import ProjectScope
from hoglet.access.scopes import SECRET_KEY_SCOPES, check_grant, check_scopes
from hoglet.access.tables import SecretKeyRow
from hoglet.kit.errors import Invalid

MAX_KEYS = 50  # of a project


class SecretKeys(StoredKeys[SecretKeyRow]):
    """The secret keys of one project.

    Args:
        access: database, clock, activity log.
        scope: the project and the caller.
    """

    prefix = "phs_"
    logged_as = "ProjectSecretAPIKey"
    logged_fields = ("label", "scopes")

    def __init__(self, access: AccessService, scope: ProjectScope) -> None:
        super().__init__(access, scope.user_id)
        self._scope = scope

    @property
    def owner_id(self) -> int:
        """The project."""
        return self._scope.project.id

    async def all(self) -> Sequence[SecretKeyRow]:
        """The project's keys, newest first."""
        async with self._access.database.read() as session:
            rows = await repository.secret_keys(session, self._scope.project.id)
        return rows[::-1]

    async def create(self, fields: SecretKeyFields) -> tuple[SecretKeyRow, str]:
        """A new key with its value.

        Raises:
            Invalid: a scope that secret keys cannot have, a label in use, or fifty keys already.
            Forbidden: the caller's own key does not have the scope.
        """
        project_id = self._scope.project.id
        self._check_scopes(fields.scopes)
        async with self._access.database.write() as session:
            await self._lock_all(session)
            await self._check_label(session, fields.label)
            if await repository.count_secret_keys(session, project_id) >= MAX_KEYS:
                raise Invalid(
                    f"A project can have at most {MAX_KEYS} secret keys. Delete one first."
                )
            generated, value = self._generate()
            row = SecretKeyRow(
                **generated._asdict(),
                project_id=project_id,
                label=fields.label,
                scopes=fields.scopes,
                created_by_id=self._scope.user_id,
            )
            await self._add(session, row)
        return row, value

    async def change(self, key_id: str, changes: SecretKeyChanges) -> SecretKeyRow:
        """Change the given fields.

        Raises:
            NotFound, Invalid, Forbidden: as ``create``.
        """
        given = changes.model_dump(include=changes.model_fields_set)
        if "scopes" in given:
            self._check_scopes(given["scopes"])
        async with self._access.database.write() as session:
            await self._lock_all(session)
            row = await self._get(session, key_id, lock=True)
            if given.get("label", row.label) != row.label:
                await self._check_label(session, given["label"])
            await self._apply(session, row, given)
        self._access.forget()
        return row

    async def _find(self, session: AsyncSession, key_id: str, *, lock: bool) -> SecretKeyRow | None:
        row = await session.get(SecretKeyRow, key_id, with_for_update=lock)
        return row if row is not None and row.project_id == self._scope.project.id else None

    async def _project_id(self, row: SecretKeyRow) -> int:
        return row.project_id

    def _check_scopes(self, scopes: Sequence[str]) -> None:
        check_scopes(scopes, SECRET_KEY_SCOPES)
        check_grant(self._scope.principal, scopes)

    async def _check_label(self, session: AsyncSession, label: str) -> None:
        rows = await repository.secret_keys(session, self._scope.project.id)
        if any(row.label == label for row in rows):
            raise Invalid(f'A secret key with the label "{label}" already exists.', attr="label")
