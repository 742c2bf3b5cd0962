"""The warehouse: events, persons, logs and metrics in ClickHouse, embedded (chDB) or a server."""

from hoglet.warehouse.clickhouse import ClickHouseWarehouse, open_warehouse
from hoglet.warehouse.port import (
    Budget,
    Column,
    JsonRows,
    Progress,
    QueryResult,
    Statistics,
    Warehouse,
)
from hoglet.warehouse.schema import Retention

__all__ = [
    "Budget",
    "ClickHouseWarehouse",
    "Column",
    "JsonRows",
    "Progress",
    "QueryResult",
    "Retention",
    "Statistics",
    "Warehouse",
    "open_warehouse",
]
