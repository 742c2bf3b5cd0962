"""Threads of the warehouse: which one gets a job, waiting jobs, errors, and the end."""

import gc
import threading
import weakref
from concurrent.futures import CancelledError
from functools import partial

import pytest

from hoglet.warehouse.thread_pool import Job, WarmThreadPool
from support.waiting import wait_for


class Result:
    """A result that a weak reference can follow."""


def begun(pool: WarmThreadPool, gate: threading.Event) -> Job[int]:
    """A job that has started and waits for the gate; its result is its thread."""
    started = threading.Event()

    def work() -> int:
        started.set()
        gate.wait()
        return threading.get_ident()

    future = pool.submit(work)
    assert started.wait(10)
    return future


def test_a_job_runs_on_the_thread_that_became_idle_last() -> None:
    pool = WarmThreadPool(3, "test")
    gates = [threading.Event() for _ in range(3)]
    futures = [begun(pool, gate) for gate in gates]
    threads = []
    for index in (1, 2, 0):
        gates[index].set()
        threads.append(futures[index].result(10))
    assert len(set(threads)) == 3
    for _ in range(5):
        assert pool.submit(threading.get_ident).result(10) == threads[-1]
    pool.shutdown()


def test_a_caller_that_was_just_answered_finds_the_same_thread() -> None:
    pool = WarmThreadPool(4, "test")
    gate = threading.Event()
    others = [begun(pool, gate) for _ in range(3)]
    used = {pool.submit(threading.get_ident).result(10) for _ in range(200)}
    gate.set()
    assert len(used) == 1
    assert used.isdisjoint({future.result(10) for future in others})
    pool.shutdown()


def test_a_thread_is_idle_before_its_result_is_known() -> None:
    pool = WarmThreadPool(2, "test-idle")
    gate = threading.Event()
    first = begun(pool, gate)
    following: list[Job[int]] = []
    first.add_done_callback(lambda _: following.append(pool.submit(threading.get_ident)))

    gate.set()

    thread = first.result(10)
    wait_for(lambda: following)
    assert following[0].result(10) == thread
    pool.shutdown()


def test_threads_are_started_when_they_are_needed() -> None:
    pool = WarmThreadPool(8, "test-few")
    for _ in range(20):
        pool.submit(int).result(10)
    started = [each for each in threading.enumerate() if each.name.startswith("test-few")]
    assert len(started) == 1
    pool.shutdown()


def test_jobs_that_wait_start_in_their_order() -> None:
    pool, gate = WarmThreadPool(1, "test"), threading.Event()
    first = begun(pool, gate)
    order: list[int] = []
    rest = [pool.submit(partial(order.append, number)) for number in range(50)]
    assert not order
    gate.set()
    for future in [first, *rest]:
        future.result(10)
    assert order == list(range(50))
    pool.shutdown()


def test_an_error_is_the_outcome_of_its_job_only() -> None:
    pool = WarmThreadPool(1, "test")
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            pool.submit(lambda: 1 / 0).result(10)
        assert pool.submit(lambda: 5).result(10) == 5
    pool.shutdown()


def test_a_waiting_job_can_be_cancelled_and_a_running_one_cannot() -> None:
    pool, gate = WarmThreadPool(1, "test"), threading.Event()
    running = begun(pool, gate)
    done: list[str] = []
    cancelled, last = (pool.submit(partial(done.append, name)) for name in ("cancelled", "last"))
    assert cancelled.cancel()
    assert not running.cancel()
    gate.set()
    last.result(10)
    assert done == ["last"]
    pool.shutdown()


@pytest.mark.parametrize("cancelling", [True, False])
def test_a_shutdown_ends_all_threads(cancelling: bool) -> None:
    pool, gate = WarmThreadPool(2, "test-end"), threading.Event()
    running = [begun(pool, gate), begun(pool, gate)]
    waiting = pool.submit(lambda: 7)
    threading.Timer(0.05, gate.set).start()
    pool.shutdown(wait=True, cancel_futures=cancelling)
    assert all(future.done() for future in running)
    if cancelling:
        with pytest.raises(CancelledError):
            waiting.result(10)
    else:
        assert waiting.result(10) == 7
    assert not [each for each in threading.enumerate() if each.name.startswith("test-end")]
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(int)


def test_a_shutdown_of_idle_threads() -> None:
    pool = WarmThreadPool(3, "test-idle")
    gate = threading.Event()
    for future in [begun(pool, gate), begun(pool, gate)]:
        gate.set()
        future.result(10)
    pool.shutdown()
    assert not [each for each in threading.enumerate() if each.name.startswith("test-idle")]


@pytest.mark.parametrize("fails", [True, False])
def test_an_idle_thread_keeps_nothing_of_its_last_job_alive(fails: bool) -> None:
    pool = WarmThreadPool(1, "test")
    refs: list[weakref.ref[Result]] = []

    def work(argument: Result) -> Result:
        refs.append(weakref.ref(argument))
        if fails:
            raise ValueError(argument)
        return argument

    gc.disable()
    try:
        future: Job[Result] | None = pool.submit(partial(work, Result()))
        assert future is not None
        if fails:
            assert isinstance(future.exception(10), ValueError)
        else:
            future.result(10)
        del future
        wait_for(lambda: refs[0]() is None, seconds=10)
    finally:
        gc.enable()
    pool.shutdown()


def test_many_callers_at_once() -> None:
    pool = WarmThreadPool(4, "test")
    sums: list[int] = []

    def call() -> None:
        sums.append(sum(pool.submit(lambda value=value: value).result(30) for value in range(300)))

    callers = [threading.Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert sums == [sum(range(300))] * 8
    pool.shutdown()


def test_a_thread_that_cannot_be_started_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = WarmThreadPool(1, "test")

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start"):
            pool.submit(int)

    assert pool.submit(int).result(10) == 0
    pool.shutdown()


def test_a_callback_is_called_once_whenever_it_is_added() -> None:
    pool, called, outcomes = WarmThreadPool(2, "test"), list[int](), list[bool]()
    for number in range(2_000):
        job = pool.submit(int)
        job.add_done_callback(lambda done, number=number: called.append(number + done.result()))
        job.result(10)
        outcomes.append(job.cancel())
    pool.shutdown()
    assert called == list(range(2_000))
    assert not any(outcomes)


def test_a_job_is_run_or_cancelled_never_both() -> None:
    pool, run, cancelled = WarmThreadPool(2, "test"), list[int](), list[int]()
    for number in range(2_000):
        job = pool.submit(partial(run.append, number))
        if job.cancel():
            cancelled.append(number)
            with pytest.raises(CancelledError):
                job.result(10)
        else:
            job.result(10)
    pool.shutdown()
    assert sorted(run + cancelled) == list(range(2_000))


def test_an_outcome_that_takes_too_long_is_a_timeout() -> None:
    pool, gate = WarmThreadPool(1, "test"), threading.Event()
    running = begun(pool, gate)
    with pytest.raises(TimeoutError):
        running.exception(0.01)
    gate.set()
    assert running.exception(10) is None
    pool.shutdown()
