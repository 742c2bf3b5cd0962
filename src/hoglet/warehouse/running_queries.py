"""The queries that are running in the engine, and how they are cancelled.

One thread kills queries, all at once, and again until each has ended: a query that is just starting
is not known to the engine yet.
"""

import asyncio
import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import structlog

from hoglet.warehouse.errors import QueryCancelled

STOP_PAUSE_S = 0.05
STOP_SECONDS = 30.0

log = structlog.get_logger()


class RunningQueries:
    """Futures of reads by query id; several reads may share an id.

    Args:
        kill: stops queries in the engine by their ids; blocks.

    Concurrency: methods are called on the event loop; ``kill`` runs in a thread of its own.
    """

    def __init__(self, kill: Callable[[Sequence[str]], None]) -> None:
        self._kill = kill
        self._futures: defaultdict[str, list[Future[Any]]] = defaultdict(list)
        self._stopper = ThreadPoolExecutor(1, "warehouse-stop")
        self._stopping: list[tuple[str, Future[Any], float]] = []  # last: its deadline
        self._stopping_lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._futures)

    async def result[R](self, query_id: str, future: Future[R]) -> R:
        """Wait for a read; if the waiting task is cancelled, the query is killed.

        Raises:
            QueryCancelled: :meth:`cancel` was called before the read began.
        """
        self._futures[query_id].append(future)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if future.cancelled() and not (task and task.cancelling()):
                raise QueryCancelled("The query was cancelled.") from None
            self._stop(query_id, [future])
            raise
        finally:
            self._forget_when_ended(query_id, future)

    async def cancel(self, query_id: str, *, is_shared: bool = False) -> None:
        """Kill a query and wait until it has ended, at most ``STOP_SECONDS``.

        Args:
            query_id: an unknown id has no effect, unless ``is_shared``.
            is_shared: other processes use the engine, so an unknown query may be theirs.
        """
        known = list(self._futures.get(query_id, ()))
        running = [future for future in known if not future.cancel()]
        if running:
            self._stop(query_id, running)
            await _ended(query_id, running)
        elif not known and is_shared:
            await asyncio.get_running_loop().run_in_executor(self._stopper, self._kill, [query_id])

    async def cancel_all(self) -> None:
        """Kill all queries of this process."""
        await asyncio.gather(*(self.cancel(query_id) for query_id in list(self._futures)))

    async def close(self) -> None:
        """End the thread that kills queries."""
        await asyncio.to_thread(self._stopper.shutdown, wait=True, cancel_futures=True)

    def _forget_when_ended(self, query_id: str, future: Future[Any]) -> None:
        """Forget a query, at once if it has ended: waking the loop from a thread costs 70 µs."""
        if future.done():
            self._forget(query_id, future)
            return
        forget = partial(self._forget, query_id, future)
        future.add_done_callback(partial(call_soon, asyncio.get_running_loop(), forget))

    def _forget(self, query_id: str, ended: Future[Any]) -> None:
        running = self._futures.get(query_id, [])
        if ended in running:
            running.remove(ended)
        if not running:
            self._futures.pop(query_id, None)

    def _stop(self, query_id: str, running: Sequence[Future[Any]]) -> None:
        until = time.monotonic() + STOP_SECONDS
        with self._stopping_lock:
            is_idle = not self._stopping
            self._stopping.extend((query_id, future, until) for future in running)
        if is_idle and running:
            self._stopper.submit(self._stop_all)

    def _stop_all(self) -> None:
        """Kill all queries to be stopped in one statement, until none is left."""
        while waiting := self._left_to_stop():
            try:
                self._kill([query_id for query_id, _ in waiting])
            except Exception:
                log.exception("stopping queries failed", action="kill_failed")
            _wait(waiting[0][1], STOP_PAUSE_S)

    def _left_to_stop(self) -> list[tuple[str, Future[Any]]]:
        now = time.monotonic()
        with self._stopping_lock:
            self._stopping = [
                (query_id, future, until)
                for query_id, future, until in self._stopping
                if not future.done() and now < until
            ]
            return [(query_id, future) for query_id, future, _ in self._stopping]


async def _ended(query_id: str, running: Sequence[Future[Any]]) -> None:
    """Wait until the engine has ended a query that is being stopped."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            for future in running:
                ended = asyncio.Event()
                future.add_done_callback(partial(call_soon, loop, ended.set))
                await ended.wait()
    except TimeoutError:
        log.warning("a query does not stop", action="cancel_slow", query_id=query_id)


def call_soon(loop: asyncio.AbstractEventLoop, work: Callable[[], object], _: Future[Any]) -> None:
    """Schedule a callback on the loop from another thread; no effect once the loop is closed."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(work)


def _wait(running: Future[Any], seconds: float) -> None:
    with contextlib.suppress(BaseException):
        running.exception(timeout=seconds)
