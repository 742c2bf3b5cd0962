"""The warehouse on ClickHouse: one implementation, embedded (chDB) or a server, chosen by URL.

The engine's calls block, so they run in threads: readers (twice the number of cores plus a few),
and separate writers, so that slow reads never delay the event pipeline.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, NotSupportedError
from msgspec.structs import replace

from hoglet.kit import tracing
from hoglet.kit.json import dump_rows
from hoglet.warehouse.clients import WRITE_TIMEOUT_S, ConnectionPool, RunningQueries, call_soon
from hoglet.warehouse.cluster import on_cluster, quoted, reads_built_rows
from hoglet.warehouse.disk_space import disk_checks
from hoglet.warehouse.errors import QueryRefused, engine_message, from_engine
from hoglet.warehouse.insert_select import insert_whole
from hoglet.warehouse.json_rows import (
    STREAMED_ROWS,
    JsonQuery,
    JsonSelects,
    block_rows,
    select,
)
from hoglet.warehouse.port import InsertSelect, JsonRows, Progress, QueryBudget, QueryResult
from hoglet.warehouse.schema import own_table
from hoglet.warehouse.snapshot import clone_folder
from hoglet.warehouse.thread_pool import WarmThreadPool
from hoglet.warehouse.values import BLOCK_FORMAT

WRITERS = 2
BUILDERS = 2  # statements that fill tables; they take minutes
SPARE_READERS = 12  # for short reads (tables, logs, checks) while long ones run
QUERY_MEMORY_BYTES = 2 * 1024**3
READ = QueryBudget()
WRITE = QueryBudget(seconds=WRITE_TIMEOUT_S, memory_bytes=4 * 1024**3, read_only=False)
_PROGRESS = """SELECT count(), sum(read_rows), sum(total_rows_approx), sum(read_bytes),
max(elapsed), sum(ProfileEvents['OSCPUVirtualTimeMicroseconds']) / 1e6"""


class WriteGate:
    """Lets writes pass until it is closed; closing it waits for writes in progress.

    Concurrency: used from one event loop; ``leave`` may be called once for each ``enter``.
    """

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._idle = asyncio.Event()
        self._open.set()
        self._idle.set()
        self._passed = 0

    async def enter(self) -> None:
        """Wait until the gate is open."""
        await self._open.wait()
        self._passed += 1
        self._idle.clear()

    def leave(self) -> None:
        """Record that a write has ended."""
        self._passed -= 1
        if not self._passed:
            self._idle.set()

    async def close(self) -> None:
        """Hold back further writes and wait until those in progress have ended."""
        self._open.clear()
        await self._idle.wait()

    def reopen(self) -> None:
        """Let writes pass again."""
        self._open.set()


class ClickHouseWarehouse:
    """The port on ``clickhouse-connect``; see ``hoglet.warehouse.port`` for the contract."""

    def __init__(
        self,
        url: str,
        *,
        read_url: str | None = None,
        cluster: str | None = None,
        readers: int | None = None,
        query_memory_bytes: int = QUERY_MEMORY_BYTES,
    ) -> None:
        self.url = url
        self.is_embedded = url.startswith("chdb")
        self._cluster = cluster
        self._cores = os.cpu_count() or 2
        self._clients = ConnectionPool(
            url,
            read_url=read_url,
            is_cluster=cluster is not None,
            query_memory_bytes=query_memory_bytes,
        )
        self._readers = WarmThreadPool(readers or 2 * self._cores + SPARE_READERS, "warehouse-read")
        self._writers = ThreadPoolExecutor(WRITERS, "warehouse-write")
        self._builders = ThreadPoolExecutor(BUILDERS, "warehouse-build")
        self._running = RunningQueries(self._kill)
        self._gate = WriteGate()
        self._disk = disk_checks(url)
        self._json = JsonSelects(is_embedded=self.is_embedded)

    async def query(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        budget: QueryBudget = READ,
        query_id: str | None = None,
    ) -> QueryResult:
        """See ``Warehouse.query``."""
        values, query_id = dict(params or {}), query_id or uuid4().hex
        tag = _tag(query_id)
        return await self._read(
            lambda client: select(client, f"{tag} {sql}", values),
            budget,
            query_id,
            is_built=self._is_built(sql),
        )

    async def query_json(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        zone: str,
        most_rows: int | None = None,
        budget: QueryBudget = READ,
        query_id: str | None = None,
    ) -> JsonRows | QueryResult:
        """See ``Warehouse.query_json``."""
        query_id = query_id or uuid4().hex
        tag = _tag(query_id)
        is_streamed = self.is_embedded and (most_rows is None or most_rows > STREAMED_ROWS)
        query = JsonQuery(
            sql, dict(params or {}), zone, most_rows, budget.result_bytes, is_streamed=is_streamed
        )
        if is_streamed:
            budget = replace(budget, block_rows=block_rows(most_rows))
        return await self._read(
            lambda client: self._json.select(client, tag, query),
            budget,
            query_id,
            is_built=self._is_built(sql),
        )

    def _is_built(self, sql: str) -> bool:
        return self._cluster is not None and reads_built_rows(sql)

    async def insert(
        self,
        table: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        dedup_token: str | None = None,
    ) -> None:
        """See ``Warehouse.insert``."""
        if not rows:
            return
        await self._insert(table, columns, lambda: dump_rows(rows), dedup_token)

    async def insert_block(
        self, table: str, columns: Sequence[str], block: bytes, *, dedup_token: str | None = None
    ) -> None:
        """See ``Warehouse.insert_block``."""
        if block:
            await self._insert(table, columns, lambda: block, dedup_token)

    async def _insert(
        self, table: str, columns: Sequence[str], encode: Callable[[], bytes], token: str | None
    ) -> None:
        settings = {"insert_deduplication_token": token} if token else None

        def work(client: Client) -> None:
            block = encode()
            with self._checked_insert(client, table):
                client.raw_insert(table, columns, block, settings=settings, fmt=BLOCK_FORMAT)

        attributes = {"db.system.name": "clickhouse", "db.collection.name": table}
        with tracing.child("insert into warehouse", kind="client", attributes=attributes):
            await self._write(work)

    async def check_writes(self) -> None:
        """See ``Warehouse.check_writes``."""
        if self._disk is None:
            await self.command("SELECT 1")
            return
        with self._disk.statement():
            pass

    def _checked_insert(self, client: Client, table: str) -> AbstractContextManager[None]:
        if self._disk is None:
            return contextlib.nullcontext()
        return self._disk.insert(client, table)

    async def command(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        seconds: float | None = None,
    ) -> None:
        """See ``Warehouse.command``."""
        is_long = seconds is not None
        budget = WRITE if seconds is None else replace(WRITE, seconds=seconds)
        pool = self._builders if is_long else self._writers

        def work(client: Client) -> None:
            with self._disk.statement() if self._disk and is_long else contextlib.nullcontext():
                _run_command(client, sql, params)

        await self._write(
            work,
            budget,
            pool,
            is_built=is_long and self._cluster is not None,
        )

    async def insert_select(self, insert: InsertSelect, *, seconds: float) -> None:
        """See ``Warehouse.insert_select``."""
        disk = self._disk
        if disk is None:
            await self.command(insert.statement(), insert.params, seconds=seconds)
            return
        await self._write(
            lambda client: insert_whole(client, disk, insert),
            replace(WRITE, seconds=seconds),
            self._builders,
        )

    async def delete_rows(self, table: str, condition: str) -> None:
        """See ``Warehouse.delete_rows``."""
        local = f"{table}_local" if self._cluster else table
        await self.command(
            f"DELETE FROM {local} {on_cluster(self._cluster)} "  # noqa: S608 (hoglet's own)
            f"WHERE {condition}"
        )

    async def create_table(self, name: str, columns: str, *, order_by: str) -> None:
        """See ``Warehouse.create_table``."""
        await self.command(own_table(name, columns, order_by, self._cluster))

    async def drop_table(self, name: str) -> None:
        """See ``Warehouse.drop_table``."""
        await self.command(f"DROP TABLE IF EXISTS {name} {on_cluster(self._cluster)} SYNC")

    async def erase_rows(
        self, table: str, where: str, params: Mapping[str, Any], *, seconds: float
    ) -> None:
        """See ``Warehouse.erase_rows``."""
        name = f"{table}_local" if self._cluster else table
        await self.command(
            f"ALTER TABLE {name} {on_cluster(self._cluster)} DELETE WHERE {where}"
            " SETTINGS mutations_sync = 2",
            params,
            seconds=seconds,
        )

    async def progress(self, query_id: str) -> Progress | None:
        """See ``Warehouse.progress``."""
        processes = "system.processes"
        if self._cluster:
            processes = f"clusterAllReplicas('{self._cluster}', system.processes)"
        result = await self.query(
            f"{_PROGRESS} FROM {processes} WHERE startsWith(query, {{tag:String}})",
            {"tag": _tag(query_id)},
        )
        count, *figures = result.rows[0]
        return Progress(*figures) if count else None

    async def cancel(self, query_id: str) -> None:
        """See ``Warehouse.cancel``."""
        await self._running.cancel(query_id, is_shared=not self._clients.embedded)

    async def snapshot(self, target: Path) -> None:
        """Clone the folder of an embedded warehouse in its current state; writes wait meanwhile.

        Args:
            target: a folder that does not exist yet, on the same file system.
        """
        source = Path(self.url.partition("://")[2])
        await self._gate.close()
        try:
            await asyncio.to_thread(self._clone, source, target)
        finally:
            self._gate.reopen()

    def _clone(self, source: Path, target: Path) -> None:
        def run(statement: str) -> None:
            self._with_client(lambda client: _run_command(client, statement, None), WRITE)

        run("SYSTEM STOP MERGES")
        try:
            clone_folder(source, target)
        finally:
            run("SYSTEM START MERGES")

    async def close(self) -> None:
        """See ``Warehouse.close``."""
        await self._running.cancel_all()
        for pool in (self._readers, self._writers, self._builders):
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)
        await self._running.close()
        await asyncio.to_thread(self._clients.close)

    async def _read[R](
        self,
        work: Callable[[Client], R],
        budget: QueryBudget,
        query_id: str,
        *,
        is_built: bool,
    ) -> R:
        attributes = {"db.system.name": "clickhouse", "hoglet.query_id": query_id}
        with tracing.child("query warehouse", kind="client", attributes=attributes):
            job = self._readers.submit(partial(self._with_client, work, budget, is_built=is_built))
            return await self._running.result(query_id, job)

    async def _write(
        self,
        work: Callable[[Client], None],
        budget: QueryBudget = WRITE,
        pool: ThreadPoolExecutor | None = None,
        *,
        is_built: bool = False,
    ) -> None:
        """Run a write; once started, it is completed even if the caller's task is cancelled."""
        await self._gate.enter()
        future = (pool or self._writers).submit(self._with_client, work, budget, is_built=is_built)
        loop = asyncio.get_running_loop()
        future.add_done_callback(partial(call_soon, loop, self._gate.leave))
        await asyncio.shield(asyncio.wrap_future(future))

    def _with_client[R](
        self, work: Callable[[Client], R], budget: QueryBudget, *, is_built: bool = False
    ) -> R:
        threads = self._cores if len(self._running) <= 1 else 1
        client = self._clients.take(budget, threads, is_built=is_built)
        try:
            result = work(client)
        except NotSupportedError as error:  # for example an aggregate state
            self._clients.drop(client)
            raise QueryRefused(f"A column cannot be returned: {error}.") from None
        except ClickHouseError as error:
            self._clients.drop(client)
            raise from_engine(engine_message(error), getattr(error, "code", None)) from None
        except BaseException:
            self._clients.drop(client)
            raise
        self._clients.give_back(client, budget, threads, is_built=is_built)
        return result

    def _kill(self, query_ids: Sequence[str]) -> None:
        which = " OR ".join(f"startsWith(query, {quoted(_tag(each))})" for each in set(query_ids))
        statement = f"KILL QUERY {on_cluster(self._cluster)} WHERE {which} ASYNC"
        self._with_client(lambda client: _run_command(client, statement, None), WRITE)


def _run_command(client: Client, sql: str, params: Mapping[str, Any] | None) -> None:
    client.command(sql, parameters=dict(params) if params else None)


def _tag(query_id: str) -> str:
    """A comment that identifies the query, because chDB cannot set a query id."""
    return f"/* hoglet:{query_id.replace('*', '')} */"
