"""Keeps the embedded engine from writing to a full disk.

The engine (26.9) mistakes failed writes for successful ones: an insert on a full disk succeeds and
leaves a part with truncated files, which the next start finds broken. The engine reserves the size
of the block beforehand, but that does not help if other processes write as well, and it ignores
``ulimit -f``.

So nothing is inserted when little space is free. If the disk fills up during an insert, its parts
are doubtful and count as not written: they are dropped, together with their deduplication tokens,
before the next insert into the table. If the server is killed first, the next start drops them
before the engine opens; otherwise the engine would detach the parts as broken, but reject the
repeated inserts as duplicates. No data is lost: the inserts failed, so their batches are still in
the spool.

Parts of an insert that was interrupted by a kill are dropped, too, complete or not, because the
server had not checked the disk yet. They are identified by their block numbers, which only grow.
The engine records the token of a part before the part is in place (:mod:`.dedup_log`), so tokens
without a part are dropped as well, also after a power failure.
"""

import contextlib
import errno
import fcntl
import os
import re
import resource
import shutil
import threading
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec
import structlog
from clickhouse_connect.driver.client import Client

from hoglet.warehouse import dedup_log
from hoglet.warehouse.errors import WarehouseDown

log = structlog.get_logger()

SPARE_BYTES = 32 * 1024**2  # more than SQLite and other writers take during an insert
_INSERTED = re.compile(r"(?!tmp)[^_/]+_(\d+)_\1_0")  # partition, first and last block, level
_PART = re.compile(r"(?!tmp)([^_/]+)_(\d+)_(\d+)_\d+(?:_\d+)?")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_FILE = "hoglet_doubtful_parts.json"
_BYTES = 16 * 1024
_ENGINE_LOCK = "status"
_MB = 1_000_000
_FOLDERS = """SELECT data_paths FROM system.tables
WHERE database = currentDatabase() AND name = {name:String}"""


class _Content(msgspec.Struct, frozen=True):
    """The content of the file. Tables are given by their folder, relative to the engine's.

    Attributes:
        parts: names of doubtful parts by table.
        inserting: the table's highest block number before each insert in progress.
        boot: boot id of the machine when ``inserting`` was written. ``inserting`` is not flushed
            to disk, so it is ignored after a reboot.
    """

    parts: dict[str, list[str]] = {}
    inserting: dict[str, int] = {}
    boot: str = ""


class DoubtfulParts:
    """The file in the engine's folder that says which parts may be damaged.

    It has its full size from the start, so that it can be written when the disk is full.

    Args:
        folder: the engine's folder; created if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._file = self._folder / _FILE

    def reserve(self) -> None:
        """Create the file with its full size."""
        if not self._file.exists():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.write({})

    def write(
        self,
        parts: Mapping[Path, set[str]],
        inserting: Mapping[Path, int] | None = None,
        *,
        is_durable: bool = True,
    ) -> None:
        """Replace the content of the file.

        Args:
            parts: doubtful parts by the resolved folder of their table.
            inserting: highest block number before the insert, for each table with an insert in
                progress.
            is_durable: whether to flush to disk; otherwise the file survives a crash of the
                process, but not of the machine.

        Raises:
            OSError: the file cannot be written.
        """
        names = {
            self._name(table): sorted(part_names)
            for table, part_names in parts.items()
            if part_names
        }
        blocks = {self._name(table): block for table, block in (inserting or {}).items()}
        content = msgspec.json.encode(_Content(names, blocks, _boot())).ljust(_BYTES)
        if len(content) > _BYTES:
            log.warning("too many parts to remember", action="doubtful_parts_many")
            content = msgspec.json.encode(_Content()).ljust(_BYTES)
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            if os.pwrite(descriptor, content, 0) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._file))
            if is_durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _name(self, table: Path) -> str:
        return str(table.relative_to(self._folder))

    def drop_left(self) -> None:
        """Drop parts left by a killed server; call it before the engine opens.

        Idempotency: if this is interrupted, the next start completes it.
        """
        if not self._file.exists():
            return
        lock = self._folder / _ENGINE_LOCK
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._drop()
        except BlockingIOError:
            return  # another process uses the folder; the engine will refuse to open it
        finally:
            os.close(descriptor)

    def _drop(self) -> None:
        content = self._content()
        if content.boot and content.boot != _boot():
            self._forget_unplaced()
        left = self._left(content)
        for table, names in left.items():
            folder = self._folder / table
            dedup_log.forget_tokens(folder, set(names))
            for name in names:
                shutil.rmtree(folder / name, ignore_errors=not (folder / name).exists())
        self.write({})
        if left:
            log.warning(
                "dropped parts of inserts that were interrupted or met a full disk; they are "
                "repeated",
                action="doubtful_parts_dropped",
                parts=left,
            )

    def _forget_unplaced(self) -> None:
        """Drop the tokens without a part that a power failure left, in whatever table."""
        for log_folder in self._folder.glob(f"store/*/*/{dedup_log.FOLDER}"):
            table = log_folder.parent
            dedup_log.forget_tokens(table, _inserted_after(table, 0) - set(os.listdir(table)))  # noqa: PTH208

    def _content(self) -> _Content:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Content)
        except msgspec.DecodeError:  # the server was killed while writing it
            return _Content()

    def _left(self, content: _Content) -> dict[str, list[str]]:
        """The names of the parts to drop, by the folder of their table."""
        doubtful = {
            table: {name for name in names if _INSERTED.fullmatch(name)}
            for table, names in content.parts.items()
            if self._is_inside(table)
        }
        if content.boot and content.boot == _boot():
            for table, block in content.inserting.items():
                if self._is_inside(table):
                    doubtful[table] = doubtful.get(table, set()) | _inserted_after(
                        self._folder / table, block
                    )
        return {table: sorted(names) for table, names in doubtful.items() if names}

    def _is_inside(self, table: str) -> bool:
        return "\0" not in table and (self._folder / table).resolve().is_relative_to(self._folder)


@cache
def _boot() -> str:
    """The machine's boot id; empty on platforms without one."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _inserted_after(folder: Path, block: int) -> set[str]:
    """Parts with a higher block number, except those whose rows are in a merged part already.

    Also those that the engine has recorded, but had not yet renamed into place.
    """
    names = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208
    merged = [match for name in names if (match := _PART.fullmatch(name)) is not None]
    return {
        name
        for name, number in _blocks_of({*names, *dedup_log.recorded_parts(folder)}).items()
        if number > block and not any(_covers(part, name, number) for part in merged)
    }


def _covers(part: re.Match[str], name: str, block: int) -> bool:
    is_same_partition = part[1] == name.partition("_")[0]
    return is_same_partition and part[0] != name and int(part[2]) <= block <= int(part[3])


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


class InsertedParts:
    """Parts of a table as inserted, i.e. neither merged nor mutated: ``202611_4_4_0``.

    A folder keeps the parts of eight minutes, thousands if blocks are small, so each name is
    examined once. Examining 5,000 before each insert took 50 ms.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._names: set[str] = set()
        self._highest = 0

    def highest_block(self) -> int:
        """The highest block number so far; 0 without parts."""
        names = set(os.listdir(self.folder))  # noqa: PTH208 (a path for each name takes longer)
        self._highest = max([self._highest, *_blocks_of(names - self._names).values()])
        self._names = names
        return self._highest

    def after(self, block: int) -> set[str]:
        """The names of the parts with a higher block number."""
        names = os.listdir(self.folder)  # noqa: PTH208
        return {name for name, number in _blocks_of(names).items() if number > block}


def _blocks_of(names: Iterable[str]) -> dict[str, int]:
    """The block numbers of those parts that are as they were inserted."""
    matches = ((name, _INSERTED.fullmatch(name)) for name in names)
    return {name: int(match[1]) for name, match in matches if match is not None}


class DiskChecks:
    """Checks the disk before and after the embedded engine writes.

    Args:
        folder: the engine's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._tables: dict[str, InsertedParts] = {}
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
            block = self._parts(client, table).highest_block()
            self._begin(table, block)
            try:
                yield
            finally:
                self._end(client, table, block)

    def _begin(self, table: str, block: int) -> None:
        """Record that parts with higher block numbers are doubtful until the insert has ended."""
        with self._record_lock:
            self._inserting[table] = block
        with contextlib.suppress(OSError):  # missed only by a kill in this insert
            self._remember(is_durable=False)

    def _end(self, client: Client, table: str, block: int) -> None:
        try:
            check_disk_space(self._folder)
            self._finish(table)
        except (WarehouseDown, OSError) as error:
            self._doubtful[table] |= self._parts(client, table).after(block)
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
        if not self._doubtful[table]:
            return
        for name in self._doubtful[table] & self._parts(client, table).after(0):
            client.command(f"ALTER TABLE {table} DROP PART '{name}'")
        self._doubtful[table].clear()
        self._remember()

    def _remember(self, *, is_durable: bool = True) -> None:
        with self._record_lock:
            folders = {name: parts.folder for name, parts in self._tables.items()}
            parts = {folder: set(self._doubtful[name]) for name, folder in folders.items()}
            inserting = {folders[name]: block for name, block in self._inserting.items()}
            self._record.write(parts, inserting, is_durable=is_durable)

    def _parts(self, client: Client, table: str) -> InsertedParts:
        if table not in self._tables or not self._tables[table].folder.exists():
            [[folders]] = client.query(_FOLDERS, parameters={"name": table}).result_rows
            self._tables[table] = InsertedParts(Path(folders[0]))
        return self._tables[table]


def disk_checks(url: str) -> DiskChecks | None:
    """Disk checks for an embedded engine with a folder; None in memory and for a server."""
    scheme, _, path = url.partition("://")
    if scheme != "chdb" or not path.startswith("/"):
        return None
    checks = DiskChecks(Path(path))
    checks.prepare()
    return checks
