"""What only a ClickHouse server behind HTTP has: users, other processes, a network."""

import asyncio
import contextlib
import socket
import uuid
from collections.abc import AsyncGenerator, Generator
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from hoglet.kit.lost_peers import TESTED_AFTER_SECONDS, UNANSWERED_MS
from hoglet.warehouse import ClickHouseWarehouse, QueryBudget, open_warehouse
from hoglet.warehouse.clients import _connect_server
from hoglet.warehouse.errors import QueryCancelled, QueryRefused, WarehouseDown
from support.local_http import Handler, LocalHttp
from support.server import free_port
from support.warehouses import KEEP

SLOW = "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 5"


@pytest_asyncio.fixture(scope="module")
async def other_process(clickhouse_url: str) -> AsyncGenerator[ClickHouseWarehouse]:
    """A second client of the same server, which knows nothing of the first one's queries."""
    opened = ClickHouseWarehouse(clickhouse_url)
    yield opened
    await opened.close()


async def test_another_process_sees_the_progress_of_a_query_and_cancels_it(
    clickhouse_warehouse: ClickHouseWarehouse, other_process: ClickHouseWarehouse
) -> None:
    query_id = uuid.uuid4().hex
    running = asyncio.create_task(clickhouse_warehouse.query(SLOW, query_id=query_id))
    while (seen := await other_process.progress(query_id)) is None or not seen.rows_read:  # noqa: ASYNC110 (in the engine)
        await asyncio.sleep(0.01)
    await other_process.cancel(query_id)

    with pytest.raises(QueryCancelled):
        await asyncio.wait_for(running, 60)


def test_connections_end_if_the_server_disappears(clickhouse_url: str) -> None:
    """Here nothing drops packets, so the socket says what the kernel would do."""
    client = _connect_server(clickhouse_url, {})
    assert client.command("SELECT 1") == 1
    parts = urlsplit(clickhouse_url)
    pool = client.http.connection_from_host(parts.hostname, parts.port)  # pyright: ignore[reportAttributeAccessIssue]
    with contextlib.closing(pool._get_conn()) as connection:
        assert (
            connection.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == UNANSWERED_MS
        )
        tested_after = connection.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        assert tested_after == TESTED_AFTER_SECONDS
    client.close()


async def test_cancelling_one_query_leaves_others_alone(
    clickhouse_warehouse: ClickHouseWarehouse, other_process: ClickHouseWarehouse
) -> None:
    query_id = uuid.uuid4().hex
    running = asyncio.create_task(clickhouse_warehouse.query(SLOW, query_id=query_id))
    while await other_process.progress(query_id) is None:  # noqa: ASYNC110 (in the engine)
        await asyncio.sleep(0.01)
    await other_process.cancel(query_id[:-1])
    await other_process.cancel("%")
    assert await other_process.progress(query_id) is not None
    await clickhouse_warehouse.cancel(query_id)
    with pytest.raises(QueryCancelled):
        await running


async def test_two_servers_may_create_the_schema_at_once(clickhouse_url: str) -> None:
    same = [open_warehouse(clickhouse_url, retention=KEEP) for _ in range(3)]
    opened = await asyncio.gather(*same)
    for each in opened:
        await each.close()


@pytest.mark.parametrize(
    "text",
    ["x" * 200_000, "ab'\\\n\t\x00☃" * 20_000],
    ids=["plain", "escaped"],
)
async def test_bound_values_may_be_longer_than_an_address(
    clickhouse_warehouse: ClickHouseWarehouse, text: str
) -> None:
    result = await clickhouse_warehouse.query("SELECT {text:String}", {"text": text})
    assert result.rows[0][0] == text


async def test_a_large_result_arrives_whole(clickhouse_warehouse: ClickHouseWarehouse) -> None:
    sql = "SELECT number, repeat('x', 100) AS text FROM numbers(100000)"
    result = await clickhouse_warehouse.query(sql)
    assert len(result.rows) == 100_000
    assert result.rows[-1] == (99_999, "x" * 100)
    assert result.statistics.rows_read == 100_000
    assert result.statistics.seconds > 0


async def test_messages_do_not_show_the_address(clickhouse_warehouse: ClickHouseWarehouse) -> None:
    port = str(urlsplit(clickhouse_warehouse.url).port)
    for sql in ("SELECT nope(1)", "SELECT throwIf(1, 'because')", "SELECT 1 SETTINGS a_b = 1"):
        with pytest.raises(QueryRefused) as refused:
            await clickhouse_warehouse.query(sql)
        assert "http" not in refused.value.detail
        assert port not in refused.value.detail


@pytest.fixture
def balancer(clickhouse_url: str) -> Generator[tuple[str, list[bytes]]]:
    """A load balancer before the server, which has no server left for queries with ``'busy'``.

    Yields the address of the database behind it, and the queries that it refused.
    """
    server = urlsplit(clickhouse_url)
    refused: list[bytes] = []

    class Balancer(Handler):
        def handle_any(self) -> None:
            query = self.body()
            if b"'busy'" in query:
                refused.append(query)
                self.answer(503, b"no server available")
                return
            connection = HTTPConnection(server.hostname or "", server.port)
            connection.request(self.command, self.path, query, dict(self.headers.items()))
            response = connection.getresponse()
            content = response.read()
            framing = {"transfer-encoding", "content-length"}
            headers = {k: v for k, v in response.getheaders() if k.lower() not in framing}
            self.answer(response.status, content, headers)

    opened = LocalHttp(Balancer)
    yield clickhouse_url.replace(server.netloc.rpartition("@")[2], opened.url[7:]), refused
    opened.close()


async def test_a_refused_query_is_not_sent_again(balancer: tuple[str, list[bytes]]) -> None:
    url, refused = balancer
    warehouse = ClickHouseWarehouse(url)
    try:
        assert (await warehouse.query("SELECT 1")).rows[0][0] == 1
        with pytest.raises(WarehouseDown):
            await warehouse.query("SELECT 'busy'")
        assert len(refused) == 1
    finally:
        await warehouse.close()


async def test_a_server_that_cannot_be_reached() -> None:
    with pytest.raises(WarehouseDown):
        await open_warehouse(f"clickhouse://127.0.0.1:{free_port()}/hoglet")


async def test_a_wrong_password_or_database_is_named(clickhouse_server: str) -> None:
    parts = urlsplit(clickhouse_server)
    address = f"{parts.hostname}:{parts.port or 8123}"
    with pytest.raises(WarehouseDown, match="the user name or the password"):
        await open_warehouse(f"clickhouse://default:wrong-{uuid.uuid4()}@{address}/default")
    with pytest.raises(WarehouseDown, match="database of HOGLET_WAREHOUSE_URL does not exist"):
        await open_warehouse(f"{clickhouse_server}/missing_{uuid.uuid4().hex}")


async def test_budgets_do_not_leak_into_later_queries(
    clickhouse_warehouse: ClickHouseWarehouse,
) -> None:
    for seconds, rows in ((3.0, 5), (7.0, None)):
        result = await clickhouse_warehouse.query(
            "SELECT getSetting('max_execution_time'), getSetting('max_result_rows'), "
            "getSetting('readonly')",
            budget=QueryBudget(seconds=seconds, result_rows=rows),
        )
        assert [float(value) for value in result.rows[0]] == [seconds, float(rows or 0), 1.0]
