"""Rows as parameters of one statement: an array for each column, which PostgreSQL unnests.

The text of the statement is the same for any number of rows, and it takes little more processor
time than a pipeline of statements (``executemany``). PostgreSQL does not end the transaction of a
server that is frozen in the middle of a pipeline, so other servers would wait for its locks.

Source: docs/adr/0070-lost-peers.md.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ARRAY, Insert, Select, TableValuedAlias, bindparam, column, func, select
from sqlalchemy.types import TypeEngine


def unnested(types: Mapping[str, TypeEngine[Any]]) -> TableValuedAlias:
    """Rows with these columns; :func:`arrays_of` are the parameters."""
    arrays = [
        bindparam(f"{name}_of_rows", type_=ARRAY(kind, dimensions=1))
        for name, kind in types.items()
    ]
    columns = [column(name, kind) for name, kind in types.items()]
    return func.unnest(*arrays).table_valued(*columns).render_derived()


def arrays_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The parameters for rows with the same columns, at least one row."""
    return {f"{name}_of_rows": [row[name] for row in rows] for name in rows[0]}


def from_arrays[I: Insert](insert: I, names: Sequence[str]) -> I:
    """The same ``INSERT`` with the columns of :func:`arrays_of` instead of ``VALUES``."""
    return insert.from_select(names, _rows_of(insert.table, tuple(names)))


@cache
def _rows_of(table: Any, names: tuple[str, ...]) -> Select[Any]:
    return select(unnested({name: table.c[name].type for name in names}))
