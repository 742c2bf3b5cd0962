"""Column types that only the engine knows, determined when a query is saved.

``DESCRIBE`` reads no data, and reports errors that only the engine detects.
"""

import re
from typing import Any

import msgspec

from hoglet.endpoints.analysis.model import Analysis, RecordColumn
from hoglet.endpoints.worker.messages import EndpointSql
from hoglet.hogql.types import Type, record_type
from hoglet.warehouse import QueryBudget, QueryResult, Warehouse

UNKNOWN = "unknown"
_ANY = Type("Unknown", nullable=True)
_BUDGET = QueryBudget(seconds=2)
_WRAPPER = re.compile(r"(LowCardinality|Nullable|Array)\((.*)\)")
_NAMES = (  # prefixes of the engine's type names; the first match wins
    ("DateTime", "DateTime"),
    ("Date", "Date"),
    ("Bool", "Boolean"),
    ("Int", "Integer"),
    ("UInt", "Integer"),
    ("Float", "Float"),
    ("Decimal", "Decimal"),
    ("UUID", "UUID"),
    ("String", "String"),
    ("FixedString", "String"),
    ("Enum", "String"),
    ("IPv", "String"),
    ("Tuple", "Tuple"),
    ("Map", "Map"),
    ("JSON", "JSON"),
)


async def describe(warehouse: Warehouse, compiled: EndpointSql) -> QueryResult:
    """Name and type of every column, e.g. ``[("n", "UInt64")]``, without reading data.

    Raises:
        QueryRefused: the query is wrong; WarehouseBusy, WarehouseDown: the engine is unavailable.
    """
    return await warehouse.query(
        f"DESCRIBE TABLE ({compiled.sql})", compiled.params, budget=_BUDGET
    )


async def derive_types(analysis: Analysis, compiled: EndpointSql, warehouse: Warehouse) -> Analysis:
    """The analysis with the engine's types where the compiler had none.

    Args:
        analysis: the analysis of a HogQL query.
        compiled: the same query as SQL.
        warehouse: the engine.

    Raises:
        QueryRefused: the query is wrong; WarehouseBusy, WarehouseDown: the engine is unavailable.
    """
    described = await describe(warehouse, compiled)
    engine_types = [type_of(row[1]) for row in described.rows]
    if len(engine_types) != len(analysis.columns):  # untuple() expands to several columns
        return _engines(analysis, [row[0] for row in described.rows], engine_types)
    if len(engine_types) != len(analysis.types):
        return analysis
    columns, types = [*analysis.columns], [*analysis.types]
    for index, kind in enumerate(engine_types):
        if kind is not None and columns[index]["type"] == UNKNOWN:
            columns[index] = {**columns[index], "type": record_type(kind)}
            types[index] = kind
    return msgspec.structs.replace(analysis, columns=columns, types=types)


def _engines(analysis: Analysis, names: list[str], engine_types: list[Type | None]) -> Analysis:
    """The analysis with the engine's columns instead of the compiler's."""
    kinds = [kind or _ANY for kind in engine_types]
    columns: list[RecordColumn] = [
        {"name": name, "type": record_type(kind)} for name, kind in zip(names, kinds, strict=True)
    ]
    return msgspec.structs.replace(analysis, columns=columns, types=kinds)


def type_of(name: str) -> Type | None:
    """The type of an engine's type name; None for unsupported ones (aggregate states).

    Example:
        >>> type_of("Array(Nullable(UInt8))").item
        Type(name='Integer', nullable=True, item=None, names=())
    """
    wrapper = _WRAPPER.fullmatch(name)
    if wrapper is None:
        return next((Type(ours) for start, ours in _NAMES if name.startswith(start)), None)
    inner: Any = type_of(wrapper[2])
    if inner is None:
        return None
    if wrapper[1] == "Array":
        return Type("Array", item=inner)
    return inner.or_null() if wrapper[1] == "Nullable" else inner
