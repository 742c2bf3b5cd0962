"""What a compilation needs to know about its project: given by the caller, never fetched."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from hoglet.hogql.types import Type

type PropertyKind = Literal["event", "person", "group", "session"]

DEFAULT_LIMIT = 100
"""Rows of a query without LIMIT (docs/spec/query-endpoints.md#103-limits-and-settings)."""

MAX_LIMIT = 50_000
"""Most rows one run answers (docs/spec/query-endpoints.md#103-limits-and-settings); a larger LIMIT
is clamped."""

MAX_TABLES = 120
"""Relations one query may read after CTEs are expanded; keeps doubling CTEs from exploding."""

MAX_NODES = 100_000
"""Expressions one query may hold after WITH expressions are written out; 0.6 s of work."""

MAX_SQL_CHARACTERS = 2_000_000
"""Longest SQL that is sent; the engine's own limit on a query is 4 MB."""

MAX_DEPTH = 200
"""Selects and expressions nested in each other; deeper text would exhaust Python's stack."""


class SavedColumn(msgspec.Struct, frozen=True):
    """A column of a materialised table: ``SavedColumn("day", Type("Date"))``."""

    name: str
    type: Type

    @property
    def physical(self) -> str:
        """What it is called in the table."""
        return physical_name(self.name)


def physical_name(column: str) -> str:
    """What a column of a query is called in its table, whose own ``project_id`` is the project.

    Example:
        >>> physical_name("day"), physical_name("project_id")
        ('day', 'project_id__value')
    """
    return f"{column}__value" if column == "project_id" else column


class SavedTable(msgspec.Struct, frozen=True):
    """A materialised table: its physical name and its columns; it has ``project_id`` besides."""

    physical: str
    columns: tuple[SavedColumn, ...]


class Limits(msgspec.Struct, frozen=True):
    """Bounds of one compilation; ``max_limit`` None lifts the row bound (materialisation)."""

    default_limit: int = DEFAULT_LIMIT
    max_limit: int | None = MAX_LIMIT
    max_tables: int = MAX_TABLES
    max_depth: int = MAX_DEPTH
    max_nodes: int = MAX_NODES
    max_sql_characters: int = MAX_SQL_CHARACTERS


class QueryContext(msgspec.Struct, frozen=True, kw_only=True):
    """The project a query is compiled for.

    Shapes: ``property_types`` is ``{("event", "price"): "Numeric"}`` with ``Numeric``,
    ``Boolean``, ``DateTime`` or ``String``; ``uniform_properties`` are those of them whose every
    value in the warehouse is of that type; ``group_types`` is ``{"company": 0}``;
    ``saved_tables`` is ``{"daily_v1": SavedTable(...)}``; ``now`` is aware; ``week_start_day`` is 0
    for Sunday, 1 for Monday;
    ``actions`` is ``{"7": {"name": "Signed up", "steps": [...]}}`` by id as text; ``cohorts`` is
    ``{"12": "Paying"}``, names by id as text: any other id is refused.
    """

    project_id: int
    timezone: str = "UTC"
    week_start_day: int = 0
    property_types: Mapping[tuple[str, str], str] = {}
    uniform_properties: frozenset[tuple[str, str]] = frozenset()
    group_types: Mapping[str, int] = {}
    saved_tables: Mapping[str, SavedTable] = {}
    test_account_filters: tuple[Mapping[str, Any], ...] = ()
    actions: Mapping[str, Mapping[str, Any]] = {}
    cohorts: Mapping[str, str] = {}
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    limits: Limits = Limits()
