"""The kinds of fields of logical tables.

A table is data: ``Table("events", physical="events", fields={"event": Column("event", STRING)})``.
SQL in these rows is trusted and never contains user text.

Source: docs/spec/query-endpoints.md#101-tables-and-columns and
docs/spec/query-endpoints.md#102-access-and-placeholders.
"""

from collections.abc import Mapping

import msgspec

from hoglet.hogql.types import Type


class StoredColumn(msgspec.Struct, frozen=True):
    """A stored column. ``star`` says whether ``SELECT *`` includes it."""

    physical: str
    type: Type
    star: bool = True


class Properties(msgspec.Struct, frozen=True):
    """A property bag: JSON text for the whole, a typed JSON column for single keys.

    ``kind`` is the first half of ``QueryContext.property_types`` keys, e.g. ``event``.
    """

    text: str
    json: str
    kind: str
    star: bool = True
    nullable: bool = False


class Computed(msgspec.Struct, frozen=True):
    """An expression over the physical columns of the same row (or group of rows)."""

    sql: str
    type: Type
    star: bool = False


class Derived(msgspec.Struct, frozen=True):
    """An expression over other fields, which may be lazily joined: ``{0}`` is the first chain."""

    sql: str
    chains: tuple[tuple[str, ...], ...]
    type: Type
    star: bool = False


class LazyTable(msgspec.Struct, frozen=True):
    """A table that is joined only if one of its fields is used: ``left`` here = ``right`` there.

    With ``missing_is_null``, computed fields are NULL in rows that have no partner there, else the
    engine's default: 0, ``''``, 1970.
    """

    table: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    star: bool = False
    missing_is_null: bool = False


class Nested(msgspec.Struct, frozen=True):
    """A group of fields of the same row, e.g. ``poe.properties``."""

    fields: "Mapping[str, Field]"
    star: bool = False


class Redirect(msgspec.Struct, frozen=True):
    """Another name for a chain, e.g. ``company`` for ``group_0``."""

    chain: tuple[str, ...]
    star: bool = False


type Field = StoredColumn | Properties | Computed | Derived | LazyTable | Nested | Redirect


class Table(msgspec.Struct, frozen=True):
    """A logical table: fields over one scan of a physical table.

    ``where`` and ``group_by`` are fixed parts of the scan, over physical columns. ``final`` reads
    the latest row of each key. ``time`` is the field for date filters of ``{filters}``. Timestamps
    are in the project's time zone unless ``stays_utc``. ``other_names`` are what other tools call
    some fields; they only serve suggestions.
    """

    name: str
    physical: str
    fields: "Mapping[str, Field]"
    final: bool = False
    where: str = ""
    group_by: str = ""
    time: str | None = None
    stays_utc: bool = False
    other_names: "Mapping[str, str]" = {}
