"""Runs that can be cancelled by the id their caller gave them."""

import asyncio
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

from hoglet.endpoints.errors import RunCancelled


class CancellableRuns:
    """The runs of this process that are computing, by endpoint and ``client_query_id``.

    Concurrency: for one event loop.
    """

    def __init__(self) -> None:
        self._tasks: dict[tuple[UUID, str], set[asyncio.Task[Any]]] = {}

    async def watch[T](self, endpoint_id: UUID, query_id: str, work: Coroutine[Any, Any, T]) -> T:
        """Do some work that ``cancel`` can stop.

        Raises:
            RunCancelled: it did.
        """
        key = (endpoint_id, query_id)
        task = asyncio.ensure_future(work)
        self._tasks.setdefault(key, set()).add(task)
        try:
            return await task
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():
                task.cancel()
                raise
            raise RunCancelled("The run was cancelled.") from None
        finally:
            running = self._tasks.get(key, set())
            running.discard(task)
            if not running:
                self._tasks.pop(key, None)

    def cancel(self, endpoint_id: UUID, query_id: str) -> bool:
        """Stop the runs of this id; whether there were any.

        A query that other callers wait for too goes on for them.
        """
        tasks = self._tasks.pop((endpoint_id, query_id), set())  # once: they may take a moment
        for task in tasks:
            task.cancel()
        return bool(tasks)
