"""Statements with many rows or values at once, the same on SQLite and PostgreSQL."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import ARRAY, Select, bindparam, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

_encoder = msgspec.json.Encoder(uuid_format="hex")  # as the columns hold them


def values_of(
    session: AsyncSession, column: InstrumentedAttribute[Any], values: Sequence[Any]
) -> Select[Any]:
    """A subquery that yields the values, handed over as ONE parameter.

    A list of 2,000 parameters costs SQLAlchemy about 4 us for each, more than finding the rows.
    """
    if session.get_bind().dialect.name == "sqlite":
        listed = func.json_each(_encoder.encode(values).decode()).table_valued("value")
        return select(type_coerce(listed.c.value, column.type))
    return select(func.unnest(bindparam(None, list(values), type_=ARRAY(column.type))))
