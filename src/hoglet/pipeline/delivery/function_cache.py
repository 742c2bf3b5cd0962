"""Caches the functions that runs need, by version.

A project's version stamp is read at most once a second, so changes apply within a second.
"""

import asyncio
import time
from uuid import UUID

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.service import FunctionService

STAMP_SECONDS = 1.0


class FunctionCache:
    """Live functions by id, with decrypted secrets; only ever sent to workers."""

    def __init__(self, functions: FunctionService) -> None:
        self._functions = functions
        self._stamps: dict[int, tuple[float, str]] = {}
        self._asking: dict[int, asyncio.Lock] = {}
        self._known: dict[tuple[int, UUID], tuple[str, ExecutableFunction | None]] = {}

    async def get(
        self, project_id: int, function_id: UUID, *, present: bool = False
    ) -> ExecutableFunction | None:
        """The function as of at most a second ago, or with ``present`` as of now.

        None if it was deleted.
        """
        stamp = await self._stamp(project_id, 0.0 if present else STAMP_SECONDS)
        known = self._known.get((project_id, function_id))
        if known is None or known[0] != stamp:
            known = await self._load(project_id, function_id, stamp)
        return known[1]

    async def _load(
        self, project_id: int, function_id: UUID, stamp: str
    ) -> tuple[str, ExecutableFunction | None]:
        async with self._asking[project_id]:
            known = self._known.get((project_id, function_id))
            if known is None or known[0] != stamp:
                loaded = await self._functions.load_one(project_id, function_id)
                known = self._known[project_id, function_id] = (stamp, loaded)
            return known

    async def _stamp(self, project_id: int, age: float) -> str:
        """One caller reads the stamp for all that wait: hundreds may start at the same moment."""
        async with self._asking.setdefault(project_id, asyncio.Lock()):
            now = time.monotonic()
            asked_at, stamp = self._stamps.get(project_id, (0.0, ""))
            if not stamp or now - asked_at > age:
                stamp = await self._functions.version_stamp(project_id)
                self._stamps[project_id] = (now, stamp)
            return stamp
