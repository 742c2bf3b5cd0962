"""Threads for blocking calls of the engine.

A query runs on the thread that became idle last, whose caches in the engine and the allocator are
warm. ``ThreadPoolExecutor`` wakes the thread that has waited longest: with 16 threads, a
``SELECT 1`` then takes a fifth more processor time (docs/adr/0055-warm-threads.md).
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, override

type Job = tuple[Future[Any], Callable[[], Any]]


class WarmThreadPool(Executor):
    """Runs jobs on up to ``size`` threads, which are started when they are needed.

    Jobs that find no idle thread wait and start in the order in which they were submitted.

    Args:
        size: maximum number of threads.
        name: prefix of the threads' names.

    Concurrency: ``submit`` may be called from any thread. Callbacks of a future run on the job's
        thread and delay the next one, so they must be short.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._idle: list[_Worker] = []
        self._workers: list[_Worker] = []
        self._is_closed = False

    @override
    def submit[**P, R](self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run a call on one of the threads.

        Raises:
            RuntimeError: the pool is shut down.
        """
        future = Future[R]()
        job: Job = (future, partial(fn, *args, **kwargs))
        with self._lock:
            if self._is_closed:
                raise RuntimeError("The pool is shut down.")
            worker = self._idle.pop() if self._idle else self._new_worker()
            if worker is None:
                self._waiting.append(job)
                return future
        worker.give(job)
        return future

    @override
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads after the jobs that were submitted, or only those that have started."""
        with self._lock:
            self._is_closed = True
            cancelled = list(self._waiting) if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
            idle, self._idle = self._idle, []
        for future, _ in cancelled:
            future.cancel()
        for worker in idle:
            worker.give(None)
        if wait:
            for worker in self._workers:
                worker.join()

    def _new_worker(self) -> "_Worker | None":
        """Start a thread, unless there are enough; called with the lock."""
        if len(self._workers) >= self._size:
            return None
        worker = _Worker(f"{self._name}_{len(self._workers)}", self._next_for)
        worker.start()
        self._workers.append(worker)
        return worker

    def _next_for(self, worker: "_Worker") -> bool:
        """Give a worker its next job; returns whether it should wait for one."""
        with self._lock:
            if self._waiting:
                worker.give(self._waiting.popleft())
            elif self._is_closed:
                return False
            else:
                self._idle.append(worker)
        return True


class _Worker(threading.Thread):
    """A thread that runs one job after the other."""

    def __init__(self, name: str, ask: "Callable[[_Worker], bool]") -> None:
        super().__init__(name=name, daemon=True)
        self._ask = ask
        self._job: Job | None = None
        self._given = threading.Lock()
        self._given.acquire()

    def give(self, job: Job | None) -> None:
        """Wake the thread, which is idle or about to be; without a job, it ends."""
        self._job = job
        self._given.release()

    @override
    def run(self) -> None:
        is_open = True
        while is_open:
            self._given.acquire()
            job, self._job = self._job, None
            if job is None:
                return
            is_open = self._perform(*job)
            del job  # an idle thread must not keep a result alive

    def _perform(self, future: Future[Any], work: Callable[[], Any]) -> bool:
        """Run a job; returns whether another one may follow.

        The thread is idle again before the future is done: whoever waits for it may submit the
        next job at once, and that one should find a warm thread.
        """
        if not future.set_running_or_notify_cancel():
            return self._ask(self)
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 (it is the outcome of the job)
            is_open = self._ask(self)
            future.set_exception(error)
            del future  # the traceback refers to this frame
        else:
            is_open = self._ask(self)
            future.set_result(result)
        return is_open
