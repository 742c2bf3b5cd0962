"""The deduplication log of a table, read and corrected before the embedded engine opens.

The engine records a part and its token before it renames the part's folder, so a kill in between
leaves a token without rows. It would reject the repeated insert as a duplicate.

A line of the log is ``1`` (added) or ``2`` (dropped), the part and the token, separated by tabs.
"""

import os
from collections.abc import Iterator
from pathlib import Path

FOLDER = "deduplication_logs"
_ADD, _DROP = "1", "2"


def recorded_parts(table: Path) -> set[str]:
    """The names of the parts that have a token, whether or not their folders exist.

    Args:
        table: the folder of the table.
    """
    parts: set[str] = set()
    for path in _logs(table):
        for kind, part, _ in _lines(path):
            if kind == _ADD:
                parts.add(part)
            else:
                parts.discard(part)
    return parts


def forget_tokens(table: Path, parts: set[str]) -> None:
    """Record parts as dropped, as DROP PART does, so that their inserts can be repeated.

    Args:
        table: the folder of the table.
        parts: names of parts.
    """
    logs = _logs(table)
    dropped = [
        f"{_DROP}\t{part}\t{token}\n"
        for path in logs
        for kind, part, token in _lines(path)
        if kind == _ADD and part in parts
    ]
    if not dropped:
        return
    text = logs[-1].read_text()
    whole = text[: text.rfind("\n") + 1]  # the disk may have filled up in the middle of a line
    with logs[-1].open("r+") as file:
        file.truncate(len(whole))
        file.seek(0, os.SEEK_END)
        file.write("".join(dropped))
        file.flush()
        os.fsync(file.fileno())


def _logs(table: Path) -> list[Path]:
    """The files of the log, oldest first."""
    folder = table / FOLDER
    return sorted(folder.glob("deduplication_log_*.txt"), key=_number) if folder.is_dir() else []


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    for line in path.read_text().splitlines():
        kind, part, token = (*line.split("\t"), "", "", "")[:3]
        yield kind, part, token


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])
