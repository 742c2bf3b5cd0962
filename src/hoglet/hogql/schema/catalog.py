"""Every logical table by name, and the lookup of names in FROM."""

from hoglet.hogql.context import QueryContext
from hoglet.hogql.schema.events import EVENTS
from hoglet.hogql.schema.fields import StoredColumn, Table
from hoglet.hogql.schema.persons import (
    COHORT_PEOPLE,
    GROUPS,
    GROUPS_BY_INDEX,
    PERSON_DISTINCT_ID_OVERRIDES,
    PERSON_DISTINCT_IDS,
    PERSONS,
    STATIC_COHORT_PEOPLE,
    cohort_table,
)
from hoglet.hogql.schema.sessions import RAW_SESSIONS, SESSIONS
from hoglet.hogql.schema.system import ROW_SOURCES, SYSTEM_TABLES
from hoglet.hogql.schema.telemetry import (
    APP_METRICS,
    EMPTY,
    LOG_ENTRIES,
    QUERY_LOG,
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        EVENTS,
        PERSONS,
        PERSON_DISTINCT_IDS,
        PERSON_DISTINCT_ID_OVERRIDES,
        COHORT_PEOPLE,
        STATIC_COHORT_PEOPLE,
        GROUPS,
        SESSIONS,
        RAW_SESSIONS,
        LOG_ENTRIES,
        APP_METRICS,
        QUERY_LOG,
    )
}
"""Names in FROM, besides ``numbers(n)``, empty tables and materialized tables."""

LAZY_TABLES: dict[str, Table] = {**TABLES, **{table.name: table for table in GROUPS_BY_INDEX}}

EMPTY_TABLES = EMPTY
"""Tables that are always empty: ``{name: {field: Column}}``."""

PHYSICAL_TABLES = frozenset(table.physical for table in LAZY_TABLES.values())
"""Stored tables that a scan may read, besides the context's materialized tables."""

SCANNED = PHYSICAL_TABLES | ROW_SOURCES.keys()
"""Everything that a scan may read: stored tables, and rows bound by the caller."""


def table_names(context: QueryContext) -> tuple[str, ...]:
    """All names that FROM accepts in this project."""
    return (
        *TABLES,
        *EMPTY_TABLES,
        *context.saved_tables,
        "numbers",
        *context.readable_system_tables,
    )


def find_table(name: str, context: QueryContext) -> Table | None:
    """The logical table with that name, or None."""
    table = TABLES.get(name)
    if table is not None:
        is_cohorts = table.physical == COHORT_PEOPLE.physical
        return cohort_table(table, context) if is_cohorts else table
    if name in SYSTEM_TABLES:
        return SYSTEM_TABLES[name].table
    saved = context.saved_tables.get(name)
    if saved is None:
        return None
    fields = {column.name: StoredColumn(column.physical, column.type) for column in saved.columns}
    return Table(name, saved.physical, fields)
