"""A group whose state another server keeps changing, as with the properties of a busy company."""

import asyncio
from typing import Any

import orjson
import pytest

from hoglet.events.errors import StateChanged
from hoglet.events.groups import GroupState
from hoglet.kit.clock import SystemClock, new_id
from hoglet.pipeline.ingest.commit import ProjectResult
from hoglet.pipeline.ingest.ipc import BatchResult
from support.databases import open_database
from support.pipeline import Line, open_line

COMPANY = (0, "acme")


class OtherServer:
    """Sets a property of the company whenever the line inserts a block.

    If it cannot do so while the line's group is in progress, it does so afterwards.
    """

    def __init__(self, line: Line, url: str) -> None:
        self._line = line
        self._url = url
        self._tasks: list[asyncio.Task[None]] = []
        self._insert = line.warehouse.insert_block

    async def insert_block(self, table: str, *given: Any, **options: Any) -> Any:
        if table != "events":
            return await self._insert(table, *given, **options)
        name = f"property_{len(self._tasks)}"
        change = asyncio.create_task(self._set(name))
        self._tasks.append(change)
        await asyncio.wait([change], timeout=1)  # it waits for this group, or has ended
        return await self._insert(table, *given, **options)

    async def names(self) -> set[str]:
        await asyncio.gather(*self._tasks)
        return {f"property_{number}" for number in range(len(self._tasks))}

    async def _set(self, name: str) -> None:
        async with (
            open_database(self._url) as database,
            open_line(database, self._line.warehouse, SystemClock(), 1) as other,
        ):
            await _set_property(other, name)


async def _set_property(server: Line, name: str) -> None:
    """Like a group with one ``$groupidentify``, processed again until nobody interferes."""
    while True:
        async with server.database.read() as session:
            [company] = await server.events.load_groups(session, 1, [COMPANY])
        changed = GroupState(
            *COMPANY,
            orjson.dumps(orjson.loads(company.text) | {name: True}).decode(),
            company.created_at,
            company.updated_at,
            company.version + 1,
        )
        try:
            await server.committer.commit(
                _nothing, [ProjectResult(1, BatchResult(groups=[changed]))], checked=True
            )
        except StateChanged:
            continue
        return


async def _nothing(_session: Any) -> None:
    """There is nothing to remove from a spool."""


def _identify(**properties: Any) -> dict[str, Any]:
    return {
        "event": "$groupidentify",
        "distinct_id": "u",
        "uuid": str(new_id()),
        "properties": {"$group_type": "company", "$group_key": "acme", "$group_set": properties},
    }


async def test_no_change_of_another_server_is_overwritten(
    postgres_line: Line, postgres_tables_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = postgres_line
    await line.capture(_identify(first=True))
    await line.work()
    other = OtherServer(line, postgres_tables_url)
    monkeypatch.setattr(line.warehouse, "insert_block", other.insert_block)

    await line.capture(_identify(last=True))
    await line.work()

    names = await other.names()
    async with line.database.read() as session:
        [company] = await line.events.load_groups(session, 1, [COMPANY])
    assert set(orjson.loads(company.text)) == {"first", "last", *names}
    assert len(names) > 1
