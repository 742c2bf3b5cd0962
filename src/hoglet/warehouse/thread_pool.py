"""Threads for blocking calls of the engine.

A query runs on the thread that became idle last, whose caches in the engine and the allocator are
warm. ``ThreadPoolExecutor`` wakes the thread that has waited longest: with 16 threads, a
``SELECT 1`` then takes a fifth more processor time (docs/adr/0055-warm-threads.md).
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any, cast, override


class Job[R]:
    """A call for a thread, and its outcome.

    It has the methods of ``concurrent.futures.Future`` that are needed here, for a third of the
    calls: locks instead of a condition.

    Concurrency: thread-safe. The first to acquire ``_begun`` runs or cancels the call; each
    callback belongs to whoever removes it from the list.
    """

    __slots__ = (
        "_begun",
        "_callbacks",
        "_ended",
        "_error",
        "_is_cancelled",
        "_is_done",
        "_result",
        "_work",
    )

    def __init__(self, work: Callable[[], R]) -> None:
        self._work: Callable[[], R] | None = work
        self._begun = threading.Lock()
        self._ended = threading.Lock()  # held until the outcome is there
        self._ended.acquire()
        self._callbacks: list[Callable[[Job[R]], object]] = []
        self._result: R | None = None
        self._error: BaseException | None = None
        self._is_cancelled = False
        self._is_done = False

    def cancel(self) -> bool:
        """Do not run the call; returns False if it has begun."""
        if not self._begun.acquire(blocking=False):
            return self._is_cancelled
        self._is_cancelled = True
        self._work = None
        self._error = CancelledError()
        self._end()
        return True

    def cancelled(self) -> bool:
        """Whether the call will not be run."""
        return self._is_cancelled

    def done(self) -> bool:
        """Whether the call has ended or was cancelled."""
        return self._is_done

    def add_done_callback(self, callback: "Callable[[Job[R]], object]") -> None:
        """Call with this job when it is done, on its thread; at once if it is."""
        self._callbacks.append(callback)
        if self.done():
            self._call_back()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """The error that ended the call.

        Raises:
            TimeoutError: it has not ended within ``timeout`` seconds.
            CancelledError: it was cancelled.
        """
        if not self._is_done:
            if not self._ended.acquire(timeout=-1 if timeout is None else timeout):
                raise TimeoutError
            self._ended.release()
        if self._is_cancelled:
            raise CancelledError
        return self._error

    def result(self, timeout: float | None = None) -> R:
        """What the call returned; raises its error, or as ``exception``."""
        error = self.exception(timeout)
        if error is None:
            return cast("R", self._result)
        try:
            raise error
        finally:
            del error  # its traceback refers to this frame

    def run(self, before_end: Callable[[], bool]) -> bool:
        """Run the call, unless it was cancelled.

        Args:
            before_end: called between the end of the call and that of the job.

        Returns:
            What ``before_end`` does.
        """
        if not self._begun.acquire(blocking=False):
            return before_end()
        work, self._work = self._work, None
        try:
            self._result = cast("Callable[[], R]", work)()
        except BaseException as error:  # noqa: BLE001 (it is the outcome of the job)
            self._error = error
        del work
        outcome = before_end()
        self._end()
        del self  # an error's traceback refers to this frame
        return outcome

    def _end(self) -> None:
        self._is_done = True
        self._ended.release()
        self._call_back()

    def _call_back(self) -> None:
        while self._callbacks:
            try:
                callback = self._callbacks.pop()
            except IndexError:  # another thread has taken it
                return
            callback(self)


class WarmThreadPool:
    """Runs jobs on up to ``size`` threads, which are started when they are needed.

    Jobs that find no idle thread wait and start in the order in which they were submitted.

    Args:
        size: maximum number of threads.
        name: prefix of the threads' names.

    Concurrency: ``submit`` may be called from any thread. Callbacks of a job run on its
        thread and delay the next one, so they must be short.
    """

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._lock = threading.Lock()
        self._waiting: deque[Job[Any]] = deque()
        self._idle: list[_Worker] = []
        self._workers: list[_Worker] = []
        self._is_closed = False

    def submit[R](self, work: Callable[[], R]) -> Job[R]:
        """Run a call on one of the threads.

        Raises:
            RuntimeError: the pool is shut down.
        """
        job = Job(work)
        with self._lock:
            if self._is_closed:
                raise RuntimeError("The pool is shut down.")
            worker = self._idle.pop() if self._idle else self._new_worker()
            if worker is None:
                self._waiting.append(job)
                return job
        worker.give(job)
        return job

    def shutdown(self, *, wait: bool = True, cancel_futures: bool = False) -> None:
        """End the threads after the jobs that were submitted, or only those that have started."""
        with self._lock:
            self._is_closed = True
            cancelled = list(self._waiting) if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
            idle, self._idle = self._idle, []
        for job in cancelled:
            job.cancel()
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
        self._job: Job[Any] | None = None
        self._given = threading.Lock()
        self._given.acquire()

    def give(self, job: Job[Any] | None) -> None:
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
            # Idle again before the job is done: whoever waits for it may submit the next one at
            # once, and that one should find a warm thread.
            is_open = job.run(self._wait_for_more)
            del job  # an idle thread must not keep a result alive

    def _wait_for_more(self) -> bool:
        return self._ask(self)
