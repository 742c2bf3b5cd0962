"""The share of a property's values that do not convert to its type.

Source: docs/spec/data-and-queries.md#24-what-the-type-does-to-queries.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy import update

from hoglet import hogql
from hoglet.definitions.observer import BOOLEAN as BOOLEAN_FORM
from hoglet.definitions.observer import INTEGER, MIXED, NUMBER, UNSEEN
from hoglet.definitions.tables import PropertyDefinitionRow
from hoglet.hogql.context import QueryContext
from hoglet.kit.clock import Clock
from hoglet.kit.errors import HogletError
from hoglet.store.database import Database
from hoglet.warehouse import QueryBudget, Warehouse

log = structlog.get_logger(__name__)

LOOKED_AT: Final = 10_000  # the most recent values
LASTING: Final = timedelta(minutes=1)
MAX_PER_REQUEST: Final = 25  # properties measured per list; others keep their share
_SECONDS: Final = 2.0
_WINDOWS: Final = (1, 30, None)  # in days; most properties need only the first
_NUMBERS = frozenset({"Numeric", "Duration"})
_KNOWN: dict[tuple[str, str], float] = {
    **{(type_, form): 0.0 for type_ in _NUMBERS for form in (INTEGER, NUMBER)},
    **{(type_, BOOLEAN_FORM): 1.0 for type_ in _NUMBERS},
    ("Boolean", BOOLEAN_FORM): 0.0,
    ("Boolean", INTEGER): 1.0,
    ("Boolean", NUMBER): 1.0,
    ("DateTime", BOOLEAN_FORM): 1.0,
}
"""Shares that are known without counting, by type and the JSON form of all values."""


class ConversionShares:
    """Measures shares and stores them in the definitions."""

    def __init__(self, database: Database, warehouse: Warehouse, clock: Clock) -> None:
        self._database = database
        self._warehouse = warehouse
        self._clock = clock

    async def refresh(
        self, project_id: int, timezone: str, rows: Sequence[PropertyDefinitionRow]
    ) -> None:
        """Update ``unconverted_share`` of the rows, unless it was measured within a minute.

        If the warehouse is busy or down, the shares stay as they are.
        """
        checks = 0
        for row in rows:
            known = _known_share(row)
            if known is not None or row.property_type is None:
                row.unconverted_share = known
            elif self._is_due(row) and checks < MAX_PER_REQUEST:
                checks += 1
                if not await self._measure(project_id, timezone, row):
                    return

    def _is_due(self, row: PropertyDefinitionRow) -> bool:
        return row.measured_at is None or row.measured_at <= self._clock.now() - LASTING

    async def _measure(self, project_id: int, timezone: str, row: PropertyDefinitionRow) -> bool:
        try:
            values, unconverted = await self._count(project_id, timezone, row)
        except HogletError as error:
            log.warning("measuring values failed", property=row.name, error=str(error))
            return False
        row.unconverted_share = unconverted / values if values else None
        row.measured_at = self._clock.now()
        async with self._database.write() as session:
            await session.execute(
                update(PropertyDefinitionRow)
                .where(
                    PropertyDefinitionRow.id == row.id,
                    PropertyDefinitionRow.property_type == row.property_type,
                )
                .values(unconverted_share=row.unconverted_share, measured_at=row.measured_at)
                .execution_options(synchronize_session=False)
            )
        return True

    async def _count(
        self, project_id: int, timezone: str, row: PropertyDefinitionRow
    ) -> tuple[int, int]:
        """Count the latest values, and those that do not convert."""
        counted = (0, 0)
        for days in _WINDOWS if row.kind == "event" else (None,):
            counted = await self._count_since(project_id, timezone, row, days)
            if counted[0] >= LOOKED_AT:
                break
        return counted

    async def _count_since(
        self, project_id: int, timezone: str, row: PropertyDefinitionRow, days: int | None
    ) -> tuple[int, int]:
        context = query_context(project_id, timezone, row, self._clock.now())
        text = f"select count(), countIf(value is null) from ({latest_values(row, days)})"  # noqa: S608 (escaped)
        query = hogql.compile_query(text, context=context)
        answer = await self._warehouse.query(
            query.sql, query.params, budget=QueryBudget(seconds=_SECONDS)
        )
        values, unconverted = answer.rows[0]
        return int(values), int(unconverted)


def _known_share(row: PropertyDefinitionRow) -> float | None:
    if row.property_type == "String":
        return 0.0
    return _KNOWN.get((row.property_type or "", row.form))


def _bag(kind: str) -> str:
    """The kind to query: groups of one type are read from the table of all groups."""
    return "group" if kind.startswith("group_") else kind


def query_context(
    project_id: int, timezone: str, row: PropertyDefinitionRow, now: datetime
) -> QueryContext:
    """The compile context of an internal query on one property."""
    key = (_bag(row.kind), row.name)
    return QueryContext(
        project_id=project_id,
        timezone=timezone,
        property_types={key: row.property_type or ""},
        property_forms={} if row.form in {MIXED, UNSEEN} else {key: row.form},
        now=now,
    )


def latest_values(row: PropertyDefinitionRow, days: int | None = None) -> str:
    """HogQL of a property's latest values: ``value`` as typed, ``sent`` as text, ``form`` in JSON.

    ``days`` limits how far back events are read.
    """
    name = row.name.replace("\\", "\\\\").replace("'", "\\'")
    value = f"properties['{name}']"
    table, order, where = "events", "timestamp", f"toString({value}) is not null"
    if row.kind == "person":
        table, order = "persons", "created_at"
    elif row.kind != "event":
        table, order = "groups", "updated_at"
        where += f" and index = {row.kind.removeprefix('group_')}"
    elif days is not None:
        where += f" and timestamp > now() - interval {days} day"
    form = f"JSONType(properties, '{name}') as form"
    return (
        f"select {value} as value, toString({value}) as sent, {form} "  # noqa: S608 (escaped)
        f"from {table} where {where} order by {order} desc limit {LOOKED_AT}"
    )
