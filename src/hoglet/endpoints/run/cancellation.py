"""Runs that can be cancelled by the id their caller chose."""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from hoglet.endpoints.errors import RunCancelled
from hoglet.endpoints.run.cancel_requests import POLL_SECONDS, CancelRequests, RunKey

log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class _Announced:
    """A run in preparation; ``watch`` refuses to start it once it is cancelled."""

    is_cancelled: bool = False


class CancellableRuns:
    """The runs of this process, by endpoint and ``client_query_id``.

    A run is announced before anything is read for it and watched while it computes, so it can be
    cancelled at any time, with ``requests`` by other servers too.

    Concurrency: for one event loop.
    """

    def __init__(self, requests: CancelRequests) -> None:
        self._requests = requests
        self._polling: asyncio.Task[None] | None = None
        self._announced: defaultdict[RunKey, set[_Announced]] = defaultdict(set)
        self._tasks: defaultdict[RunKey, set[asyncio.Task[Any]]] = defaultdict(set)
        self._cancelled: set[asyncio.Task[Any]] = set()

    @contextmanager
    def announced(self, endpoint_id: UUID, query_id: str | None) -> Generator[None]:
        """Announce a run with this id during the block; no effect if it has none (None)."""
        if query_id is None:
            yield
            return
        key, run = (endpoint_id, query_id), _Announced()
        self._announced[key].add(run)
        self._start_polling()
        try:
            yield
        finally:
            _remove(self._announced, key, run)

    async def watch[T](self, endpoint_id: UUID, query_id: str, work: Coroutine[Any, Any, T]) -> T:
        """Do work that ``cancel`` can stop.

        Raises:
            RunCancelled: the run is or was cancelled.
        """
        key = (endpoint_id, query_id)
        if any(run.is_cancelled for run in self._announced.get(key, ())):
            work.close()
            raise _cancelled()
        task = asyncio.ensure_future(work)
        self._tasks[key].add(task)
        task.add_done_callback(lambda _: self._forget(key, task))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():
                self._cancel(task)
                raise
            raise _cancelled() from None

    async def cancel_elsewhere(self, endpoint_id: UUID, query_id: str) -> bool:
        """Cancel the runs with this id on other servers; returns whether one had any."""
        return await self._requests.ask((endpoint_id, query_id))

    async def cancel(self, endpoint_id: UUID, query_id: str) -> bool:
        """Cancel this process's runs with this id and wait for their end.

        Returns whether there were any. A query that other callers wait for continues for them.

        Idempotency: a second call waits for the same end.
        """
        key = (endpoint_id, query_id)
        announced = self._announced.get(key, set())
        for run in announced:
            run.is_cancelled = True
        tasks = set(self._tasks.get(key, ()))
        for task in tasks:
            self._cancel(task)
        if tasks:
            await asyncio.wait(tasks)
        return bool(tasks or announced)

    def _start_polling(self) -> None:
        if self._requests.is_shared and (self._polling is None or self._polling.done()):
            self._polling = asyncio.create_task(self._poll(), name="cancel requests")

    async def _poll(self) -> None:
        """Serve requests of other servers while this one has runs with ids."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            keys = {*self._announced, *self._tasks}
            if not keys:
                return
            try:
                requests = await self._requests.find(keys)
                await asyncio.gather(*(self._serve(row_id, key) for row_id, key in requests))
            except Exception:
                log.exception("cancel requests cannot be read", action="cancel_requests_failed")

    async def _serve(self, row_id: UUID, key: RunKey) -> None:
        await self._requests.report(row_id, is_ended=False)
        await self.cancel(*key)
        await self._requests.report(row_id, is_ended=True)

    def _cancel(self, task: asyncio.Task[Any]) -> None:
        """Cancel a task once: a second time would interrupt its wait for the engine to stop."""
        if task not in self._cancelled:
            self._cancelled.add(task)
            task.cancel()

    def _forget(self, key: RunKey, task: asyncio.Task[Any]) -> None:
        _remove(self._tasks, key, task)
        self._cancelled.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not warn if nobody waits


def _remove[V](members: dict[RunKey, set[V]], key: RunKey, member: V) -> None:
    members[key].discard(member)
    if not members[key]:
        del members[key]


def _cancelled() -> RunCancelled:
    return RunCancelled("The run was cancelled.")
