"""Takes a consistent backup of a running server: database and embedded warehouse.

Source: docs/adr/0020-online-backup.md.
"""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp

import orjson

from hoglet import __version__
from hoglet.app.backup.layout import DATABASE, MANIFEST, WAREHOUSE
from hoglet.kit.clock import Clock
from hoglet.kit.errors import Invalid, Unavailable
from hoglet.settings import Settings
from hoglet.store.database import Database
from hoglet.store.snapshot import frozen
from hoglet.warehouse import ClickHouseWarehouse, Warehouse

_PREFIX = "backup-"


class BackupService:
    """Creates backups, one at a time.

    Args:
        settings: the data folder and the URLs of database and warehouse.
    """

    def __init__(
        self, settings: Settings, database: Database, warehouse: Warehouse, clock: Clock
    ) -> None:
        self._settings = settings
        self._database = database
        self._warehouse = warehouse
        self._clock = clock
        self._running = asyncio.Lock()

    @asynccontextmanager
    async def backup(self) -> AsyncGenerator[Path]:
        """A folder that contains the backup until the block ends.

        Commits and inserts wait for some milliseconds while the warehouse is hard-linked; the
        database is copied afterwards, from a snapshot of that moment. The backup equals
        the data folder after a ``kill -9``.

        Raises:
            Invalid: the data is not in the data folder.
            Unavailable: another backup is running; retry later.
        """
        warehouse = self._embedded()
        if self._running.locked():
            raise Unavailable("Another backup is running; try again when it is done.")
        async with self._running:
            remove_leftovers(self._settings.data_dir)
            folder = Path(mkdtemp(prefix=_PREFIX, dir=self._settings.data_dir))
            try:
                await self._fill(folder, warehouse)
                yield folder
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _fill(self, folder: Path, warehouse: ClickHouseWarehouse) -> None:
        async with frozen(self._database) as snapshot:
            taken_at = self._clock.now()
            await warehouse.snapshot(folder / WAREHOUSE)
        try:
            await snapshot.copy(folder / DATABASE)
        finally:
            await snapshot.close()
        (folder / MANIFEST).write_bytes(_manifest(taken_at))

    def _embedded(self) -> ClickHouseWarehouse:
        warehouse = self._warehouse
        is_in_folder = self._settings.resolved_warehouse_url().startswith("chdb:///")
        is_on_disk = self._database.is_sqlite and is_in_folder
        if not is_on_disk or not isinstance(warehouse, ClickHouseWarehouse):
            raise Invalid(
                "Only a server on SQLite and chDB can be backed up this way: use pg_dump for "
                "PostgreSQL and BACKUP for ClickHouse (docs/operating.md)."
            )
        return warehouse


def remove_leftovers(data_dir: Path) -> None:
    """Remove incomplete backups of a killed server."""
    for folder in data_dir.glob(f"{_PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _manifest(taken_at: datetime) -> bytes:
    content = {"hoglet": __version__, "taken_at": taken_at.isoformat()}
    return orjson.dumps(content, option=orjson.OPT_INDENT_2)
