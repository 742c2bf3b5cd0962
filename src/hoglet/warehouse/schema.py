"""The schema: numbered files in ``ddl/``, each applied once, in order, and recorded.

A file is a template with one statement. In the clustered form the real table is ``<name>_local``
(replicated) and ``<name>`` is a Distributed table over it, sharded by the expression in the
file's ``-- distributed by:`` line.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from string import Template

import msgspec

from hoglet.warehouse.cluster import everywhere_replica, on_cluster, quoted, shard_replica
from hoglet.warehouse.errors import SchemaTooNew, WarehouseBroken
from hoglet.warehouse.port import STARTUP, Warehouse

DEDUP_BLOCKS = 10_000  # deduplication tokens kept per table, about 3 MB per table
# Number of properties with their own column in a part; others share one. With 256, events with
# 1,000 different keys took 3 to 4 times as much as with 64. See docs/adr/0022-bounded-growth.md
JSON_PATHS = 64
_SYNCED = "fsync_after_insert = 1, fsync_part_directory = 1"  # 5 % on blocks of 5,000 rows
_DURABLE = f"non_replicated_deduplication_window = {DEDUP_BLOCKS}, {_SYNCED}"
DEDUP_SECONDS = 7 * 24 * 3600
_REPLICATED = (
    f"replicated_deduplication_window = {DEDUP_BLOCKS}, "
    f"replicated_deduplication_window_seconds = {DEDUP_SECONDS}, {_SYNCED}"
)
# Runs read few rows of a materialized table. With the engine's default granules of 8,192 rows, a
# run read 21,000 of 43,000 rows and took 7.3 ms instead of 6.2. Granules of 512 gained nothing.
_OWN_GRANULARITY = 1024
_RECORD = """CREATE TABLE IF NOT EXISTS hoglet_ddl ${on_cluster} (
    number UInt32, name String, applied_at DateTime DEFAULT now()
) ENGINE = ${replicated}MergeTree${path} ORDER BY number"""
_IDENTITY = """CREATE TABLE IF NOT EXISTS hoglet_identity ${on_cluster} (
    id UUID, created_at DateTime64(6) DEFAULT now64(6)
) ENGINE = ${replicated}MergeTree${path} ORDER BY created_at SETTINGS ${durable}"""
_CHECKPOINTS = """CREATE TABLE IF NOT EXISTS hoglet_checkpoints ${on_cluster} (
    number UInt64
) ENGINE = ${replicated}ReplacingMergeTree(${replica}number) ORDER BY tuple() SETTINGS ${durable}"""
_BOOKKEEPING = {
    "hoglet_ddl": _RECORD,
    "hoglet_identity": _IDENTITY,
    "hoglet_checkpoints": _CHECKPOINTS,
}
_TABLES = "SELECT name FROM system.tables WHERE database = currentDatabase()"
_NAME = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)\$\{local\}")
_SHARDED = re.compile(r"-- distributed by: (.+)")


class Retention(msgspec.Struct, frozen=True):
    """Days for which rows are kept; ``event_days`` None keeps events forever.

    ``log_days`` applies to function logs, ``metric_days`` to counters, ``query_days`` to the query
    log.
    """

    event_days: int | None = None
    log_days: int = 90
    metric_days: int = 365
    query_days: int = 365


class Migration(msgspec.Struct, frozen=True):
    """One file of ``ddl/``, rendered."""

    number: int
    name: str
    table: str | None
    statements: list[str]


def migrations(
    *, cluster: str | None = None, retention: Retention | None = None
) -> Iterator[Migration]:
    """All files in order, for a single engine (``cluster`` None) or a cluster of that name."""
    for entry in sorted(files("hoglet.warehouse").joinpath("ddl").iterdir(), key=lambda e: e.name):
        if not entry.name.endswith(".sql"):
            continue
        template = entry.read_text()
        statements = [_render(template, cluster, retention or Retention())]
        if cluster:
            statements.append(_distributed(template, cluster))
        yield Migration(
            int(entry.name[:4]), entry.name.removesuffix(".sql"), _table_of(template), statements
        )


def table_names(*, cluster: str | None = None) -> set[str]:
    """All tables that the schema consists of, e.g. ``{"events", "events_local", …}``."""
    tables = {migration.table for migration in migrations() if migration.table}
    local = {f"{table}_local" for table in tables} if cluster else set[str]()
    return set(_BOOKKEEPING) | tables | local


async def create_everywhere(
    warehouse: Warehouse, cluster: str, *, retention: Retention | None = None
) -> None:
    """Create missing tables on all nodes of the cluster, e.g. on a node that was added.

    Idempotency: existing tables are left alone.
    """
    for statement in _bookkeeping(cluster):
        await warehouse.command(statement)
    for migration in migrations(cluster=cluster, retention=retention):
        for statement in migration.statements:
            await warehouse.command(statement)


async def apply_schema(
    warehouse: Warehouse, *, cluster: str | None = None, retention: Retention | None = None
) -> None:
    """Apply pending migrations.

    Idempotency: every statement is ``IF NOT EXISTS``, so two servers may start at once.

    Raises:
        SchemaTooNew: a newer version applied further migrations.
        WarehouseBroken: an existing table is missing.
    """
    for statement in _bookkeeping(cluster):
        await warehouse.command(statement)
    rows = (await warehouse.query("SELECT number FROM hoglet_ddl", budget=STARTUP)).rows
    done = {number for (number,) in rows}
    known = list(migrations(cluster=cluster, retention=retention))
    if done and max(done) > known[-1].number:
        raise SchemaTooNew(
            "The warehouse was written by a newer version of hoglet (schema "
            f"{max(done)}; this version knows {known[-1].number}): start that version, "
            "or restore an older backup."
        )
    tables = {name for (name,) in (await warehouse.query(_TABLES, budget=STARTUP)).rows}
    for migration in known:
        if migration.number in done:
            _expect(migration.table, tables)
            continue
        for statement in migration.statements:
            await warehouse.command(statement)
        await warehouse.insert(
            "hoglet_ddl", ["number", "name"], [[migration.number, migration.name]]
        )


def _expect(table: str | None, tables: set[str]) -> None:
    if table is not None and table not in tables:
        raise WarehouseBroken(
            f"The table {table} of the warehouse is missing: restore the warehouse from a backup."
        )


def own_table(name: str, columns: str, order_by: str, cluster: str | None) -> str:
    """The statement that creates a table outside of the DDL files (see ``Warehouse.create_table``).

    In a cluster all nodes are replicas of one table.
    """
    engine = f"ReplicatedMergeTree({everywhere_replica(name)})" if cluster else "MergeTree"
    return (
        f"CREATE TABLE {name} {on_cluster(cluster)} ({columns}) "
        f"ENGINE = {engine} ORDER BY {order_by} "
        f"SETTINGS allow_nullable_key = 1, index_granularity = {_OWN_GRANULARITY}, {_SYNCED}"
    )


def _bookkeeping(cluster: str | None) -> Iterator[str]:
    """Bookkeeping tables, fully replicated so that every node sees the same migrations."""
    for name, template in _BOOKKEEPING.items():
        yield _substituted(template, cluster, Retention(), everywhere_replica(name))


def _render(template: str, cluster: str | None, retention: Retention) -> str:
    table = _table_of(template)
    return _substituted(template, cluster, retention, shard_replica(f"{table}_local"))


def _substituted(template: str, cluster: str | None, retention: Retention, replica: str) -> str:
    return Template(template).substitute(
        local="_local" if cluster else "",
        on_cluster=on_cluster(cluster),
        replicated="Replicated" if cluster else "",
        path=f"({replica})" if cluster else "",
        replica=f"{replica}, " if cluster else "",
        durable=_REPLICATED if cluster else _DURABLE,
        paths=JSON_PATHS,
        log_days=retention.log_days,
        metric_days=retention.metric_days,
        query_days=retention.query_days,
    )


def _distributed(template: str, cluster: str) -> str:
    table, key = _table_of(template), _SHARDED.search(template)
    if table is None or key is None:
        raise ValueError("a DDL file needs its table name and a '-- distributed by:' line")
    arguments = f"{quoted(cluster)}, currentDatabase(), {table}_local, {key.group(1)}"
    return (
        f"CREATE TABLE IF NOT EXISTS {table} {on_cluster(cluster)} AS {table}_local "
        f"ENGINE = Distributed({arguments})"
    )


def _table_of(template: str) -> str | None:
    """The table that a file creates; None if it changes an existing one."""
    name = _NAME.search(template)
    return name and name.group(1)
