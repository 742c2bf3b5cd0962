"""A connection to the embedded engine.

A client of clickhouse-connect reads the 1,858 settings of its server when it is created. That takes
8 ms of processor time and half a megabyte. A process has one engine, so its first client reads
them for all.
"""

from typing import ClassVar, cast, override

from clickhouse_connect.driver import (
    _chdbclient as chdb_client,  # pyright: ignore[reportPrivateUsage]
)
from clickhouse_connect.driver._backend.orchestration import (  # pyright: ignore[reportPrivateUsage]
    InitializationResult,
)
from clickhouse_connect.driver.models import SettingDef
from clickhouse_connect.driver.query import TzSource


class EmbeddedClient(chdb_client.ChdbClient):
    """A client that shares what the engine says about itself with all others.

    Concurrency: two threads may both create the first one; they read the same.
    """

    _engine: ClassVar[InitializationResult | None] = None

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
