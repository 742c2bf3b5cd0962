"""``INSERT … ON CONFLICT`` for the database of a session."""

from typing import TYPE_CHECKING

from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.store.base import Base

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

type ConflictInsert = sqlite.Insert | postgresql.Insert


def insert_into(session: AsyncSession, table: type[Base]) -> ConflictInsert:
    """An ``INSERT`` that can say what happens on a conflict."""
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # 30 ms that a server on SQLite never needs

    return postgresql.insert(table)
