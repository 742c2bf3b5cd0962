"""Connections to ClickHouse, each locked to one budget, and the queries that run on them.

A connection of a read-only budget sets its limits with ``SET`` and then ``readonly = 1``, which
cannot be undone: the engine itself refuses writes, files, URLs, remote tables and changed settings,
whatever the SQL says. So connections are pooled by budget. Opening one takes about 0.4 ms.

One thread kills cancelled queries, all in one statement, and repeats this until each has ended,
because the engine does not know a query yet that is just starting.
"""

import asyncio
import contextlib
import importlib
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import cache, partial
from typing import Any
from urllib.parse import unquote, urlsplit

import clickhouse_connect
import structlog
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError
from clickhouse_connect.driver.httputil import (
    check_env_proxy,
    core_socket_options,
    get_pool_manager,
)

from hoglet.kit.lost_peers import TESTED_AFTER_SECONDS, TESTED_EVERY_SECONDS, TESTS, UNANSWERED_MS
from hoglet.kit.optional_packages import without
from hoglet.warehouse import cluster
from hoglet.warehouse.engine_pages import unmap_loaded_pages
from hoglet.warehouse.errors import Code, QueryCancelled, WarehouseDown, WarehouseInUse
from hoglet.warehouse.port import QueryBudget
from hoglet.warehouse.thread_pool import Job

EMBEDDED_SCHEMES = ("chdb",)
_ENGINE_LIBRARY = "_chdb.abi3.so"
# How often the engine measures its memory, and how soon it looks again for merges of a table that
# had none. The defaults, 20 times a second and 0.1 seconds (a tenth longer each time), take half of
# an idle server's processor time. Limits do not depend on the measurement: allocations are counted
# immediately. Inserts start merges without waiting. A mutation that finds a merge in progress waits
# until the engine looks again: with five seconds, deletions and new columns took six on a busy
# machine; one second costs 0.4 ms a second more than five.
_ENGINE_OPTIONS = {
    "memory_worker_period_ms": "500",
    "background_processing_pool_thread_sleep_seconds_if_nothing_to_do": "2",
    "background_move_processing_pool_thread_sleep_seconds_if_nothing_to_do": "2",
    "background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do": "2",
}
MAX_IDLE_CLIENTS = 64
WRITE_TIMEOUT_S = 3600

# Settings of every connection. Strings in JSON columns stay strings: without the two inference
# settings "2026-01-01" would become a Date. Names with dots stay one name.
_COMMON: dict[str, Any] = {
    "date_time_input_format": "best_effort",
    "input_format_try_infer_dates": 0,
    "input_format_try_infer_datetimes": 0,
    "type_json_skip_duplicated_paths": 1,
    "json_type_escape_dots_in_keys": 1,
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_quote_denormals": 0,
    "output_format_json_escape_forward_slashes": 0,
    "output_format_json_validate_utf8": 1,  # only some JSON formats do this by default
    "date_time_output_format": "iso",
    "session_timezone": "UTC",
    "date_time_overflow_behavior": "saturate",  # 1950 as a Date is 1970-01-01, not 2129-06-07
    "enable_extended_results_for_datetime_functions": 1,  # the month of 1950 is not that of 1970
    # chDB 26.9 can push an expression below a sort and back endlessly ("Too many optimizations"),
    # e.g. with ORDER BY concat(a, b) over a join.
    "query_plan_execute_functions_after_sorting": 0,
    # The engine takes toString for injective, but where clocks go back, two times have one text:
    # GROUP BY toString(x) gave two rows of it.
    "optimize_injective_functions_in_group_by": 0,
    "optimize_injective_functions_inside_uniq": 0,
    "max_query_size": 64 * 1024 * 1024,  # rows of system tables are in the query text
    "insert_distributed_sync": 1,
    # In parallel, the engine parses more than 10 MB in parts with tokens of their own. A block that
    # is inserted again with other contents has other parts, so some rows would be stored twice.
    "input_format_parallel_parsing": 0,
    "async_insert": 0,  # rows are on disk, and tokens are looked up, when an insert returns
}

# The embedded engine has no query log, but would prepare an entry for each query: 18 µs.
_EMBEDDED: dict[str, Any] = {"log_queries": 0}

_CONNECTION_FAULTS: dict[int, str] = {
    Code.UNKNOWN_DATABASE: "The database of {} does not exist; create it.",
    Code.AUTHENTICATION_FAILED: "The warehouse refused the user name or the password of {}.",
}
STOP_PAUSE_S = 0.05
STOP_SECONDS = 30.0

log = structlog.get_logger()


class ConnectionPool:
    """The open connections; a thread takes one, uses it exclusively and returns it.

    Args:
        url: ``chdb:///folder/warehouse``, ``chdb://:memory:`` or
            ``clickhouse://user:pass@host:8123/db``.
        read_url: URL for read-only connections, with a user whose profile has ``readonly = 2``;
            None: ``url``.
        is_cluster: whether the server is a node of a cluster.
        query_memory_bytes: default memory limit of a query.
    """

    def __init__(
        self,
        url: str,
        *,
        read_url: str | None = None,
        is_cluster: bool = False,
        query_memory_bytes: int,
    ) -> None:
        self.url = url
        self._read_url = read_url
        self._is_cluster = is_cluster
        self._memory_bytes = query_memory_bytes
        self.embedded = urlsplit(url).scheme in EMBEDDED_SCHEMES
        self._idle: defaultdict[tuple[QueryBudget, int, bool], list[Client]] = defaultdict(list)
        self._open: list[Client] = []
        self._lock = threading.Lock()

    def take(self, budget: QueryBudget, threads: int, *, is_built: bool = False) -> Client:
        """A connection locked to the budget; opens one if none is idle.

        ``is_built``: for statements that fill tables which are read right afterwards, and for those
        reads; in a cluster, they see all rows.
        """
        with self._lock:
            idle = self._idle[budget, threads, is_built]
            if idle:
                return idle.pop()
        client = self._connect(budget, threads, is_built=is_built)
        with self._lock:
            self._open.append(client)
        return client

    def give_back(
        self, client: Client, budget: QueryBudget, threads: int, *, is_built: bool = False
    ) -> None:
        """Return a connection for the next query with that budget; closed if enough are idle."""
        with self._lock:
            enough = sum(map(len, self._idle.values())) >= MAX_IDLE_CLIENTS
            if not enough and client in self._open:
                self._idle[budget, threads, is_built].append(client)
                return
        self.drop(client)

    def drop(self, client: Client) -> None:
        """Close a connection that may be in an invalid state."""
        with self._lock:
            if client in self._open:
                self._open.remove(client)
        client.close()

    def close(self) -> None:
        """Close all connections; running queries must have ended."""
        with self._lock:
            clients, self._open = self._open, []
            self._idle.clear()
        for client in clients:
            client.close()

    def _connect(self, budget: QueryBudget, threads: int, *, is_built: bool) -> Client:
        settings = {**_COMMON, **_limits(budget, threads, self._memory_bytes)}
        if self._is_cluster:
            settings |= cluster.SETTINGS
        if self._is_cluster and is_built:
            settings |= cluster.SEQUENTIAL if budget.read_only else cluster.QUORUM
        is_reader = bool(self._read_url) and budget.read_only
        if budget.read_only and not is_reader:
            settings["readonly"] = 1  # last: it locks all others
        url = self._read_url if self._read_url and is_reader else self.url
        try:
            if self.embedded:
                return _connect_embedded(url, settings)
            return _connect_server(url, settings)
        except ClickHouseError as error:
            variable = "HOGLET_WAREHOUSE_READ_URL" if is_reader else "HOGLET_WAREHOUSE_URL"
            raise _cannot_open(str(error), getattr(error, "code", None), variable) from None


def _connect_embedded(url: str, settings: dict[str, Any]) -> Client:
    _import_engine()
    from hoglet.warehouse.embedded import EmbeddedClient  # needs the engine

    # Settings are applied with SET in this order, so readonly must be last.
    path = url.partition("://")[2]
    return EmbeddedClient(path, _EMBEDDED | settings, _ENGINE_OPTIONS, _summary_of)


@cache
def _import_engine() -> None:
    """Import chDB without pyarrow and numpy, which only result formats unused here need.

    Idempotency: once a process, before its first connection.
    """
    with without("pyarrow"):
        importlib.import_module("chdb.state")
    unmap_loaded_pages(_ENGINE_LIBRARY)


def _summary_of(result: Any) -> dict[str, str]:
    return {
        "read_rows": str(result.storage_rows_read()),
        "read_bytes": str(result.storage_bytes_read()),
        "elapsed_ns": str(int(result.elapsed() * 1_000_000_000)),
    }


def _connect_server(url: str, settings: dict[str, Any]) -> Client:
    parts = urlsplit(url)
    secure = parts.scheme in {"clickhouses", "clickhouse+https"}
    host, port = parts.hostname or "localhost", parts.port or (8443 if secure else 8123)
    is_proxied = check_env_proxy("https" if secure else "http", host, port)
    return clickhouse_connect.get_client(
        host=host,
        port=port,
        username=unquote(parts.username or "default"),
        password=unquote(parts.password or ""),
        database=parts.path.strip("/") or "default",
        interface="https" if secure else "http",
        settings=settings,
        tz_mode="aware",
        autogenerate_session_id=False,  # sessions run one query at a time
        connect_timeout=5,
        send_receive_timeout=WRITE_TIMEOUT_S,
        query_retries=0,
        pool_mgr=None if is_proxied else _pool_manager(),
    )


@cache
def _pool_manager() -> Any:
    """The connections of all clients, which end if the server disappears.

    A statement may take an hour, so nothing else would end one that is never answered.
    """
    limits = {
        "TCP_KEEPIDLE": TESTED_AFTER_SECONDS,
        "TCP_KEEPINTVL": TESTED_EVERY_SECONDS,
        "TCP_KEEPCNT": TESTS,
        "TCP_USER_TIMEOUT": UNANSWERED_MS,
    }
    options = [
        (socket.IPPROTO_TCP, getattr(socket, name), limit)
        for name, limit in limits.items()
        if hasattr(socket, name)  # macOS has not all of them
    ]
    return get_pool_manager(socket_options=[*core_socket_options, *options])


def _limits(budget: QueryBudget, threads: int, memory_bytes: int) -> dict[str, Any]:
    limits: dict[str, Any] = {
        "max_execution_time": budget.seconds,
        "timeout_overflow_mode": "throw",
        "max_memory_usage": budget.memory_bytes or memory_bytes,
        "max_threads": threads,
        # Threads that format JSON take longer to start than a small result takes to write: 650 to
        # 460 µs of processor time for SELECT 1, 10 % less for 10,000 rows.
        "output_format_parallel_formatting": 0,
    }
    if budget.block_rows is not None:
        limits |= {"max_block_size": budget.block_rows}
    if budget.read_only:
        limits |= {"max_result_bytes": budget.result_bytes, "result_overflow_mode": "throw"}
    if budget.result_rows is not None:
        limits |= {"max_result_rows": budget.result_rows}
    if budget.read_bytes is not None:
        limits |= {"max_bytes_to_read": budget.read_bytes, "read_overflow_mode": "throw"}
    return limits


def _cannot_open(message: str, code: int | None, variable: str) -> WarehouseInUse | WarehouseDown:
    if code in _CONNECTION_FAULTS:
        return WarehouseDown(_CONNECTION_FAULTS[code].format(variable))
    if "already initialized" in message:
        return WarehouseInUse("This process already uses a warehouse in another folder.")
    if "EmbeddedServer" in message:
        error = WarehouseInUse(
            "The warehouse folder cannot be opened: another process uses it, or it is "
            "not writable. Stop the other hoglet, or choose another --data-dir."
        )
        error.add_note(message)
        return error
    return WarehouseDown(f"The warehouse is unreachable; check {variable}.")


class RunningQueries:
    """Jobs of reads by query id; several reads may share an id.

    Args:
        kill: stops queries in the engine by their ids; blocks.

    Concurrency: methods are called on the event loop; ``kill`` runs in a dedicated thread.
    """

    def __init__(self, kill: Callable[[Sequence[str]], None]) -> None:
        self._kill = kill
        self._jobs: defaultdict[str, list[Job[Any]]] = defaultdict(list)
        self._stopper = ThreadPoolExecutor(1, "warehouse-stop")
        self._stopping: list[tuple[str, Job[Any], float]] = []  # with deadlines
        self._stopping_lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._jobs)

    async def result[R](self, query_id: str, job: Job[R]) -> R:
        """Wait for a read; if the waiting task is cancelled, the query is killed.

        Raises:
            QueryCancelled: :meth:`cancel` was called before the read began.
        """
        self._jobs[query_id].append(job)
        loop = asyncio.get_running_loop()
        ended = loop.create_future()  # wrap_future takes 65 calls for this
        job.add_done_callback(partial(call_soon, loop, partial(_wake, ended)))
        try:
            await ended
            return job.result()
        except CancelledError:
            raise QueryCancelled("The query was cancelled.") from None
        except asyncio.CancelledError:
            if not job.cancel():
                self._stop(query_id, [job])
            raise
        finally:
            self._forget_when_ended(query_id, job)

    async def cancel(self, query_id: str, *, is_shared: bool = False) -> None:
        """Kill a query and wait until it has ended, at most ``STOP_SECONDS``.

        Args:
            query_id: an unknown id has no effect, unless ``is_shared``.
            is_shared: whether other processes use the engine, so an unknown query may be theirs.
        """
        known = list(self._jobs.get(query_id, ()))
        running = [job for job in known if not job.cancel()]
        if running:
            self._stop(query_id, running)
            await _ended(query_id, running)
        elif not known and is_shared:
            await asyncio.get_running_loop().run_in_executor(self._stopper, self._kill, [query_id])

    async def cancel_all(self) -> None:
        """Kill all queries of this process."""
        await asyncio.gather(*(self.cancel(query_id) for query_id in list(self._jobs)))

    async def close(self) -> None:
        """End the thread that kills queries."""
        await asyncio.to_thread(self._stopper.shutdown, wait=True, cancel_futures=True)

    def _forget_when_ended(self, query_id: str, job: Job[Any]) -> None:
        """Remove a query when it has ended; immediately if so, as waking the loop costs 70 µs."""
        if job.done():
            self._forget(query_id, job)
            return
        forget = partial(self._forget, query_id, job)
        job.add_done_callback(partial(call_soon, asyncio.get_running_loop(), forget))

    def _forget(self, query_id: str, ended: Job[Any]) -> None:
        running = self._jobs.get(query_id, [])
        if ended in running:
            running.remove(ended)
        if not running:
            self._jobs.pop(query_id, None)

    def _stop(self, query_id: str, running: Sequence[Job[Any]]) -> None:
        until = time.monotonic() + STOP_SECONDS
        with self._stopping_lock:
            is_idle = not self._stopping
            self._stopping.extend((query_id, job, until) for job in running)
        if is_idle and running:
            self._stopper.submit(self._stop_all)

    def _stop_all(self) -> None:
        """Kill all cancelled queries in one statement, repeatedly until none is left."""
        while waiting := self._left_to_stop():
            try:
                self._kill([query_id for query_id, _ in waiting])
            except Exception:
                log.exception("stopping queries failed", action="kill_failed")
            _wait(waiting[0][1], STOP_PAUSE_S)

    def _left_to_stop(self) -> list[tuple[str, Job[Any]]]:
        now = time.monotonic()
        with self._stopping_lock:
            self._stopping = [
                (query_id, job, until)
                for query_id, job, until in self._stopping
                if not job.done() and now < until
            ]
            return [(query_id, job) for query_id, job, _ in self._stopping]


async def _ended(query_id: str, running: Sequence[Job[Any]]) -> None:
    """Wait until the engine has ended a cancelled query."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            for job in running:
                ended = asyncio.Event()
                job.add_done_callback(partial(call_soon, loop, ended.set))
                await ended.wait()
    except TimeoutError:
        log.warning("a query does not stop", action="cancel_slow", query_id=query_id)


def _wake(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


def call_soon(loop: asyncio.AbstractEventLoop, work: Callable[[], object], _: object) -> None:
    """Schedule a callback on the loop from another thread; no effect once the loop is closed."""
    try:  # contextlib.suppress takes three calls, for each query
        loop.call_soon_threadsafe(work)
    except RuntimeError:
        return


def _wait(running: Job[Any], seconds: float) -> None:
    with contextlib.suppress(BaseException):
        running.exception(timeout=seconds)
