"""A server ends though a task does not."""

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio
from hoglet.app import event_loop

event_loop._PATIENCE_SECONDS = 0.2

async def stubborn():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            print("cancelled", flush=True)

async def main():
    global loop, task
    loop = asyncio.get_running_loop()
    task = asyncio.create_task({task}())
    await asyncio.sleep(0)
    {end}

event_loop.run(main(), asyncio.new_event_loop)
print("ended", loop.is_closed())
"""


def run(task: str, end: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.replace("{task}", task).replace("{end}", end)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )


def test_a_task_that_ignores_its_cancellation_does_not_keep_the_process() -> None:
    done = run("stubborn", "pass")

    assert (done.returncode, done.stdout) == (0, "cancelled\nended False\n")


@pytest.mark.parametrize(("end", "status"), [("raise SystemExit(2)", 2), ("1 / 0", 1)])
def test_errors_of_the_main_task_are_raised(end: str, status: int) -> None:
    assert run("stubborn", end).returncode == status


def test_other_tasks_are_cancelled_and_the_loop_is_closed() -> None:
    done = run("asyncio.Event().wait", "pass")

    assert (done.returncode, done.stdout, done.stderr) == (0, "ended True\n", "")
