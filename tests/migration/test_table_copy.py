"""Rows and the numbers of new ones move from SQLite to an empty PostgreSQL database."""

from pathlib import Path

import pytest

from hoglet.access.provisioning import create_project
from hoglet.store.database import Database
from hoglet.store.table_copy import CopyRefused, copy_tables
from support.access import open_world
from support.databases import create_tables

COUNTED = ("organizations", "projects", "users", "memberships")


async def test_a_copy_has_all_rows_and_continues_the_numbers(
    tmp_path: Path, postgres_url: str
) -> None:
    async with open_world(tmp_path) as world, world.database.write() as session:
        await create_project(session, world.clock, name="Second")
    await create_tables(postgres_url)
    source, progress = f"sqlite:///{tmp_path}/hoglet.db", list[int]()

    copied = copy_tables(source, postgres_url, lambda _table, rows: progress.append(rows))

    assert [copied[table] for table in COUNTED] == [1, 2, 1, 1]
    assert sum(progress) == sum(copied.values())
    target = Database(postgres_url)
    async with target.write() as session:
        third = await create_project(session, world.clock, name="Third")
    await target.close()
    assert third.id == 3
    with pytest.raises(CopyRefused, match="already has rows"):
        copy_tables(source, postgres_url, lambda _table, _rows: None)
