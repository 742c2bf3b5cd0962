"""One embedded warehouse per test process: chDB allows one data folder per process.

Tests keep apart by project: take ``fresh_project_id`` or make up an id of your own.
"""

import asyncio
import itertools
from collections.abc import Generator

import pytest

from hoglet.warehouse import ClickHouseWarehouse, open_warehouse
from hoglet.warehouse.schema import Retention

# The clock of many tests stands in January 2026; the engine drops old rows by the real time.
KEEP = Retention(log_days=10_000, metric_days=10_000, query_days=10_000)
_project_ids = itertools.count(1_000_000)


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Generator[ClickHouseWarehouse]:
    """A real warehouse on chDB with all tables; shared, so never assume a table is empty."""
    folder = tmp_path_factory.mktemp("warehouse")
    opened = asyncio.run(open_warehouse(f"chdb://{folder}", retention=KEEP))
    yield opened
    asyncio.run(opened.close())


@pytest.fixture
def fresh_project_id() -> int:
    """A project id that no other test of this run uses."""
    return next(_project_ids)
