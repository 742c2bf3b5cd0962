"""Runs a coroutine like ``asyncio.run``, but does not wait forever for tasks that never end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

_PATIENCE_SECONDS: Final = 5.0


def run(
    main: Coroutine[Any, Any, None], loop_factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """Run ``main``, then cancel the tasks that are left.

    A task that does not end is left to the end of the process. ``asyncio.run`` would wait for it:
    granian never resumes a task that is closing a websocket when the server stops, not even if the
    task is cancelled.
    """
    runner = asyncio.Runner(loop_factory=loop_factory)
    try:
        runner.run(main)
    finally:
        if runner.run(_end_tasks()):
            runner.close()


async def _end_tasks() -> bool:
    """Cancel all other tasks; returns whether they ended."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if not tasks:
        return True
    _, left = await asyncio.wait(tasks, timeout=_PATIENCE_SECONDS)
    return not left
