"""A partition whose group cannot be begun because the database fails is begun again later."""

from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from hoglet.access.bootstrap import ensure_first_project
from hoglet.kit.clock import SystemClock
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.spool import SpoolUnavailable
from support.databases import open_database
from support.pipeline import open_line

TABLES = ["jobs", "spool_positions", "spool_entries"]


@pytest.mark.parametrize("table", TABLES)
async def test_a_partition_is_not_held_after_a_failure(
    postgres_tables_url: str, warehouse: Any, table: str
) -> None:
    async with open_database(postgres_tables_url) as database:
        await ensure_first_project(database, SystemClock())
        async with open_line(database, warehouse, SystemClock(), 1) as line:
            await line.capture({"event": "e", "distinct_id": "u"})

            async def rename(before: str, after: str) -> None:
                async with database.write() as session:
                    await session.execute(text(f"ALTER TABLE {before} RENAME TO {after}"))

            await rename(table, "away")
            try:
                with pytest.raises((SQLAlchemyError, SpoolUnavailable)):
                    await line.log_source.begin(GroupLimits())
            finally:
                await rename("away", table)

            line.log_source.wake()
            line.log_source._polled_at = 0.0  # looks every few seconds
            assert await line.log_source.begin(GroupLimits()) is not None
