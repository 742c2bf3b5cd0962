"""Whether a SQLite file was written since, by any process, without a statement.

Idle consumers would otherwise ask the database many times a second whether there is work: a
statement takes a millisecond of processor time, this 10 µs.
"""

import os
import time
from pathlib import Path
from typing import Final

type ChangeMark = tuple[int, int, int, int]
"""Time of the last change (ns) and size, of the database and of its write-ahead log."""

SETTLED_NS: Final = 3_000_000_000
"""Two commits may leave the same mark if they are within the resolution of file times, which is at
most two seconds; so a mark that is younger is not used."""


def change_mark(path: Path) -> ChangeMark | None:
    """Equal marks mean that nothing was committed in between.

    Args:
        path: the database, in WAL mode.

    Returns:
        None if unknown: just after a commit, or without a write-ahead log.
    """
    try:
        database, journal = os.stat(path), os.stat(f"{path}-wal")  # noqa: PTH116 (a tenth of the time)
    except OSError:
        return None
    if time.time_ns() - max(database.st_mtime_ns, journal.st_mtime_ns) < SETTLED_NS:
        return None
    return (database.st_mtime_ns, database.st_size, journal.st_mtime_ns, journal.st_size)
