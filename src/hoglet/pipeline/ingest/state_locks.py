"""Lets a group change persons and groups alone if other servers keep changing them.

Groups of several servers for a project are committed side by side, and the later one of two that
changed the same row is processed again. A large group that takes seconds could lose against small
ones each time.

Source: docs/adr/0079-locked-before-changed.md.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable

import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.kit.errors import HogletError
from hoglet.store.database import Database

log = structlog.get_logger()

STATE_LOCK = "persons and groups of project {}"
"""The name of a project's lock, which every commit of a group shares on PostgreSQL."""


class StateLocks:
    """The locks of projects' persons and groups, taken alone; without effect on SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextlib.asynccontextmanager
    async def alone(self, project_ids: Iterable[int]) -> AsyncGenerator[None]:
        """Have other groups wait with their commits within this context.

        If the database ends the transaction that holds the locks, they no longer wait.
        """
        has_tried, may_end = asyncio.Event(), asyncio.Event()
        holder = asyncio.create_task(self._hold(sorted(project_ids), has_tried, may_end))
        try:
            await has_tried.wait()
            yield
        finally:
            may_end.set()
            await holder

    async def _hold(
        self, project_ids: list[int], has_tried: asyncio.Event, may_end: asyncio.Event
    ) -> None:
        try:
            async with self._database.write() as session:
                for project_id in project_ids:
                    await self._database.serialize(session, STATE_LOCK.format(project_id))
                has_tried.set()
                await may_end.wait()
        except (HogletError, SQLAlchemyError, OSError) as error:
            log.info("a group is not alone", action="not_alone", error=str(error))
        finally:
            has_tried.set()
