"""Opens the warehouse: connects, migrates its schema and checks that it is complete."""

from hoglet.warehouse.clickhouse import QUERY_MEMORY_BYTES, ClickHouseWarehouse
from hoglet.warehouse.insert_select import drop_scratch_tables
from hoglet.warehouse.integrity import check_parts
from hoglet.warehouse.json_rows import check_reader
from hoglet.warehouse.retention import apply_retention
from hoglet.warehouse.schema import Retention, apply_schema


async def open_warehouse(
    url: str,
    *,
    read_url: str | None = None,
    cluster: str | None = None,
    retention: Retention | None = None,
    query_memory_bytes: int = QUERY_MEMORY_BYTES,
) -> ClickHouseWarehouse:
    """Connect and migrate the schema.

    Args:
        url: ``chdb:///data/warehouse`` (a folder used by this process only) or ``clickhouse://…``.
        read_url: URL for queries, with a user whose profile has ``readonly = 2``.
        cluster: name of a ClickHouse cluster; selects the clustered form of the tables.
        retention: days that events, logs and metrics are kept; None changes nothing.
        query_memory_bytes: default memory limit of a query.

    Raises:
        WarehouseInUse: another process holds the folder.
        WarehouseDown: the server is unreachable, or the user of ``read_url`` may write.
        SchemaTooNew: a newer version wrote it.
        WarehouseBroken: rows or tables are missing.
    """
    warehouse = ClickHouseWarehouse(
        url, read_url=read_url, cluster=cluster, query_memory_bytes=query_memory_bytes
    )
    try:
        if read_url is not None:
            await check_reader(warehouse)
        await apply_schema(warehouse, cluster=cluster, retention=retention)
        if warehouse.is_embedded:
            await drop_scratch_tables(warehouse)
            await check_parts(warehouse)
        if retention is not None:
            await apply_retention(warehouse, retention, cluster=cluster)
    except BaseException:
        await warehouse.close()
        raise
    return warehouse
