"""The contract of warehouses, embedded and on a ClickHouse server."""

import asyncio
import subprocess
import sys
import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from hoglet.warehouse import ClickHouseWarehouse, InsertSelect, QueryBudget, Warehouse
from hoglet.warehouse.errors import (
    QueryCancelled,
    QueryRefused,
    QueryTooCostly,
    WarehouseDown,
    WarehouseInUse,
)

SLOW = "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 5"
AT = datetime.now(UTC).replace(microsecond=123456)  # logs expire, so not a fixed day
LOG_COLUMNS = ["project_id", "log_source", "log_source_id", "timestamp", "level", "message"]


def log_row(project_id: int, message: str = "hello") -> Sequence[Any]:
    return (project_id, "endpoint", "e", AT, "INFO", message)


async def count_logs(warehouse: Warehouse, project_id: int) -> int:
    sql = "SELECT count() FROM log_entries WHERE project_id = {project_id:Int64}"
    return (await warehouse.query(sql, {"project_id": project_id})).rows[0][0]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("String", "it's \t\n\\N {x:String} %s é☃ NULL"),
        ("String", ""),
        ("Nullable(String)", None),
        ("Array(String)", ["a'b", "\\", "\n"]),
        ("Array(Nullable(Int64))", [1, None]),
        ("Int64", -(2**63)),
        ("Float64", 1.5e300),
        ("Bool", True),
        ("UUID", uuid.UUID("0199c7b2-0000-7000-8000-000000000001")),
        ("Date", date(2026, 1, 5)),
        ("DateTime('UTC')", AT.replace(microsecond=0)),
    ],
)
async def test_a_bound_value_comes_back_unchanged(
    warehouse: Warehouse, kind: str, value: Any
) -> None:
    result = await warehouse.query(f"SELECT {{value:{kind}}}", {"value": value})

    assert result.rows[0][0] == value


async def test_columns_carry_names_and_types(warehouse: Warehouse) -> None:
    result = await warehouse.query("SELECT 1 AS one, max(number % 3) FROM numbers(3)")

    assert [(c.name, c.type) for c in result.columns] == [
        ("one", "UInt8"),
        ("max(modulo(number, 3))", "UInt8"),
    ]
    assert list(result.rows) == [(1, 2)]
    assert result.statistics.rows_read == 3


async def test_an_empty_answer_still_has_columns(warehouse: Warehouse) -> None:
    result = await warehouse.query("SELECT number FROM numbers(3) WHERE number > 5")

    assert [column.type for column in result.columns] == ["UInt64"]
    assert list(result.rows) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
        "SELECT * FROM remote('127.0.0.1', system.one)",
        "SELECT * FROM executable('id', 'CSV', 'a String')",
        "INSERT INTO log_entries (project_id) VALUES (1)",
        "DROP TABLE log_entries",
        "CREATE TABLE evil (a Int64) ENGINE = Memory",
        "SELECT 1 SETTINGS max_execution_time = 1000",
        "SET readonly = 0",
    ],
)
async def test_a_read_only_query_reaches_nothing_but_tables(warehouse: Warehouse, sql: str) -> None:
    with pytest.raises(QueryRefused):
        await warehouse.query(sql)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT nope(1)", "unknown_function"),
        ("SELECT toUUID('x')", "cannot_parse_uuid"),
        ("SELECT sum('a')", "illegal_type_of_argument"),
        ("SELECT count(sum(1))", "illegal_aggregation"),
        ("SELECT event, count() FROM events", "not_an_aggregate"),
        ("SELECT * FROM missing_table", "unknown_table"),
        ("SELECT upper()", "number_of_arguments_doesnt_match"),
        ("SELECT least(1, 'a')", "no_common_type"),
        ("SELECT toInt64('abc')", "invalid_input"),
        pytest.param("SELECT MD5('a') = 1", "type_mismatch", id="quotes bytes"),
        ("SELECT map([1], 2)", "invalid_input"),
    ],
)
async def test_a_wrong_query_says_what_is_wrong(warehouse: Warehouse, sql: str, code: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        await warehouse.query(sql)

    assert refused.value.error_code == code
    assert "version" not in refused.value.detail
    assert "DB::Exception" not in refused.value.detail


async def test_the_rows_of_a_query_are_inserted(warehouse: Warehouse) -> None:
    name = f"endpoint_table_{uuid.uuid4().hex}"
    await warehouse.create_table(name, "n UInt64, `a b` String", order_by="n")
    select = "SELECT number, toString(number) FROM numbers({count:UInt64})"
    insert = InsertSelect(name, ["n", "`a b`"], select, {"count": 3})

    await warehouse.insert_select(insert, seconds=30)
    await warehouse.insert_select(insert, seconds=30)

    result = await warehouse.query(f"SELECT n, `a b` FROM {name} ORDER BY n")
    assert result.rows == [(n, str(n)) for n in (0, 0, 1, 1, 2, 2)]
    await warehouse.drop_table(name)


async def test_a_query_that_fails_midway_inserts_nothing(
    embedded_warehouse: ClickHouseWarehouse,
) -> None:
    name = f"endpoint_table_{uuid.uuid4().hex}"
    await embedded_warehouse.create_table(name, "n UInt64", order_by="n")
    select = "SELECT number + throwIf(number = 2999999) FROM numbers(3000000)"

    with pytest.raises(QueryRefused):
        await embedded_warehouse.insert_select(InsertSelect(name, ["n"], select, {}), seconds=30)

    assert (await embedded_warehouse.query(f"SELECT count() FROM {name}")).rows == [(0,)]
    scratch = "SELECT name FROM system.tables WHERE startsWith(name, 'hoglet_scratch_')"
    assert (await embedded_warehouse.query(scratch)).rows == []
    await embedded_warehouse.drop_table(name)


async def test_time_is_limited(warehouse: Warehouse) -> None:
    with pytest.raises(QueryTooCostly) as refused:
        await warehouse.query(SLOW, budget=QueryBudget(seconds=0.5))

    assert refused.value.error_code == "query_timeout"


async def test_memory_is_limited(warehouse: Warehouse) -> None:
    sql = "SELECT groupArray(number) FROM numbers(100000000)"
    with pytest.raises(QueryTooCostly) as refused:
        await warehouse.query(sql, budget=QueryBudget(memory_bytes=50_000_000))

    assert refused.value.error_code == "query_memory_limit"


async def test_the_embedded_engine_takes_its_options(
    embedded_warehouse: ClickHouseWarehouse,
) -> None:
    """It ignores those that it does not know: then an idle server uses more of the processor."""
    sql = "SELECT value FROM system.server_settings WHERE name = 'memory_worker_period_ms'"
    assert [list(row) for row in (await embedded_warehouse.query(sql)).rows] == [["500"]]


async def test_a_budget_without_memory_takes_the_warehouses_own(
    warehouse: ClickHouseWarehouse,
) -> None:
    small = ClickHouseWarehouse(warehouse.url, query_memory_bytes=50_000_000)
    sql = "SELECT length(groupArray(number)) FROM numbers(20000000)"
    try:
        with pytest.raises(QueryTooCostly):
            await small.query(sql)
    finally:
        await small.close()


async def test_the_size_of_the_answer_is_limited(warehouse: Warehouse) -> None:
    with pytest.raises(QueryTooCostly):
        await warehouse.query("SELECT * FROM numbers(11)", budget=QueryBudget(result_rows=10))
    sql = "SELECT repeat(toString(number), 100000) FROM numbers(1000)"
    with pytest.raises(QueryTooCostly):
        await warehouse.query(sql, budget=QueryBudget(result_bytes=10_000_000))


async def test_cancelling_by_id_stops_the_query(warehouse: Warehouse) -> None:
    query_id = uuid.uuid4().hex
    running = asyncio.create_task(warehouse.query(SLOW, query_id=query_id))
    await asyncio.sleep(0.2)
    await warehouse.cancel(query_id)

    with pytest.raises(QueryCancelled):
        await asyncio.wait_for(running, 60)


async def test_progress_of_a_running_query(warehouse: Warehouse) -> None:
    query_id = uuid.uuid4().hex
    assert await warehouse.progress(query_id) is None
    running = asyncio.create_task(warehouse.query(SLOW, query_id=query_id))
    while (seen := await warehouse.progress(query_id)) is None or not seen.rows_read:  # noqa: ASYNC110 (in the engine)
        await asyncio.sleep(0.01)
    assert (seen.rows_total, seen.bytes_read) == (1_000_000_000_000, 8 * seen.rows_read)
    assert seen.seconds > 0
    await warehouse.cancel(query_id)
    with pytest.raises(QueryCancelled):
        await running
    assert await warehouse.progress(query_id) is None


async def test_an_abandoned_query_stops_in_the_engine(warehouse: Warehouse) -> None:
    running = asyncio.create_task(warehouse.query(SLOW, query_id="abandoned"))
    await asyncio.sleep(0.2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    sql = (
        "SELECT count() FROM system.processes WHERE query LIKE '%sipHash64(number) = 5%' "
        "AND query NOT LIKE '%system.processes%'"
    )
    for _ in range(300):
        if (await warehouse.query(sql)).rows[0][0] == 0:
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the query still runs")


async def test_slow_queries_do_not_hold_up_quick_ones(warehouse: Warehouse) -> None:
    slow = [asyncio.create_task(warehouse.query(SLOW)) for _ in range(2)]
    await asyncio.sleep(0.1)
    await warehouse.query("SELECT 1")
    still_running = [task for task in slow if not task.done()]
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)

    assert still_running == slow


async def test_inserted_rows_come_back(warehouse: Warehouse, fresh_project_id: int) -> None:
    text = 'a "quoted"\tline\n with é☃ \\ and \x00'
    await warehouse.insert("log_entries", LOG_COLUMNS, [log_row(fresh_project_id, text)])

    result = await warehouse.query(
        "SELECT message, timestamp FROM log_entries WHERE project_id = {p:Int64}",
        {"p": fresh_project_id},
    )
    assert list(result.rows) == [(text, AT)]


async def test_the_same_token_is_inserted_once(warehouse: Warehouse, fresh_project_id: int) -> None:
    token = uuid.uuid4().hex
    for _ in range(3):
        await warehouse.insert(
            "log_entries", LOG_COLUMNS, [log_row(fresh_project_id)] * 10, dedup_token=token
        )

    assert await count_logs(warehouse, fresh_project_id) == 10


async def test_the_same_token_is_inserted_once_also_if_a_large_block_has_changed(
    warehouse: Warehouse, fresh_project_id: int
) -> None:
    """A group that is processed again has its former events, with other properties of persons."""
    token = uuid.uuid4().hex
    for megabytes in (9, 13, 25):
        rows = [log_row(fresh_project_id, "x" * megabytes * 10_000)] * 100
        await warehouse.insert("log_entries", LOG_COLUMNS, rows, dedup_token=token)

    assert await count_logs(warehouse, fresh_project_id) == 100


async def test_equal_blocks_without_a_token_are_refused_as_duplicates_only_by_token(
    warehouse: Warehouse, fresh_project_id: int
) -> None:
    for token in ("one", "two"):
        await warehouse.insert(
            "log_entries",
            LOG_COLUMNS,
            [log_row(fresh_project_id)],
            dedup_token=f"{token}-{fresh_project_id}",
        )

    assert await count_logs(warehouse, fresh_project_id) == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1e400}',
        '{"a": {"b": 1}, "a.b": 2}',
        '{"a": 1, "a": 2}',
        '{"a": "\\ud800"}',
        '{"a": 123456789012345678901234567890}',
        '{"": 1, "$x": [1, "a", {"z": null}]}',
        "[]",
        "not json",
        '{"a":' * 500 + "1" + "}" * 500,
    ],
    ids=str.__len__,
)
async def test_properties_of_any_kind_never_spoil_a_block(
    warehouse: Warehouse, fresh_project_id: int, text: str
) -> None:
    columns = ["project_id", "uuid", "event", "properties", "timestamp", "distinct_id"]
    rows = [
        (fresh_project_id, uuid.uuid4(), "e", each, AT, "d")
        for each in (text, '{"ok":"2026-01-01"}')
    ]
    await warehouse.insert("events", columns, rows)

    result = await warehouse.query(
        "SELECT properties, properties_json.ok::Nullable(String) FROM events "
        "WHERE project_id = {p:Int64} ORDER BY properties = {text:String} DESC",
        {"p": fresh_project_id, "text": text},
    )
    assert [row[0] for row in result.rows] == [text, '{"ok":"2026-01-01"}']
    assert result.rows[1][1] == "2026-01-01"


CRASHING = """
import asyncio, os, signal, sys
from datetime import UTC, datetime
from hoglet.warehouse import open_warehouse

async def main():
    warehouse = await open_warehouse("chdb://" + sys.argv[1])
    columns = ["project_id", "log_source", "timestamp", "message"]
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    rows = [(1, "endpoint", today, str(n)) for n in range(100)]
    await warehouse.insert("log_entries", columns, rows, dedup_token="batch-1")
    count = (await warehouse.query("SELECT count() FROM log_entries")).rows[0][0]
    print(count, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.parametrize("name", ["warehouse", "c# %41"])
def test_a_block_inserted_again_after_a_crash_is_there_once(tmp_path: Path, name: str) -> None:
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", CRASHING, str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
        )

        assert run.stdout.split() == ["100"], run.stderr
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_second_process_is_told_that_the_folder_is_taken(
    embedded_warehouse: ClickHouseWarehouse, tmp_path_factory: pytest.TempPathFactory
) -> None:
    script = (
        "import asyncio, sys\n"
        "from hoglet.warehouse import open_warehouse\n"
        "from hoglet.warehouse.errors import WarehouseInUse\n"
        "try:\n"
        "    asyncio.run(open_warehouse(sys.argv[1]))\n"
        "except WarehouseInUse as error:\n"
        "    print(error.detail)\n"
    )
    url = embedded_warehouse.url
    run = subprocess.run(
        [sys.executable, "-c", script, url], capture_output=True, text=True, check=False
    )

    assert "another process" in run.stdout, run.stderr


async def test_one_process_has_one_folder(
    embedded_warehouse: ClickHouseWarehouse, tmp_path: Path
) -> None:
    from hoglet.warehouse import open_warehouse

    with pytest.raises(WarehouseInUse):
        await open_warehouse(f"chdb://{tmp_path}")


async def test_own_tables_are_ordered_by_columns_that_may_be_null(warehouse: Warehouse) -> None:
    columns = "project_id Int64, tenant Nullable(String)"
    await warehouse.create_table("endpoint_table_order", columns, order_by="(project_id, tenant)")
    rows = [(1, "b"), (1, None), (1, "a")]
    await warehouse.insert("endpoint_table_order", ["project_id", "tenant"], rows)

    result = await warehouse.query("SELECT tenant FROM endpoint_table_order WHERE tenant = 'a'")

    assert list(result.rows) == [("a",)]
    await warehouse.drop_table("endpoint_table_order")


@pytest.mark.parametrize("keep_bytes", [None, 0, 200], ids=["gone", "empty", "truncated"])
async def test_rows_that_cannot_be_read_are_not_the_fault_of_a_query(
    embedded_warehouse: ClickHouseWarehouse, keep_bytes: int | None
) -> None:
    table = f"endpoint_table_damaged_{keep_bytes}"
    await embedded_warehouse.create_table(table, "name String", order_by="name")
    try:
        await embedded_warehouse.insert(table, ["name"], [(f"name {n}",) for n in range(5000)])
        result = await embedded_warehouse.query(
            "SELECT path FROM system.parts WHERE table = {table:String} AND active",
            {"table": table},
        )
        [[folder]] = result.rows
        file = Path(folder) / "data.bin"
        content = file.read_bytes()
        file.unlink()
        if keep_bytes is not None:
            file.write_bytes(content[:keep_bytes])

        with pytest.raises(WarehouseDown, match="cannot be read") as refused:
            await embedded_warehouse.query(f"SELECT max(length(name)) FROM {table}")

        assert folder not in refused.value.detail
    finally:
        await embedded_warehouse.drop_table(table)
