"""Fixtures of the pipeline's tests."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from hoglet.access.bootstrap import ensure_first_project
from hoglet.kit.clock import SystemClock
from support.databases import open_database
from support.pipeline import Line, open_line


@pytest.fixture
async def postgres_line(postgres_tables_url: str, warehouse: Any) -> AsyncGenerator[Line]:
    """A pipeline on PostgreSQL, whose events go through the spool log."""
    async with open_database(postgres_tables_url) as database:
        await ensure_first_project(database, SystemClock())
        async with open_line(database, warehouse, SystemClock(), 1) as opened:
            yield opened
