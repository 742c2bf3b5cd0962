"""Parts of inserts during which the disk filled up, remembered on disk.

The server drops them, with their deduplication tokens, before its next insert into the table. If it
is killed before that, the next start does so before the engine opens: it would detach the parts as
broken and take the repeated inserts for duplicates. Nobody relies on these parts: their inserts
failed, so the batches are still in the spool.

The file is as large from the start as it will ever be, so that a full disk can be written to.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec
import structlog

log = structlog.get_logger()

INSERTED = re.compile(r"(?!tmp)[^_/]+_(\d+)_\1_0")  # partition, first and last block, level

_FILE = "hoglet_doubtful_parts.json"
_BYTES = 16 * 1024
_ENGINE_LOCK = "status"
_TOKENS = "deduplication_logs"
_ADD, _DROP = "1", "2"


class DoubtfulParts:
    """The file in the folder of the engine.

    Args:
        folder: of the engine; created if there is none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._file = self._folder / _FILE

    def reserve(self) -> None:
        """Create the file, in its full size."""
        if not self._file.exists():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.write({})

    def write(self, parts: Mapping[Path, set[str]]) -> None:
        """Remember the names of parts by the folder of their table; the others are forgotten."""
        names = {
            str(table.resolve().relative_to(self._folder)): sorted(found)
            for table, found in parts.items()
            if found
        }
        content = msgspec.json.encode(names).ljust(_BYTES)
        if len(content) > _BYTES:
            log.warning("too many parts to remember", action="doubtful_parts_many")
            return
        descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, content, 0)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def drop_left(self) -> None:
        """Drop what a killed server left; call it before the engine opens.

        Idempotency: a crash in between is made up for by the next start.
        """
        if not self._file.exists():
            return
        lock = self._folder / _ENGINE_LOCK
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._drop()
        except BlockingIOError:
            return  # another process uses the folder; the engine will refuse it
        finally:
            os.close(descriptor)

    def _drop(self) -> None:
        left = self._read()
        for table, names in left.items():
            folder = self._folder / table
            _forget_tokens(folder / _TOKENS, set(names))
            for name in names:
                shutil.rmtree(folder / name, ignore_errors=not (folder / name).exists())
        if left:
            self.write({})
            log.warning(
                "dropped parts of inserts during which the disk was full; they are repeated",
                action="doubtful_parts_dropped",
                parts=left,
            )

    def _read(self) -> dict[str, list[str]]:
        try:
            found = msgspec.json.decode(self._file.read_bytes(), type=dict[str, list[str]])
        except msgspec.DecodeError:  # killed while writing it
            return {}
        return {
            table: [name for name in names if INSERTED.fullmatch(name)]
            for table, names in found.items()
            if (self._folder / table).resolve().is_relative_to(self._folder)
        }


def _forget_tokens(folder: Path, parts: set[str]) -> None:
    """Record the parts as dropped in the engine's log of tokens, as DROP PART does.

    A line is ``1`` (added) or ``2`` (dropped), the part and the token, separated by tabs.
    """
    logs = sorted(folder.glob("deduplication_log_*.txt"), key=_number) if folder.is_dir() else []
    dropped: list[str] = []
    for path in logs:
        for line in path.read_text().splitlines():
            kind, part, token = (*line.split("\t"), "", "", "")[:3]
            if kind == _ADD and part in parts:
                dropped.append(f"{_DROP}\t{part}\t{token}\n")
    if not dropped:
        return
    text = logs[-1].read_text()
    whole = text[: text.rfind("\n") + 1]  # the disk may have been full amid a line
    with logs[-1].open("r+") as file:
        file.truncate(len(whole))
        file.seek(0, os.SEEK_END)
        file.write("".join(dropped))
        file.flush()
        os.fsync(file.fileno())


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])
