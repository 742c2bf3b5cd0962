"""Statements on signing keys of tenant tokens."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.tables import SigningKeyRow


async def find_usable(session: AsyncSession, key_id: str, now: datetime) -> SigningKeyRow | None:
    """The key with this id, unless its grace time is over."""
    statement = select(SigningKeyRow).where(SigningKeyRow.id == key_id, _usable(now))
    return await session.scalar(statement)


async def usable(
    session: AsyncSession, project_id: int, now: datetime, *, lock: bool = False
) -> Sequence[SigningKeyRow]:
    """The keys of a project whose tokens are accepted; the current one first."""
    statement = (
        select(SigningKeyRow)
        .where(SigningKeyRow.project_id == project_id, _usable(now))
        .order_by(
            SigningKeyRow.expires_at.is_not(None),
            SigningKeyRow.created_at.desc(),
            SigningKeyRow.id.desc(),
        )
    )
    return (await session.scalars(statement.with_for_update() if lock else statement)).all()


async def delete_expired(session: AsyncSession, project_id: int, now: datetime) -> None:
    """Delete the keys of a project whose grace time is over."""
    expired = (SigningKeyRow.project_id == project_id, SigningKeyRow.expires_at <= now)
    await session.execute(delete(SigningKeyRow).where(*expired))


async def every(session: AsyncSession) -> Sequence[SigningKeyRow]:
    """The keys of all projects, locked for update."""
    return (await session.scalars(select(SigningKeyRow).with_for_update())).all()


async def encrypted_texts(session: AsyncSession) -> list[str]:
    """The encrypted keys of all projects."""
    return list(await session.scalars(select(SigningKeyRow.encrypted)))


def _usable(now: datetime) -> ColumnElement[bool]:
    return or_(SigningKeyRow.expires_at.is_(None), SigningKeyRow.expires_at > now)
