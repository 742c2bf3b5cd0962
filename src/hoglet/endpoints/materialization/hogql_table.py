"""Fills the tables of HogQL queries, in full or only the time buckets whose events changed.

A table that can be built incrementally carries its own state: per row the number of events it was
computed from and a sum of their hashes, and the digest of the query that computed it. A build
compares them with the current events, copies the rows of unchanged buckets and computes the others.
State and rows are written by one statement, so they agree even if events arrive during the build.

Source: docs/spec/query-endpoints.md#77-incremental-builds and docs/adr/0032-incremental-tables.md.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
import structlog
from msgspec.structs import replace

from hoglet import __version__
from hoglet.access.principals import Project
from hoglet.endpoints.tables import EndpointVersionRow
from hoglet.endpoints.variables import stored_values
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.endpoints.worker.messages import EndpointSql
from hoglet.hogql.context import physical_name
from hoglet.hogql.materialize.model import BUCKET, DIGEST, EVENTS, ChangedBuckets
from hoglet.kit.errors import HogletError
from hoglet.warehouse import InsertSelect, QueryBudget, Warehouse
from hoglet.warehouse.errors import QueryCancelled
from hoglet.warehouse.values import quoted_name

logger = structlog.get_logger(__name__)

MAX_CHANGED_BUCKETS = 1000
"""If more buckets changed, the table is built in full: each bucket is a literal in the SQL."""
_QUERY = "__build_query"  # digest of the query that computed the table
_NOTHING = re.compile(r"\bNothing\b")
_SORTABLE = re.compile(
    r"(?:LowCardinality\()?(?:Nullable\()?"
    r"(?:String|U?Int\d+|Float64|Bool|UUID|Date|Date32|DateTime(?:64)?(?:\([^()]*\))?)\)*"
)


class BucketState(NamedTuple):
    """The events of a bucket: how many, and the sum of their hashes."""

    events: int
    digest: int


class BucketDifference(NamedTuple):
    """Buckets to recompute, as text, and buckets that no longer have events."""

    changed: list[str]
    removed: list[str]
    first: datetime | None = None
    last: datetime | None = None


class HogqlTable:
    """Creates and fills the table of a version.

    Args:
        warehouse: stores the tables.
        compiler: generates the SQL.
        seconds: time limit of each statement.
    """

    def __init__(self, warehouse: Warehouse, compiler: QueryCompiler, *, seconds: float) -> None:
        self._warehouse = warehouse
        self._compiler = compiler
        self._seconds = seconds

    async def fill(
        self, project: Project, version: EndpointVersionRow, table: str, *, previous: str | None
    ) -> str:
        """Fill a table.

        Args:
            project: the project.
            version: its version of an endpoint.
            table: the name of the new table.
            previous: the table of the last build, if its rows may be used again.

        Returns:
            ``table``; or ``previous`` if no bucket changed.
        """
        compiled = await self._compiled(project, version)
        columns = await self._columns(compiled)
        digest = _digest(compiled, columns)
        difference = await self._difference(compiled, digest, previous)
        if previous is not None and difference == BucketDifference([], []):
            logger.info("a table is up to date", action="table_kept", table=previous)
            return previous
        await self._create(table, compiled, columns)
        if previous is None or difference is None:
            await self._insert(project, table, columns, compiled, digest)
            logger.info("built a table", action="table_built", mode="full", table=table)
            return table
        await self._copy(previous, table, columns, difference)
        if difference.first is not None and difference.last is not None:
            changes = ChangedBuckets(difference.changed, difference.first, difference.last)
            partial = await self._compiled(project, version, changes)
            await self._insert(project, table, columns, partial, digest)
        count = len(difference.changed)
        logger.info(
            "built a table", action="table_built", mode="incremental", buckets=count, table=table
        )
        return table

    async def _compiled(
        self,
        project: Project,
        version: EndpointVersionRow,
        changes: ChangedBuckets | None = None,
    ) -> EndpointSql:
        return await self._compiler.compile_build(
            project,
            version.query,
            variables=dict(stored_values(version.query)),
            buckets=version.bucket_overrides,
            changes=changes,
        )

    async def _columns(self, compiled: EndpointSql) -> list[tuple[str, str]]:
        """Names and types of the table's columns; ``Nothing`` (a bare NULL) cannot be stored."""
        described = await self._warehouse.query(
            f"DESCRIBE TABLE ({compiled.sql})",  # the compiler's own SQL
            compiled.params,
        )
        return [(physical_name(row[0]), _NOTHING.sub("String", row[1])) for row in described.rows]

    async def _create(
        self, table: str, compiled: EndpointSql, columns: Sequence[tuple[str, str]]
    ) -> None:
        definitions = ", ".join(f"{quoted_name(name)} {kind}" for name, kind in columns)
        own = f", {_QUERY} String" if compiled.state else ""
        await self._warehouse.create_table(
            table,
            f"project_id Int64, {definitions}{own}",
            order_by=_order(columns, compiled.filtered),
        )

    async def _insert(
        self,
        project: Project,
        table: str,
        columns: Sequence[tuple[str, str]],
        compiled: EndpointSql,
        digest: str,
    ) -> None:
        names = ["project_id", *(quoted_name(name) for name, _ in columns)]
        params = {**compiled.params, "table_project_id": project.id}
        digest_value = ""
        if compiled.state is not None:
            names.append(_QUERY)
            digest_value = ", {table_digest:String}"
            params["table_digest"] = digest
        select = f"SELECT {{table_project_id:Int64}}, *{digest_value} FROM ({compiled.sql})"  # noqa: S608 (compiled)
        await self._warehouse.insert_select(
            InsertSelect(table, names, select, params), seconds=self._seconds
        )

    async def _copy(
        self,
        previous: str,
        table: str,
        columns: Sequence[tuple[str, str]],
        difference: BucketDifference,
    ) -> None:
        names = ["project_id", *(quoted_name(name) for name, _ in columns), _QUERY]
        select = (
            f"SELECT {', '.join(names)} FROM {previous} "  # noqa: S608 (names are quoted)
            f"WHERE NOT has({{replaced:Array(String)}}, {BUCKET})"
        )
        params = {"replaced": [*difference.changed, *difference.removed]}
        await self._warehouse.insert_select(
            InsertSelect(table, names, select, params), seconds=self._seconds
        )

    async def _difference(
        self, compiled: EndpointSql, digest: str, previous: str | None
    ) -> BucketDifference | None:
        """How the buckets of the last table differ from the events; None for a full build."""
        if previous is None or compiled.state is None:
            return None
        budget = QueryBudget(seconds=self._seconds)
        try:
            columns = await self._warehouse.query(f"DESCRIBE TABLE {previous}")
            if _QUERY not in {row[0] for row in columns.rows}:
                return None
            stored = await self._warehouse.query(
                f"SELECT {BUCKET}, sum({EVENTS}), sum({DIGEST}), "  # noqa: S608 (hoglet's names)
                f"countIf({_QUERY} != {{digest:String}}) FROM {previous} GROUP BY {BUCKET}",
                {"digest": digest},
                budget=budget,
            )
            present = await self._warehouse.query(
                compiled.state.sql, compiled.state.params, budget=replace(budget, read_only=True)
            )
        except QueryCancelled:
            raise
        except HogletError:
            logger.info("the state of a table is unknown", action="state_unknown", table=previous)
            return None
        if not stored.rows or any(row[3] for row in stored.rows):
            return None
        return _compared(stored.rows, present.rows)


def _compared(
    stored: Sequence[Sequence[Any]], present: Sequence[Sequence[Any]]
) -> BucketDifference | None:
    known = {row[0]: BucketState(row[1], row[2]) for row in stored}
    changed = [row for row in present if known.get(row[0]) != BucketState(row[1], row[2])]
    if len(changed) > min(MAX_CHANGED_BUCKETS, max(1, len(present) // 2)):
        return None
    names = {row[0] for row in present}
    return BucketDifference(
        [row[0] for row in changed],
        [name for name in known if name not in names],
        min((row[3] for row in changed), default=None),
        max((row[4] for row in changed), default=None),
    )


def _digest(compiled: EndpointSql, columns: Sequence[tuple[str, str]]) -> str:
    """A digest of everything that the rows depend on except the events.

    Property types, actions, filters, the time zone and the first day of the week are part of the
    SQL; types depend on the engine.
    """
    parts = [compiled.sql, compiled.params, columns, __version__]
    return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()


def _order(columns: Sequence[tuple[str, str]], filtered: Sequence[str]) -> str:
    """The sort order of a table: by the columns that runs filter by.

    Reading 72 of 36,000 rows takes 7 ms if they are scattered and 5 ms if they are adjacent.
    """
    kinds = dict(columns)
    names = map(physical_name, filtered)
    keys = [quoted_name(name) for name in names if _SORTABLE.fullmatch(kinds.get(name, ""))]
    return f"({', '.join(['project_id', *keys])})"
