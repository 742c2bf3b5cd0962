"""Worker processes that tests share: starting one takes longer than most tests do.

What a worker remembers it keeps by project, and each test has a project of its own.
"""

import json
from collections.abc import AsyncGenerator, Mapping

import pytest_asyncio

from hoglet.sandbox import Sandbox
from hoglet.sandbox.pool import WORKER_MEMORY_BYTES

_shared: dict[str, Sandbox] = {}


def shared_sandbox(
    operations: Mapping[str, str], memory_bytes: int = WORKER_MEMORY_BYTES
) -> Sandbox:
    """One worker for these operations and this much memory, for all tests; never close it."""
    name = json.dumps([dict(operations), memory_bytes], sort_keys=True)
    if name not in _shared:
        _shared[name] = Sandbox(operations, workers=1, memory_bytes=memory_bytes)
    return _shared[name]


@pytest_asyncio.fixture(scope="session", autouse=True)
async def close_sandboxes() -> AsyncGenerator[None]:
    """End the shared workers with the session."""
    yield
    for sandbox in _shared.values():
        await sandbox.close()
    _shared.clear()
