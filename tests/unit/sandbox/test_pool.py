"""The sandbox with real processes: results, deadlines, crashes and limits."""

import asyncio
from pathlib import Path

import pytest

from hoglet.kit.errors import Bug, SourceError
from hoglet.sandbox import Sandbox, SandboxCrashed, SandboxTimedOut, SandboxUnavailable
from hoglet.sandbox.pool import STARTS_OF_ONE_CALL

pytestmark = pytest.mark.engine


@pytest.fixture
async def sandbox():
    """Two workers that can import this folder's sample operations."""
    here = str(Path(__file__).parent)
    pool = Sandbox(workers=2, memory_bytes=1 << 30, import_path=[here])
    yield pool
    await pool.close()


async def test_an_operation_gets_the_payload_and_gives_its_value(sandbox):
    value = await sandbox.call("sample_operations:echo", {"a": [1, 2.5, None, "ü"]}, deadline=10)

    assert value == {"a": [1, 2.5, None, "ü"]}


async def test_a_spinning_operation_ends_at_its_deadline_and_the_next_call_works(sandbox):
    assert (
        await sandbox.call("sample_operations:echo", 0, deadline=10) == 0
    )  # starting is not what is measured
    with pytest.raises(SandboxTimedOut):
        await sandbox.call("sample_operations:spin", None, deadline=0.5)

    assert await sandbox.call("sample_operations:echo", 1, deadline=10) == 1


async def test_a_spinning_operation_does_not_delay_the_other_worker(sandbox):
    await asyncio.gather(
        sandbox.call("sample_operations:echo", 0, deadline=10),
        sandbox.call("sample_operations:echo", 0, deadline=10),
    )
    spinning = asyncio.create_task(sandbox.call("sample_operations:spin", None, deadline=1))
    await asyncio.sleep(0.05)

    assert await sandbox.call("sample_operations:echo", 1, deadline=2) == 1
    assert not spinning.done()
    with pytest.raises(SandboxTimedOut):
        await spinning


async def test_a_dead_worker_is_reported_and_replaced(sandbox):
    with pytest.raises(SandboxCrashed):
        await sandbox.call("sample_operations:die", None, deadline=10)

    assert await sandbox.call("sample_operations:echo", 1, deadline=10) == 1


async def test_a_worker_that_is_killed_while_it_starts_is_replaced(sandbox):
    call = asyncio.create_task(sandbox.call("sample_operations:echo", 1, deadline=10))
    while not sandbox._busy:  # noqa: ASYNC110 (nothing tells that a process was started)
        await asyncio.sleep(0)
    (worker,) = sandbox._busy
    worker.process.kill()

    assert await call == 1
    assert sandbox.recent_deaths() == 1


async def test_a_call_gives_up_when_its_workers_keep_dying_at_their_start(sandbox):
    call = asyncio.create_task(sandbox.call("sample_operations:echo", 1, deadline=10))
    while not call.done():
        for worker in sandbox._busy:
            if worker.process.returncode is None:
                worker.process.kill()
        await asyncio.sleep(0)

    with pytest.raises(SandboxUnavailable):
        await call
    assert sandbox.recent_deaths() == STARTS_OF_ONE_CALL


async def test_an_idle_worker_that_lost_its_pipe_is_not_used(sandbox):
    """As after a kill, before the exit is noticed: the next request must not pay for it."""
    assert await sandbox.call("sample_operations:echo", 1, deadline=10) == 1
    (worker,) = sandbox._idle
    worker.process.stdin.close()

    assert worker.process.returncode is None
    assert await sandbox.call("sample_operations:echo", 2, deadline=10) == 2


async def test_a_source_error_keeps_its_position(sandbox):
    with pytest.raises(SourceError) as caught:
        await sandbox.call("sample_operations:refuse", None, deadline=10)

    assert (caught.value.line, caught.value.column, caught.value.hint) == (2, 3, "yes")


async def test_any_other_exception_is_a_bug(sandbox):
    with pytest.raises(Bug):
        await sandbox.call("sample_operations:crash", None, deadline=10)


async def test_memory_is_bounded(sandbox):
    with pytest.raises(Bug, match="MemoryError"):
        await sandbox.call("sample_operations:hoard", 1 << 31, deadline=10)


async def test_a_worker_sees_nothing_of_the_environment(sandbox, monkeypatch):
    monkeypatch.setenv("HOGLET_SECRET", "x")

    assert "HOGLET_SECRET" not in await sandbox.call(
        "sample_operations:environment", None, deadline=10
    )


async def test_lone_surrogates_arrive_as_replacement_characters(sandbox):
    assert await sandbox.call("sample_operations:surrogate", None, deadline=10) == "a\ufffd"


async def test_workers_stand_back_as_told(sandbox):
    nice = Sandbox(workers=1, import_path=[str(Path(__file__).parent)], niceness=5)
    try:
        difference = await nice.call(
            "sample_operations:niceness", None, deadline=10
        ) - await sandbox.call("sample_operations:niceness", None, deadline=10)
    finally:
        await nice.close()

    assert difference == 5
