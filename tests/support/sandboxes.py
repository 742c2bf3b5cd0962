"""Worker processes that tests share: starting one takes longer than most tests do.

What a worker remembers it keeps by project, and each test has a project of its own.
"""

from collections.abc import AsyncGenerator

import pytest_asyncio

from hoglet.sandbox import Sandbox
from hoglet.sandbox.pool import WORKER_MEMORY_BYTES

_shared: dict[tuple[str, int], Sandbox] = {}


def shared_sandbox(name: str, memory_bytes: int = WORKER_MEMORY_BYTES) -> Sandbox:
    """One worker for this purpose and with this much memory, for all tests; never close it."""
    if (name, memory_bytes) not in _shared:
        _shared[name, memory_bytes] = Sandbox(workers=1, memory_bytes=memory_bytes)
    return _shared[name, memory_bytes]


@pytest_asyncio.fixture(scope="session", autouse=True)
async def close_sandboxes() -> AsyncGenerator[None]:
    """End the shared workers with the session."""
    yield
    for sandbox in _shared.values():
        await sandbox.close()
    _shared.clear()
