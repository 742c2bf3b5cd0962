"""Worker processes that tests share, since starting one takes longer than most tests.

Workers cache by project, and each test has its own project.
"""

from collections.abc import AsyncGenerator

import pytest_asyncio

from hoglet.sandbox import Sandbox
from hoglet.sandbox.pool import WORKER_MEMORY_BYTES

_shared: dict[tuple[str, int], Sandbox] = {}


def shared_sandbox(name: str, memory_bytes: int = WORKER_MEMORY_BYTES) -> Sandbox:
    """The shared worker for this purpose and memory limit; never close it."""
    if (name, memory_bytes) not in _shared:
        _shared[name, memory_bytes] = Sandbox(workers=1, memory_bytes=memory_bytes)
    return _shared[name, memory_bytes]


@pytest_asyncio.fixture(scope="session", autouse=True)
async def close_sandboxes() -> AsyncGenerator[None]:
    """Stop the shared workers at the end of the session."""
    yield
    for sandbox in _shared.values():
        await sandbox.close()
    _shared.clear()
