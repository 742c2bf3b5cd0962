"""Columns of the events table that have the text of one event property each.

A column is ``MATERIALIZED``: the engine computes it for each insert, merge and read, so its value
is always that of the JSON column, also in parts that do not store it yet. Those are slower to read
until the column has been filled, which rewrites nothing else of large parts. ``SELECT *`` and
inserts do not see the column, so earlier versions of hoglet work with it.

The table itself says which columns exist, are filled, and when each was last read (the column's
comment); nothing is stored elsewhere. A retired column becomes an ``ALIAS``: the engine computes it
for each read, so servers and queries that still name it get the same values, and merges drop what
parts store. On a cluster there are none.

Source: docs/adr/0061-columns-of-text-properties.md.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from hoglet.hogql.schema.properties import TEXT_COLUMN, quote_name, text_column, text_path
from hoglet.warehouse.errors import WarehouseDown
from hoglet.warehouse.port import QueryBudget, Warehouse

SAMPLED = 100_000  # most recent events of a project whose values are counted
_FILLED_SHARE = 0.95
_WRITE_SECONDS = 60.0
_BUDGET = QueryBudget(seconds=20.0)
_NAME = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$ -]{0,79}")
_TYPE = "LowCardinality(Nullable(String))"
_COLUMNS = """SELECT name, toString(toDate32OrNull(comment)) FROM system.columns
WHERE database = currentDatabase() AND table = 'events' AND startsWith(name, {prefix:String})
AND default_kind = 'MATERIALIZED'"""
_ROWS = """SELECT column, sum(rows) FROM system.parts_columns
WHERE database = currentDatabase() AND table = 'events' AND active
AND (column = 'project_id' OR startsWith(column, {prefix:String})) GROUP BY column"""
_MUTATIONS = """SELECT mutation_id, latest_fail_reason FROM system.mutations
WHERE database = currentDatabase() AND table = 'events' AND NOT is_done
AND position(command, {prefix:String}) > 0"""
_WITHDRAW = """KILL MUTATION
WHERE database = currentDatabase() AND table = 'events' AND mutation_id = {name:String}"""
_SIZE = "SELECT count() FROM events WHERE project_id = {project_id:Int64}"


class TextSample(msgspec.Struct, frozen=True):
    """How many of the sampled events have text for a property, and its distinct values."""

    texts: int
    distinct: int


def can_have_column(name: str) -> bool:
    """Whether the name of a property can be part of a column's name."""
    return _NAME.fullmatch(name) is not None


class TextColumns:
    """Reads and changes the columns of an unclustered events table.

    Args:
        warehouse: the engine.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse

    async def filled(self) -> dict[str, bool]:
        """The properties that have a column, and whether nearly all rows store it."""
        names = await self.last_reads()
        if not names:
            return {}
        stored: dict[str, int] = {name: int(rows) for name, rows in await self._rows(_ROWS)}
        total = stored.pop("project_id", 0)
        return {name: stored.get(text_column(name), 0) >= total * _FILLED_SHARE for name in names}

    async def last_reads(self) -> dict[str, date | None]:
        """The properties that have a column, and the day on which queries last read it, if known.

        Example: ``{"plan": date(2026, 1, 5), "city": None}``.
        """
        return {
            str(name).removeprefix(TEXT_COLUMN): date.fromisoformat(day) if day else None
            for name, day in await self._rows(_COLUMNS)
        }

    async def record_reads(self, properties: Collection[str], day: date) -> None:
        """Store with columns that queries read them on ``day``."""
        columns = (quote_name(text_column(name)) for name in properties)
        comments = ", ".join(f"COMMENT COLUMN IF EXISTS {each} '{day}'" for each in columns)
        await self._warehouse.command(f"ALTER TABLE events {comments}")

    async def add(self, properties: Sequence[str], day: date) -> None:
        """Add columns, read on ``day``; new parts store them from now on.

        Idempotency: existing columns stay; retired ones are stored again.
        """
        await self._define("ADD COLUMN IF NOT EXISTS", properties, "MATERIALIZED", day)
        await self._define("MODIFY COLUMN", properties, "MATERIALIZED", day)

    async def retire(self, properties: Sequence[str], day: date) -> None:
        """Store columns no longer; queries that name them get the same values, more slowly."""
        await self._define("MODIFY COLUMN", properties, "ALIAS", day)

    async def _define(self, action: str, properties: Sequence[str], kind: str, day: date) -> None:
        definitions = ", ".join(
            f"{action} {quote_name(text_column(name))} {_TYPE} {kind} {text_path(name)} "
            f"COMMENT '{day}'"
            for name in properties
        )
        await self._warehouse.command(f"ALTER TABLE events {definitions}")

    async def begin_fill(self, properties: Sequence[str]) -> None:
        """Start to store the columns in existing parts too; ``is_filling`` says until when.

        Durability: if the server is killed meanwhile, the engine continues after its start.

        Raises:
            WarehouseDown: the disk is full; nothing was started.
        """
        columns = ", ".join(
            f"MATERIALIZE COLUMN {quote_name(text_column(name))}" for name in properties
        )
        statement = f"ALTER TABLE events {columns} SETTINGS mutations_sync = 0"
        await self._warehouse.command(statement, seconds=_WRITE_SECONDS)

    async def is_filling(self) -> bool:
        """Whether columns are being filled.

        The engine repeats a mutation that fails, and all later ones wait for it, those that delete
        persons too. So it is withdrawn.

        Raises:
            WarehouseDown: it failed, for example for lack of space; the columns are not filled.
        """
        mutations = await self._rows(_MUTATIONS)
        failed = [(str(name), str(reason)) for name, reason in mutations if reason]
        for name, _ in failed:
            await self._warehouse.command(_WITHDRAW, {"name": name})
        if failed:
            raise WarehouseDown(f"Columns of properties could not be filled: {failed[0][1]}")
        return bool(mutations)

    async def size(self, project_id: int) -> int:
        """The number of events of a project."""
        counted = await self._warehouse.query(_SIZE, {"project_id": project_id}, budget=_BUDGET)
        return int(counted.rows[0][0])

    async def sample(
        self, project_id: int, properties: Collection[str]
    ) -> Mapping[str, TextSample]:
        """Count texts and distinct texts among the project's most recent ``SAMPLED`` events."""
        names = list(properties)
        texts = ", ".join(f"{text_path(name)} AS p{at}" for at, name in enumerate(names))
        counts = ", ".join(f"count(p{at}), uniq(p{at})" for at in range(len(names)))
        counted = await self._warehouse.query(
            f"SELECT {counts} FROM (SELECT {texts} FROM events "  # noqa: S608 (names are quoted)
            "WHERE project_id = {project_id:Int64} "
            f"ORDER BY toDate(timestamp) DESC LIMIT {SAMPLED})",
            {"project_id": project_id},
            budget=_BUDGET,
        )
        figures = list(map(int, counted.rows[0]))
        return {
            name: TextSample(figures[2 * at], figures[2 * at + 1]) for at, name in enumerate(names)
        }

    async def _rows(self, sql: str) -> Sequence[Sequence[Any]]:
        answer = await self._warehouse.query(sql, {"prefix": TEXT_COLUMN}, budget=_BUDGET)
        return answer.rows
