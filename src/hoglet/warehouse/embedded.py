"""A connection to the embedded engine; the only user of private parts of clickhouse-connect.

They are used because its public ways cost too much, or return too little, for short queries and
large results; each says what. requirements.lock pins the package, and tests/contract/ports runs
every kind of query on the engine.
"""

from collections.abc import Callable, Generator
from typing import Any, ClassVar, cast, override

from clickhouse_connect.driver import (
    _chdbclient as chdb_client,  # pyright: ignore[reportPrivateUsage]
)
from clickhouse_connect.driver._backend.orchestration import (  # pyright: ignore[reportPrivateUsage]
    InitializationResult,
)
from clickhouse_connect.driver.binding import bind_query
from clickhouse_connect.driver.models import SettingDef
from clickhouse_connect.driver.query import TzSource


class EmbeddedClient(chdb_client.ChdbClient):
    """A client that shares what the engine says about itself with all others.

    A client reads the 1,858 settings of its server when it is created, which takes 8 ms of
    processor time and half a megabyte. A process has one engine, so its first client reads them for
    all.

    Args:
        path: folder of the warehouse, or ``:memory:``.
        settings: settings of the connection, applied in this order.
        options: options of the engine; those of the first client count.
        summary_of: the cost of a result, with the keys of a server's summary.

    Concurrency: two threads may both create the first one; they read the same.
    """

    _engine: ClassVar[InitializationResult | None] = None

    def __init__(
        self,
        path: str,
        settings: dict[str, Any],
        options: dict[str, str],
        summary_of: Callable[[Any], dict[str, str]],
    ) -> None:
        super().__init__(path=path, settings=settings, tz_mode="aware", chdb_options=options)
        self._private: Any = self._backend
        # clickhouse-connect reports result rows as rows read; the engine knows better.
        self._private._summary = summary_of  # noqa: SLF001

    def read_whole(self, sql: str, params: dict[str, Any], fmt: str) -> bytes:
        """The result of a query as one text.

        ``raw_query`` first searches the query for comments, semicolons and its kind, in Python:
        50 µs. A connection belongs to one thread at a time, so it needs no lock, and chDB's own
        method displays progress: ten calls.

        Raises:
            ClickHouseError: the query failed.
        """
        text, bound = self._bound(sql, params, fmt)
        backend = self._private
        handle = backend._handle  # noqa: SLF001
        if handle.active_database != self.database:
            return backend._run(text, fmt, bound, self.database).bytes()  # noqa: SLF001
        try:
            return handle.conn._conn.query(text, fmt, params=bound).bytes()  # noqa: SLF001
        except RuntimeError as error:
            raise backend._wrap_exception(error) from error  # noqa: SLF001

    def read_blocks(
        self, sql: str, params: dict[str, Any], fmt: str, progress: dict[str, int]
    ) -> Generator[tuple[bytes, int]]:
        """Yield the blocks of a result, and how many rows each has, as the engine produces them.

        Closing the generator ends the query.

        clickhouse-connect streams text as one block, and does not return the costs. Those of the
        blocks lack what the engine has read since their last one, so the progress is asked for.

        Args:
            sql: a SELECT without its format.
            params: its parameters.
            fmt: the format of the blocks.
            progress: receives what the query has read, e.g. ``{"read_rows": 3, "read_bytes": 24,
                …}``; complete after the last block, and empty if the query reads nothing.

        Raises:
            ClickHouseError: the query failed.
        """
        backend = self._private
        text, bound = self._bound(sql, params, fmt)
        handle = backend._handle  # noqa: SLF001
        handle.conn.set_progress_callback(progress.update)
        stream = backend._open_stream(text, fmt, bound, self.database)  # noqa: SLF001
        try:
            while (block := self._next_block(stream)) is not None:
                yield block.bytes(), block.rows_read()
        finally:
            try:
                stream.close()
                handle.conn.set_progress_callback(None)
            finally:
                handle.stream_owner = None
                handle.lock.release()

    def _next_block(self, stream: Any) -> Any:
        try:
            return stream.fetch()
        except Exception as error:  # whatever the engine raises
            raise self._private._wrap_exception(error) from error  # noqa: SLF001

    def _bound(
        self, sql: str, params: dict[str, Any], fmt: str
    ) -> tuple[str | bytes, dict[str, str]]:
        """The text of a query with its format, and its parameters as the engine takes them."""
        text, bound = bind_query(f"{sql}\n FORMAT {fmt}", params or None, self.server_tz)
        return text, {name.removeprefix("param_"): value for name, value in bound.items()}

    @override
    def _init_common_settings(self, tz_source: TzSource) -> None:
        if EmbeddedClient._engine is None:
            super()._init_common_settings(tz_source)
        else:
            self._apply_init_result(EmbeddedClient._engine)

    @override
    def _apply_init_result(self, result: InitializationResult) -> None:
        super()._apply_init_result(result)
        self.server_settings = cast("dict[str, SettingDef]", result.server_info.settings)
        EmbeddedClient._engine = result
