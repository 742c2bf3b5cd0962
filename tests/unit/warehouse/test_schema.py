"""The DDL files: numbered, in both forms."""

import re

import pytest

from hoglet.warehouse import Warehouse
from hoglet.warehouse.schema import apply_schema, migrations, own_table


def test_files_are_numbered_without_gaps() -> None:
    assert [each.number for each in migrations()] == list(range(1, len(list(migrations())) + 1))


@pytest.mark.parametrize("cluster", [None, "main"])
async def test_every_statement_parses(warehouse: Warehouse, cluster: str | None) -> None:
    for migration in migrations(cluster=cluster):
        for statement in migration.statements:
            await warehouse.query(f"EXPLAIN AST {statement}")


def test_every_table_starts_its_order_with_the_project() -> None:
    for migration in migrations():
        order = re.search(r"ORDER BY \((\w+)", migration.statements[0])
        assert order is not None
        assert order.group(1) == "project_id"


def test_the_clustered_form_is_replicated_and_distributed() -> None:
    local, distributed = next(iter(migrations(cluster="it's"))).statements

    assert "events_local ON CLUSTER 'it\\'s'" in local
    assert "ENGINE = ReplicatedMergeTree" in local
    assert "Distributed('it\\'s', currentDatabase(), events_local" in distributed


@pytest.mark.parametrize("cluster", [None, "main"])
async def test_own_tables_parse_in_both_forms(warehouse: Warehouse, cluster: str | None) -> None:
    statement = own_table("endpoint_table_1", "project_id Int64", "project_id", cluster)

    await warehouse.query(f"EXPLAIN AST {statement}")
    assert ("ON CLUSTER 'main'" in statement) == (cluster is not None)


async def test_applying_again_changes_nothing(warehouse: Warehouse) -> None:
    await apply_schema(warehouse)

    rows = (await warehouse.query("SELECT number, count() FROM hoglet_ddl GROUP BY number")).rows
    assert {count for _, count in rows} == {1}
