"""The declarative base of all tables; column types and statements that work on both databases."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, override

import msgspec
import orjson
from sqlalchemy import (
    ARRAY,
    DateTime,
    Dialect,
    MetaData,
    Select,
    String,
    Text,
    bindparam,
    func,
    select,
    type_coerce,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute
from sqlalchemy.types import TypeDecorator, TypeEngine

from hoglet.kit.json import dump_storable_json

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
type ConflictInsert = sqlite.Insert | postgresql.Insert
_encoder = msgspec.json.Encoder(uuid_format="hex")  # as the columns hold them


class Base(DeclarativeBase):
    """Base of all tables; each is declared in the ``tables.py`` of the package that owns it."""

    metadata = MetaData(naming_convention=_NAMES)


class JsonText(TypeDecorator[Any]):
    """JSON stored as text: preserves key order and number formats.

    PostgreSQL's ``json`` types do not; hoglet never queries inside JSON columns.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else dump_storable_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else orjson.loads(value)

    @override
    def compare_values(self, x: Any, y: Any) -> bool:
        """Compare values as JSON text, because in Python ``[True] == [1]``."""
        return x is y or dump_storable_json(x) == dump_storable_json(y)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime in UTC: sortable text on SQLite, timestamptz on PostgreSQL."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        kind = String(27) if dialect.name == "sqlite" else DateTime(timezone=True)
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "sqlite":
            return value
        naive = value.astimezone(UTC).replace(tzinfo=None)  # strftime does not pad early years
        return naive.isoformat(timespec="microseconds") + "Z"

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None or dialect.name != "sqlite":
            return value if value is None else value.astimezone(UTC)
        return datetime.fromisoformat(value)


def insert_into(session: AsyncSession, table: type[Base]) -> ConflictInsert:
    """An ``INSERT`` that supports ``ON CONFLICT``."""
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # takes 30 ms to import and is not needed on SQLite

    return postgresql.insert(table)


def values_of(
    session: AsyncSession, column: InstrumentedAttribute[Any], values: Sequence[Any]
) -> Select[Any]:
    """A subquery that yields the values, bound as ONE parameter.

    SQLAlchemy needs about 4 us for each bound parameter, so for a list of 2,000 values it would
    take longer than the database takes to find the rows.
    """
    if session.get_bind().dialect.name == "sqlite":
        listed = func.json_each(_encoder.encode(values).decode()).table_valued("value")
        return select(type_coerce(listed.c.value, column.type))
    return select(func.unnest(bindparam(None, list(values), type_=ARRAY(column.type))))
