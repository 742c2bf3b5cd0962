"""The warehouse: events, persons, logs and metrics in ClickHouse, embedded (chDB) or a server."""

from hoglet.warehouse.clickhouse import ClickHouseWarehouse
from hoglet.warehouse.connect import open_warehouse
from hoglet.warehouse.json_parts import JsonParts
from hoglet.warehouse.port import (
    InsertSelect,
    JsonRows,
    Progress,
    QueryBudget,
    QueryResult,
    ResultColumn,
    Statistics,
    Warehouse,
)
from hoglet.warehouse.schema import Retention

__all__ = [
    "ClickHouseWarehouse",
    "InsertSelect",
    "JsonParts",
    "JsonRows",
    "Progress",
    "QueryBudget",
    "QueryResult",
    "ResultColumn",
    "Retention",
    "Statistics",
    "Warehouse",
    "open_warehouse",
]
