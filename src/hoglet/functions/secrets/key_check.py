"""Ties a database to its encryption keys, even while it holds no secrets.

Servers on one PostgreSQL with different keys would both accept secrets, and each would turn the
deliveries of the other's functions into dead letters.
"""

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.secrets.box import SecretBox
from hoglet.functions.tables import SecretKeyCheckRow
from hoglet.store.database import Database

_LOCK = 7_226_315  # an arbitrary constant that nothing else in the database locks
_TEXT = {"check": "hoglet"}


async def claim_keys(database: Database, box: SecretBox, *, may_replace: bool) -> bool:
    """Record the keys at a database's first start; compare them at later ones.

    Args:
        database: the database, with the newest schema.
        box: has the configured keys.
        may_replace: whether keys other than the recorded ones may replace them.

    Returns:
        False if the database belongs to other keys.
    """
    async with database.read() as session:
        if await _opens(session, box):
            return True
    async with database.write() as session:
        await database.serialize(session, _LOCK)  # the first of two servers records its keys
        if await _opens(session, box):
            return True
        if not may_replace and await _recorded(session):
            return False
        await forget_keys(session)
        encrypted = box.encrypt(_TEXT)
        await session.execute(insert(SecretKeyCheckRow).values(encrypted=encrypted))
        return True


async def forget_keys(session: AsyncSession) -> None:
    """Let the next start accept any keys."""
    await session.execute(delete(SecretKeyCheckRow))


async def reencrypt_check(session: AsyncSession, box: SecretBox) -> None:
    """Tie the database to the newest key; no effect if the keys do not belong to it."""
    row = await session.scalar(select(SecretKeyCheckRow).with_for_update())
    if row is not None and box.can_open(row.encrypted):
        row.encrypted = box.reencrypt(row.encrypted)


async def _opens(session: AsyncSession, box: SecretBox) -> bool:
    recorded = await _recorded(session)
    return recorded is not None and box.can_open(recorded)


async def _recorded(session: AsyncSession) -> str | None:
    return await session.scalar(select(SecretKeyCheckRow.encrypted))
