"""Caches the functions that runs need, by version.

A project's version stamp is read at most once a second, so changes apply within a second.
"""

import asyncio
import math
import time
from uuid import UUID

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.service import FunctionService

STAMP_SECONDS = 1.0

type _Known = tuple[str, ExecutableFunction | None]
"""A function, and its project's version stamp when it was loaded."""


class FunctionCache:
    """Live functions by id, with decrypted secrets, which are only ever sent to workers."""

    def __init__(self, functions: FunctionService) -> None:
        self._functions = functions
        self._stamps: dict[int, tuple[float, str]] = {}
        self._known: dict[tuple[int, UUID], _Known] = {}
        self._reading: dict[tuple[int, UUID], asyncio.Task[_Known]] = {}

    async def get(
        self, project_id: int, function_id: UUID, *, present: bool = False
    ) -> ExecutableFunction | None:
        """The function, at most a second old; with ``present``, its current state.

        None if it was deleted.
        """
        if present:
            return (await self._read(project_id, function_id, None))[1]
        stamp = self._recent_stamp(project_id)
        known = self._known.get((project_id, function_id))
        if stamp is None or known is None or known[0] != stamp:
            known = await self._read_once(project_id, function_id, stamp)
        return known[1]

    async def _read_once(self, project_id: int, function_id: UUID, stamp: str | None) -> _Known:
        """Load a function once for all runs that request it at the same time."""
        key = (project_id, function_id)
        task = self._reading.get(key)
        if task is None:
            task = asyncio.create_task(self._read(project_id, function_id, stamp))
            self._reading[key] = task
            task.add_done_callback(lambda _: self._reading.pop(key, None))
        return await asyncio.shield(task)

    async def _read(self, project_id: int, function_id: UUID, stamp: str | None) -> _Known:
        if stamp is None:
            now = time.monotonic()
            stamp = await self._functions.version_stamp(project_id)
            self._stamps[project_id] = (now, stamp)
        known = self._known.get((project_id, function_id))
        if known is None or known[0] != stamp:
            loaded = await self._functions.load_one(project_id, function_id)
            known = self._known[project_id, function_id] = (stamp, loaded)
        return known

    def _recent_stamp(self, project_id: int) -> str | None:
        read_at, stamp = self._stamps.get(project_id, (-math.inf, ""))
        return stamp if time.monotonic() - read_at <= STAMP_SECONDS else None
