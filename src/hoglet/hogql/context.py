"""The context of a compilation: the project, its schema and the limits; provided by the caller."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from hoglet.hogql.types import Type

ALWAYS_TEXT = frozenset(
    {
        "$ai_trace_id", "$ai_session_id", "$ai_parent_id", "$ai_span_id", "$ai_generation_id",
        "$ai_experiment_id",
    }
)  # fmt: skip
"""Properties that are always read as strings."""

DEFAULT_LIMIT = 100
"""Rows of a query without LIMIT (docs/spec/query-endpoints.md#103-limits-and-settings)."""

MAX_LIMIT = 50_000
"""Maximum rows of a run (docs/spec/query-endpoints.md#103-limits-and-settings); a larger LIMIT is
clamped."""

MAX_TABLES = 120
"""Maximum relations of a query after expanding CTEs; bounds CTEs that double each other."""

MAX_NODES = 100_000
"""Maximum expressions of a query after expanding WITH expressions; 0.6 s of work."""

MAX_SQL_CHARACTERS = 2_000_000
"""Maximum length of the generated SQL; the engine's own limit is 4 MB."""

MAX_DEPTH = 200
"""Maximum nesting of selects and expressions, bounded by Python's stack."""


class SavedColumn(msgspec.Struct, frozen=True):
    """A column of a materialized table: ``SavedColumn("day", Type("Date"))``."""

    name: str
    type: Type

    @property
    def physical(self) -> str:
        """The column's name in the table."""
        return physical_name(self.name)


def physical_name(column: str) -> str:
    """The table column of a query column; ``project_id`` in the table is the project.

    Example:
        >>> physical_name("day"), physical_name("project_id")
        ('day', 'project_id__value')
    """
    return f"{column}__value" if column == "project_id" else column


class SavedTable(msgspec.Struct, frozen=True):
    """A materialized table: its physical name and columns, besides ``project_id``."""

    physical: str
    columns: tuple[SavedColumn, ...]


class CohortRef(msgspec.Struct, frozen=True):
    """A cohort available to queries.

    ``calculation_id`` is the calculation whose members queries read; 0 for a cohort that was not
    calculated yet and is therefore empty.
    """

    name: str
    calculation_id: int = 0
    is_static: bool = False


class Limits(msgspec.Struct, frozen=True):
    """Limits of a compilation; ``max_limit`` None removes the row limit (materialization)."""

    default_limit: int = DEFAULT_LIMIT
    max_limit: int | None = MAX_LIMIT
    max_tables: int = MAX_TABLES
    max_depth: int = MAX_DEPTH
    max_nodes: int = MAX_NODES
    max_sql_characters: int = MAX_SQL_CHARACTERS


class QueryContext(msgspec.Struct, frozen=True, kw_only=True):
    """The project a query is compiled for.

    Shapes: ``property_types`` is ``{("event", "price"): "Numeric"}`` with ``Numeric``,
    ``Duration``, ``Boolean``, ``DateTime`` or ``String``; kinds are ``event``, ``person``,
    ``group_0`` to ``group_4``, and ``group`` for types that all group types share;
    ``property_forms`` is ``{("event", "price"): "integer"}`` for properties whose stored values are
    all JSON ``text``, ``integer``, ``number`` or ``boolean``;
    ``text_columns`` are the event properties of the form ``text`` that have a column of their own;
    ``group_types`` is ``{"company": 0}``;
    ``saved_tables`` is ``{"daily_v1": SavedTable(...)}``; ``now`` is timezone-aware; with
    ``is_now_pinned``, ``now()`` in a query returns it instead of the engine's time;
    ``week_start_day`` is 0 for Sunday, 1 for Monday;
    ``actions`` is ``{"7": {"name": "Signed up", "steps": [...]}}`` by id as text; ``cohorts`` is
    ``{"12": CohortRef("Paying", 31)}`` by id as text; other cohorts are unknown;
    ``readable_system_tables`` are those allowed by the caller's scopes, e.g. ``system.actions``;
    ``is_sharded`` if tables are distributed over shards, which can aggregate.
    """

    project_id: int
    timezone: str = "UTC"
    week_start_day: int = 0
    property_types: Mapping[tuple[str, str], str] = {}
    property_forms: Mapping[tuple[str, str], str] = {}
    text_columns: frozenset[str] = frozenset()
    group_types: Mapping[str, int] = {}
    saved_tables: Mapping[str, SavedTable] = {}
    test_account_filters: tuple[Mapping[str, Any], ...] = ()
    actions: Mapping[str, Mapping[str, Any]] = {}
    cohorts: Mapping[str, CohortRef] = {}
    readable_system_tables: frozenset[str] = frozenset()
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    is_now_pinned: bool = False
    is_sharded: bool = False
    limits: Limits = Limits()

    def property_type(self, kind: str, name: str) -> str | None:
        """The type a property is read as; None means string."""
        return None if name in ALWAYS_TEXT else self.property_types.get((kind, name))
