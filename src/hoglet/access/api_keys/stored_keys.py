"""Base of personal keys and project secret keys: create, change, roll and log.

The value of a key is returned once; afterwards only its hash is stored.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, FieldChange, Fields, changes_between
from hoglet.access.auth import AccessService
from hoglet.access.keys import make_key, make_key_id
from hoglet.access.tables import PersonalKeyRow, SecretKeyRow
from hoglet.kit.errors import NotFound


class NewKeyColumns(NamedTuple):
    """The columns of a key that are generated with its value."""

    id: str
    mask_value: str
    key_hash: str
    created_at: datetime
    last_rolled_at: datetime


class StoredKeys[Row: PersonalKeyRow | SecretKeyRow](ABC):
    """The keys of one owner.

    Args:
        access: database, clock, activity log.
        user_id: the user who makes the changes, for the activity log.
    """

    prefix: ClassVar[Literal["phx_", "phs_"]]
    logged_as: ClassVar[str]
    logged_fields: ClassVar[tuple[str, ...]]

    def __init__(self, access: AccessService, user_id: int | None) -> None:
        self._access = access
        self._user_id = user_id

    async def get(self, key_id: str) -> Row:
        """One of the owner's keys.

        Raises:
            NotFound: the owner has no key with this id.
        """
        async with self._access.database.read() as session:
            return await self._get(session, key_id)

    async def roll(self, key_id: str) -> tuple[Row, str]:
        """Generate a new value for a key; the old one stops working at once."""
        async with self._access.database.write() as session:
            row = await self._get(session, key_id, lock=True)
            key = make_key(self.prefix)
            row.key_hash, row.mask_value = key.hash, key.mask
            row.last_rolled_at = self._access.clock.now()
            await self._log(session, row, "rolled")
        self._access.forget()
        return row, key.value

    async def delete(self, key_id: str) -> None:
        """Delete a key; it stops working at once.

        Raises:
            NotFound: the owner has no key with this id.
        """
        async with self._access.database.write() as session:
            await self._lock_all(session)
            row = await self._get(session, key_id, lock=True)
            await self._check_delete(session, row)
            await self._log(session, row, "deleted")
            await session.delete(row)
        self._access.forget()

    async def _lock_all(self, session: AsyncSession) -> None:
        """Change the owner's keys one at a time: limits and labels depend on all of them."""
        await self._access.database.serialize(session, f"{self.logged_as} {self.owner_id}")

    @property
    @abstractmethod
    def owner_id(self) -> int:
        """The user or project that has the keys."""

    @abstractmethod
    async def _find(self, session: AsyncSession, key_id: str, *, lock: bool) -> Row | None:
        """The owner's key with this id; ``lock`` locks it until the transaction ends."""

    @abstractmethod
    async def _project_id(self, row: Row) -> int | None:
        """The project whose activity log records the key; None if there is none."""

    async def _check_delete(self, session: AsyncSession, row: Row) -> None:
        """Refuse to delete a key that is still needed; by default, any key may be deleted."""
        del session, row

    def _generate(self) -> tuple[NewKeyColumns, str]:
        """The generated columns of a new key, and its value."""
        key, now = make_key(self.prefix), self._access.clock.now()
        return NewKeyColumns(make_key_id(), key.mask, key.hash, now, now), key.value

    async def _add(self, session: AsyncSession, row: Row) -> None:
        session.add(row)
        await self._log(session, row, "created")

    async def _apply(self, session: AsyncSession, row: Row, changes: Fields) -> None:
        changed = changes_between(self._logged(row), changes)
        for name, value in changes.items():
            setattr(row, name, value)
        if changed:
            await self._log(session, row, "updated", changed)

    async def _get(self, session: AsyncSession, key_id: str, *, lock: bool = False) -> Row:
        row = await self._find(session, key_id.replace("\x00", ""), lock=lock)
        if row is None:
            raise NotFound
        return row

    def _logged(self, row: Row) -> Fields:
        return {name: getattr(row, name) for name in self.logged_fields}

    async def _log(
        self, session: AsyncSession, row: Row, activity: str, changes: Sequence[FieldChange] = ()
    ) -> None:
        project_id = await self._project_id(row)
        if project_id is not None:
            entry = Activity(
                project_id, self._user_id, activity, self.logged_as, row.id, row.label, changes
            )
            await self._access.activity.record(session, entry)
