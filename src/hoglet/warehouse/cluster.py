"""Clusters: replica paths, settings of every connection, and tables for nodes that were added.

Tables of ``ddl/`` are sharded: ``<name>_local`` on every node, replicated within its shard, and
``<name>``, a Distributed table over it. All other tables are replicated to every node.

Replica paths are explicit and contain no ``{uuid}``, so that a new or replaced node can create the
table with the same path and fetch its rows. The macros ``{shard}`` and ``{replica}`` must be
configured on every node.

Not tested on a real cluster: the tests check the statements and settings.
"""

from collections.abc import Mapping

import msgspec

from hoglet.warehouse.port import Warehouse

READ_AFTER_BUILD = ("endpoint_table_", "cohort_members")
"""Names and prefixes of tables that one statement fills and that are read as soon as it ends."""

SETTINGS: Mapping[str, str | int] = {
    # Subqueries over distributed tables are computed once and sent to the shards instead of
    # being rejected: joins with persons, cohorts in conditions.
    "distributed_product_mode": "global",
    # A statement succeeds without an unavailable node, which catches up from the statement queue.
    "distributed_ddl_output_mode": "null_status_on_timeout",
    "distributed_ddl_task_timeout": 30,
}
SEQUENTIAL: Mapping[str, str | int] = {"select_sequential_consistency": 1}
"""For reads: a replica that has not fetched all rows of a build rejects the query instead of
returning only some of them."""
QUORUM: Mapping[str, str | int] = {"insert_quorum": "auto", "insert_quorum_parallel": 0}
"""For builds: an insert is done once the majority of the replicas has the rows."""

_OWN_TABLES = """SELECT name, create_table_query FROM system.tables
    WHERE database = currentDatabase() AND startsWith(name, {prefix:String}) ORDER BY name"""
_NODES = """SELECT hostName() AS node, groupArrayIf(name, database = currentDatabase())
    FROM clusterAllReplicas({}, system.tables) GROUP BY node ORDER BY node"""


def on_cluster(cluster: str | None) -> str:
    """The clause that runs a statement on every node; empty without a cluster."""
    return f"ON CLUSTER {quoted(cluster)}" if cluster else ""


def quoted(text: str) -> str:
    """Quote a string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def shard_replica(table: str) -> str:
    """Arguments of a replicated engine for a sharded table."""
    return f"'/clickhouse/tables/{{shard}}/{{database}}/{table}', '{{replica}}'"


def everywhere_replica(table: str) -> str:
    """Arguments of a replicated engine for a table replicated to every node."""
    return f"'/clickhouse/tables/hoglet/{{database}}/{table}', '{{shard}}-{{replica}}'"


def reads_built_rows(sql: str) -> bool:
    """Whether a query reads a table that was filled by one statement."""
    return any(name in sql for name in READ_AFTER_BUILD)


class ClusterNode(msgspec.Struct, frozen=True):
    """A node and its missing tables, e.g. ``ClusterNode("ch-3", ["events"])``."""

    name: str
    missing: list[str]


async def create_own_tables(warehouse: Warehouse, cluster: str) -> list[str]:
    """Create this node's materialized tables on nodes that lack them; returns their names.

    Idempotency: existing tables are left alone.
    """
    statements = await warehouse.query(_OWN_TABLES, {"prefix": READ_AFTER_BUILD[0]})
    for name, statement in statements.rows:
        await warehouse.command(created_everywhere(str(name), str(statement), cluster))
    return [str(name) for name, _ in statements.rows]


def created_everywhere(name: str, statement: str, cluster: str) -> str:
    """A table's CREATE statement from ``system.tables``, changed to run on every node."""
    definition = statement[statement.index("(") :]
    return f"CREATE TABLE IF NOT EXISTS {name} {on_cluster(cluster)} {definition}"


async def nodes(warehouse: Warehouse, cluster: str, tables: set[str]) -> list[ClusterNode]:
    """The nodes that respond, and which of ``tables`` each lacks."""
    tables_by_node = await warehouse.query(_NODES.format(quoted(cluster)))
    return [
        ClusterNode(str(name), sorted(tables - set(existing)))
        for name, existing in tables_by_node.rows
    ]
