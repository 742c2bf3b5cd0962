"""Startup checks that the warehouse still contains everything written to it.

The engine opens a damaged folder without an error: it detaches unreadable parts and returns fewer
rows. A server that went on would return wrong numbers.
"""

from collections import defaultdict
from pathlib import PurePath
from typing import NamedTuple

import structlog

from hoglet.warehouse.errors import WarehouseBroken
from hoglet.warehouse.port import STARTUP, Warehouse

log = structlog.get_logger()

_BROKEN = """
SELECT table, ifNull(partition_id, ''), name, path,
    ifNull(min_block_number, 0), ifNull(max_block_number, 0), ifNull(level, 0)
FROM system.detached_parts
WHERE database = currentDatabase() AND startsWith(reason, 'broken') AND table != 'hoglet_ddl'
ORDER BY table, name"""
_ACTIVE = """
SELECT table, partition_id, min_block_number, max_block_number
FROM system.parts WHERE database = currentDatabase() AND active"""
_MAX_NAMED = 3


class _Part(NamedTuple):
    table: str
    partition: str
    name: str
    path: str
    first_block: int
    last_block: int
    level: int


async def check_parts(warehouse: Warehouse) -> None:
    """Check for parts that the engine detached as unreadable.

    After a power failure a merged part may be broken while its source parts are still active. Then
    no row is lost, so this only writes a log line.

    Raises:
        WarehouseBroken: rows are lost.
    """
    broken = [_Part(*row) for row in (await warehouse.query(_BROKEN, budget=STARTUP)).rows]
    if not broken:
        return
    active: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for table, partition, first, last in (await warehouse.query(_ACTIVE, budget=STARTUP)).rows:
        active[table, partition].append((first, last))
    lost = [part for part in broken if not _is_replaced(part, active[part.table, part.partition])]
    if lost:
        raise WarehouseBroken(_sentence(lost))
    log.warning(
        "merged parts are broken; their source parts are in use",
        action="parts_replaced",
        parts=[part.path for part in broken],
    )


def _is_replaced(part: _Part, active: list[tuple[int, int]]) -> bool:
    overlaps = any(first <= part.last_block and last >= part.first_block for first, last in active)
    return part.level > 0 and overlaps


def _sentence(lost: list[_Part]) -> str:
    names = ", ".join(
        f"{part.table} {part.name.rpartition('broken-on-start_')[2]}" for part in lost[:_MAX_NAMED]
    )
    more = ", …" if len(lost) > _MAX_NAMED else ""
    folders = sorted({str(PurePath(part.path).parent) for part in lost})
    return (
        "Rows of the warehouse are unreadable because their parts are broken "
        f"({names}{more}): restore it from a backup, or, to continue without these "
        f"rows, delete the broken-* folders in {' and '.join(folders)}."
    )
