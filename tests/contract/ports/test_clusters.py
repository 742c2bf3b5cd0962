"""Clusters, as far as one node can show: statements that parse, settings that the engine takes."""

import re
import uuid

import pytest

from hoglet.warehouse import ClickHouseWarehouse, QueryBudget, open_warehouse
from hoglet.warehouse.clients import ConnectionPool
from hoglet.warehouse.cluster import created_everywhere, reads_built_rows
from hoglet.warehouse.errors import QueryRefused, WarehouseDown
from hoglet.warehouse.schema import (
    Migration,
    create_everywhere,
    migrations,
    own_table,
    table_names,
)
from support.warehouses import KEEP

CLUSTER = "main"
SHARDED = list(migrations(cluster=CLUSTER))


@pytest.mark.parametrize("migration", SHARDED, ids=lambda each: each.name)
def test_sharded_tables_have_explicit_replica_paths(migration: Migration) -> None:
    local = migration.statements[0]
    path = f"'/clickhouse/tables/{{shard}}/{{database}}/{migration.table}_local', '{{replica}}'"
    assert re.search(rf"ENGINE = Replicated\w*MergeTree\({re.escape(path)}[,)]", local)
    assert "uuid}" not in local
    assert "replicated_deduplication_window = 10000" in local
    assert "replicated_deduplication_window_seconds = 604800" in local
    assert "non_replicated" not in local


def test_replica_paths_are_unique() -> None:
    paths = [re.findall(r"'/clickhouse/[^']+'", each.statements[0]) for each in SHARDED]
    assert all(len(path) == 1 for path in paths)
    assert len({path[0] for path in paths}) == len(SHARDED)


@pytest.mark.parametrize("version", ["version", "revision"])
def test_versions_of_replacing_tables_remain(version: str) -> None:
    one_node = [each.statements[0] for each in migrations()]
    sharded = [each.statements[0] for each in SHARDED]
    plain = [f"ENGINE = ReplacingMergeTree({version})" in each for each in one_node]
    replicated = [bool(re.search(rf"\{{replica\}}', {version}\)", each)) for each in sharded]
    assert plain == replicated
    assert any(plain)


def test_a_single_server_has_no_replicas() -> None:
    for migration in migrations():
        assert "Replicated" not in migration.statements[0]
        assert "zookeeper" not in migration.statements[0].lower()
        assert "ON CLUSTER" not in migration.statements[0]


def test_own_tables_are_on_every_node() -> None:
    statement = own_table("endpoint_table_1", "project_id Int64", "project_id", CLUSTER)
    path = "'/clickhouse/tables/hoglet/{database}/endpoint_table_1', '{shard}-{replica}'"
    assert f"ReplicatedMergeTree({path})" in statement


class _Recorder(ClickHouseWarehouse):
    """A warehouse that notes its statements instead of running them."""

    def __init__(self) -> None:
        super().__init__("clickhouse://127.0.0.1:1/none", cluster=CLUSTER)
        self.statements: list[str] = []

    async def command(self, sql: str, *_more: object, **_options: object) -> None:
        self.statements.append(sql)


async def test_statements_for_new_nodes_parse_and_name_every_table(
    clickhouse_warehouse: ClickHouseWarehouse,
) -> None:
    recorder = _Recorder()
    await create_everywhere(recorder, CLUSTER)
    await recorder.delete_rows("events", "project_id = 1")
    await recorder.close()
    for statement in recorder.statements:
        await clickhouse_warehouse.query(f"EXPLAIN AST {statement}")
        assert f"ON CLUSTER '{CLUSTER}'" in statement
    created = re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", "\n".join(recorder.statements))
    assert set(created) == table_names(cluster=CLUSTER)
    bookkeeping = [each for each in recorder.statements if "TABLE IF NOT EXISTS hoglet_" in each]
    assert len(bookkeeping) == 3
    for statement in bookkeeping:  # every shard sees the same migrations and the same identity
        assert "'/clickhouse/tables/hoglet/{database}/hoglet_" in statement


async def test_a_table_of_this_node_is_created_on_others(
    clickhouse_warehouse: ClickHouseWarehouse,
) -> None:
    name = f"endpoint_table_{uuid.uuid4().hex}"
    columns = "project_id Int64, `a (b)` Nullable(String)"
    await clickhouse_warehouse.create_table(name, columns, order_by="(project_id, `a (b)`)")
    sql = "SELECT create_table_query FROM system.tables WHERE name = {name:String}"
    result = (await clickhouse_warehouse.query(sql, {"name": name})).rows[0][0]
    statement = created_everywhere(name, result, CLUSTER)
    assert statement.startswith(
        f"CREATE TABLE IF NOT EXISTS {name} ON CLUSTER 'main' (`project_id`"
    )
    await clickhouse_warehouse.drop_table(name)
    await clickhouse_warehouse.command(statement.replace("ON CLUSTER 'main'", ""))
    assert (await clickhouse_warehouse.query(sql, {"name": name})).rows[0][0] == result
    await clickhouse_warehouse.drop_table(name)


_SETTINGS = (
    "SELECT getSetting('distributed_product_mode'), getSetting('distributed_ddl_output_mode'), "
    "getSetting('async_insert'), getSetting('select_sequential_consistency')"
)


async def test_connections_to_a_cluster_have_its_settings(clickhouse_url: str) -> None:
    clustered = ClickHouseWarehouse(clickhouse_url, cluster=CLUSTER)
    try:
        plain = (await clustered.query(_SETTINGS)).rows[0]
        after_build = (await clustered.query(f"{_SETTINGS}, 'endpoint_table_1'")).rows[0]
    finally:
        await clustered.close()
    assert [str(value) for value in plain[:3]] == ["global", "null_status_on_timeout", "False"]
    assert (bool(plain[3]), bool(after_build[3])) == (False, True)


def test_builds_wait_for_a_quorum(clickhouse_url: str) -> None:
    pool = ConnectionPool(clickhouse_url, is_cluster=True, query_memory_bytes=10**9)
    write = QueryBudget(read_only=False)
    sql = "SELECT toString(getSetting('insert_quorum')), getSetting('insert_quorum_parallel')"
    try:
        plain = pool.take(write, 1).query(sql).result_rows[0]
        build = pool.take(write, 1, is_built=True).query(sql).result_rows[0]
    finally:
        pool.close()
    assert plain[0] == "0"
    assert (build[0], bool(build[1])) == ("auto", False)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM endpoint_table_1f", True),
        ("SELECT person_id FROM cohort_members WHERE 1", True),
        ("SELECT count() FROM events", False),
    ],
)
def test_which_queries_read_built_rows(sql: str, *, expected: bool) -> None:
    assert reads_built_rows(sql) is expected


def _as_reader(url: str) -> str:
    return url.replace("://", "://reader:reader-password@")


async def test_queries_use_the_reader(
    clickhouse_url: str, clickhouse_warehouse: ClickHouseWarehouse, is_double: None
) -> None:
    opened = await open_warehouse(
        clickhouse_url, read_url=_as_reader(clickhouse_url), retention=KEEP
    )
    try:
        result = await opened.query("SELECT getSetting('readonly'), getSetting('max_result_bytes')")
        assert [int(value) for value in result.rows[0]] == [2, QueryBudget().result_bytes]
        columns = ["project_id", "log_source", "timestamp", "message"]
        await opened.insert("log_entries", columns, [(5, "reader", "2026-01-01T00:00:00Z", "a")])
        sql = "SELECT message FROM log_entries WHERE project_id = 5 AND log_source = 'reader'"
        assert list((await opened.query(sql)).rows) == [("a",)]
        for statement in ("DROP TABLE events", "SET readonly = 0", "INSERT INTO events SELECT 1"):
            with pytest.raises(QueryRefused):
                await opened.query(statement)
    finally:
        await opened.close()


async def test_a_reader_that_may_write_is_refused(clickhouse_url: str) -> None:
    with pytest.raises(WarehouseDown, match="readonly = 2"):
        await open_warehouse(clickhouse_url, read_url=clickhouse_url)
