"""Statements on masking counters.

Source: docs/spec/hog-functions.md#6-masking.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

import msgspec
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.tables import MaskRow


class MaskRaise(msgspec.Struct):
    """How a counter was raised: from ``old`` to ``new``."""

    old: int
    new: int


async def raise_counters(
    session: AsyncSession, raises: Mapping[tuple[UUID, str], tuple[int, int]], now: datetime
) -> dict[tuple[UUID, str], MaskRaise]:
    """Raise counters; the end of a window is set when its counter starts.

    Args:
        session: a write transaction.
        raises: ``{(function id, md5): (number of runs, ttl in seconds)}``.
        now: decides what has expired.
    """
    answer: dict[tuple[UUID, str], MaskRaise] = {}
    # In one order, or servers that raise the same counters would wait for each other.
    for (function_id, digest), (number, ttl) in sorted(raises.items()):
        row = await session.scalar(
            select(MaskRow)
            .where(MaskRow.function_id == function_id, MaskRow.hash == digest)
            .with_for_update()
        )
        if row is None:
            row = MaskRow(function_id=function_id, hash=digest, count=0, expires_at=now)
            session.add(row)
        if row.expires_at <= now:
            row.count, row.expires_at = 0, now + timedelta(seconds=ttl)
        answer[function_id, digest] = MaskRaise(row.count, row.count + number)
        row.count += number
    return answer


async def find_counter(
    session: AsyncSession, function_id: UUID, digest: str, now: datetime
) -> MaskRow | None:
    """The counter of a hash while its window lasts."""
    return await session.scalar(
        select(MaskRow).where(
            MaskRow.function_id == function_id, MaskRow.hash == digest, MaskRow.expires_at > now
        )
    )


async def drop_expired(session: AsyncSession, now: datetime) -> None:
    """Delete counters whose window has ended."""
    await session.execute(delete(MaskRow).where(MaskRow.expires_at <= now))


def masked_allowance(old: int, new: int, threshold: int | None) -> int:
    """How many of the runs that raised a counter from ``old`` to ``new`` may proceed.

    Example:
        >>> masked_allowance(0, 5, 2)
        3
    """
    if not threshold:
        return 1 if old == 0 and new > 0 else 0
    return (new - 1) // threshold - (old - 1) // threshold
