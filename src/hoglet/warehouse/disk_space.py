"""Keeps the embedded engine from writing to a full disk.

The engine (26.9) mistakes failed writes for successful ones: an insert on a full disk succeeds and
leaves a part with truncated files, which the next start finds broken. The engine reserves the size
of the block beforehand, but that does not help if other processes write as well, and it ignores
``ulimit -f``.

So nothing is inserted when little space is free. If the disk fills up during an insert, its parts
count as not written: they are dropped, together with their deduplication tokens, before the next
insert or at the next start (see ``doubtful_parts``). The same applies to an insert interrupted by a
kill: its caller has not seen it succeed.
"""

import contextlib
import resource
import shutil
import threading
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from clickhouse_connect.driver.client import Client

from hoglet.warehouse.doubtful_parts import INSERTED, DoubtfulParts
from hoglet.warehouse.errors import WarehouseDown

SPARE_BYTES = 32 * 1024**2  # more than SQLite and other writers take during an insert
_MB = 1_000_000
_FOLDERS = """SELECT data_paths FROM system.tables
WHERE database = currentDatabase() AND name = {name:String}"""


def check_disk_space(folder: Path) -> None:
    """Check that the engine can write into its folder.

    Raises:
        WarehouseDown: the disk is nearly full, or a limit keeps files from growing. Nothing was
            written; a retry succeeds once there is space.
    """
    free = shutil.disk_usage(folder).free
    if free < SPARE_BYTES:
        raise WarehouseDown(
            f"The disk of the warehouse is full: {free // _MB} MB are free in {folder}, "
            f"and {SPARE_BYTES // _MB} MB are needed to write safely."
        )
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        raise WarehouseDown(
            "The size of files is limited (ulimit -f), and the warehouse cannot tell when a "
            "write fails; start hoglet without this limit."
        )


class DiskChecks:
    """Checks the disk before and after the embedded engine writes.

    Args:
        folder: the engine's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._tables: dict[str, Path] = {}
        self._doubtful: defaultdict[str, set[str]] = defaultdict(set)
        self._inserting: dict[str, int] = {}
        self._record = DoubtfulParts(folder)
        self._record_lock = threading.Lock()

    def prepare(self) -> None:
        """Drop doubtful parts left by a killed server; call it before the engine opens."""
        self._record.drop_left()
        self._record.reserve()

    @contextmanager
    def statement(self) -> Generator[None]:
        """Fill a scratch table, or erase rows, within this context.

        Raises:
            WarehouseDown: the disk is full; a scratch table may be damaged and must be dropped.
        """
        check_disk_space(self._folder)
        try:
            yield
        finally:
            check_disk_space(self._folder)

    @contextmanager
    def insert(self, client: Client, table: str) -> Generator[None]:
        """Insert into a table within this context, one thread at a time per table.

        Args:
            client: a connection to the engine.
            table: the table.

        Raises:
            WarehouseDown: the disk is full. None of the rows will remain; retrying with the same
                token succeeds once there is space.
        """
        with self._locks[table]:
            check_disk_space(self._folder)
            self._drop_doubtful(client, table)
            before = self._parts(client, table)
            self._begin(table, before)
            try:
                yield
            finally:
                self._end(client, table, before)

    def _begin(self, table: str, before: set[str]) -> None:
        """Record that parts with higher block numbers are doubtful until the insert has ended."""
        blocks = [int(match[1]) for name in before if (match := INSERTED.fullmatch(name))]
        with self._record_lock:
            self._inserting[table] = max(blocks, default=0)
        with contextlib.suppress(OSError):  # missed only by a kill in this insert
            self._remember(is_durable=False)

    def _end(self, client: Client, table: str, before: set[str]) -> None:
        try:
            check_disk_space(self._folder)
            self._finish(table)
        except (WarehouseDown, OSError) as error:
            self._doubtful[table] |= self._parts(client, table) - before
            with contextlib.suppress(OSError):  # the server drops them, unless it is killed
                self._remember()
            if isinstance(error, WarehouseDown):
                raise
            raise WarehouseDown(f"The disk of the warehouse cannot be written: {error}.") from None

    def _finish(self, table: str) -> None:
        """Record that the next start must keep the parts; if this fails, they must be dropped."""
        with self._record_lock:
            self._inserting.pop(table, None)
        self._remember(is_durable=False)

    def _drop_doubtful(self, client: Client, table: str) -> None:
        for name in self._doubtful[table] & self._parts(client, table):
            client.command(f"ALTER TABLE {table} DROP PART '{name}'")
        if self._doubtful[table]:
            self._doubtful[table].clear()
            self._remember()

    def _remember(self, *, is_durable: bool = True) -> None:
        with self._record_lock:
            folders = dict(self._tables)
            parts = {folder: set(self._doubtful[name]) for name, folder in folders.items()}
            inserting = {folders[name]: block for name, block in self._inserting.items()}
            self._record.write(parts, inserting, is_durable=is_durable)

    def _parts(self, client: Client, table: str) -> set[str]:
        """Names of parts as inserted, i.e. neither merged nor mutated: ``202611_4_4_0``."""
        if table not in self._tables or not self._tables[table].exists():
            [[paths]] = client.query(_FOLDERS, parameters={"name": table}).result_rows
            self._tables[table] = Path(paths[0])
        names = (each.name for each in self._tables[table].iterdir())
        return {name for name in names if INSERTED.fullmatch(name)}
