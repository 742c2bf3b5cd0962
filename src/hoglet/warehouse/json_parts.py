"""Rows of a result as JSON, in parts: small results in memory, large ones in a temporary file.

A response is sent part by part, so a result of 100 MB takes only a few megabytes of memory while it
is computed and sent.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import IO, Final

from hoglet.warehouse.errors import Code, WarehouseDown, from_engine

PART_BYTES: Final = 256 * 1024
"""Size of a part, unless a single row is larger. Other formats than JSON decode part by part."""
HELD_BYTES: Final = 2 * 1024 * 1024
"""Larger results go to a file."""


class JsonParts:
    """JSON arrays of consecutive rows, e.g. ``b'[["a",1],["b",2]]'``; at least one.

    Several parts are kept without their brackets, so that all rows become one array without being
    copied: each copy of 10,000 rows takes 0.1 ms, during which no other thread runs.

    Args:
        texts: JSON arrays, or one text of any JSON.

    Concurrency: may be read by several threads at once. The file is deleted with the last
    reference; it has no name, so a killed process leaves nothing behind.
    """

    __slots__ = ("_digest", "_file", "_held", "_is_whole", "_rows_bytes", "_spans")

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._held: list[bytes] = list(texts)
        self._is_whole = len(self._held) == 1
        if not self._is_whole:
            self._held = [array[1:-1] for array in self._held]
        self._file: IO[bytes] | None = None
        self._spans: list[tuple[int, int]] = []
        self._digest: bytes | None = None
        self._rows_bytes = sum(map(len, self._held))

    @property
    def total_bytes(self) -> int:
        """Length of all rows as one JSON array."""
        if self._is_whole:
            return self._rows_bytes
        count = len(self._held) if self._file is None else len(self._spans)
        return len(b"[") + self._rows_bytes + (count - 1) + len(b"]")

    def __len__(self) -> int:
        """The number of parts."""
        return len(self._spans) if self._file is not None else len(self._held)

    def __iter__(self) -> Iterator[bytes]:
        """The parts; those of a file are read one at a time."""
        for rows in self._rows():
            yield rows if self._is_whole else b"[" + rows + b"]"

    def pieces(self) -> Iterator[bytes]:
        """All rows as one JSON array, in pieces."""
        if self._is_whole:
            yield from self._held
            return
        before = b"["
        for rows in self._rows():
            yield before
            yield rows
            before = b","
        yield b"]"

    def digest(self) -> bytes:
        """A hash of the rows, independent of how they are split into parts."""
        if self._digest is None:
            hashed = blake2b(digest_size=16)
            for piece in self.pieces():
                hashed.update(piece)
            self._digest = hashed.digest()
        return self._digest

    def _rows(self) -> Iterator[bytes]:
        """The rows of each part, e.g. ``b'["a",1],["b",2]'``."""
        if self._file is None:
            yield from self._held
            return
        number = self._file.fileno()
        for start, size in self._spans:
            yield os.pread(number, size, start)

    def _append(self, rows: bytes) -> None:
        self._rows_bytes += len(rows)
        if self._file is None and self._rows_bytes <= HELD_BYTES:
            self._held.append(rows)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="hoglet-rows-")  # noqa: SIM115 (see above)
            held, self._held = self._held, []
            for each in held:
                self._write(self._file, each)
        self._write(self._file, rows)

    def _write(self, file: IO[bytes], rows: bytes) -> None:
        start = self._spans[-1][0] + self._spans[-1][1] if self._spans else 0
        file.write(rows)
        self._spans.append((start, len(rows)))

    def _finish(self) -> None:
        if self._file is not None:
            self._file.flush()
            self.digest()  # here, in the thread that reads the rows, not in the event loop
        elif not self._held:
            self._held.append(b"")


class JsonPartsWriter:
    """Collects the rows of a result while the engine computes them.

    Args:
        most_rows: rows beyond this number are counted but not stored; None stores all.
        most_bytes: larger results are rejected.
    """

    def __init__(self, most_rows: int | None, most_bytes: int) -> None:
        self._most_rows = most_rows
        self._most_bytes = most_bytes
        self._parts = JsonParts(())
        self._received_bytes = 0
        self.count = 0

    def add(self, rows: bytes, separator: bytes, count: int | None = None) -> None:
        """Add rows encoded as JSON arrays, with a separator between them, and maybe at the end.

        Args:
            rows: the rows.
            separator: the bytes between two of them.
            count: how many they are, if known: counting 10,000 takes 0.26 ms, during which no other
                thread runs.

        Raises:
            QueryTooCostly: all rows together are larger than ``most_bytes``.
            WarehouseDown: the temporary file cannot be written.
        """
        self._received_bytes += len(rows)
        refuse_large(self._received_bytes, self._most_bytes)
        end = len(rows) - (len(separator) if rows.endswith(separator) else 0)
        added = rows.count(separator, 0, end) + 1 if count is None else count
        if self._most_rows is not None and self.count + added > self._most_rows:
            excess = min(self.count + added - self._most_rows, added)
            for _ in range(excess):
                end = rows.rfind(separator, 0, end)
        self.count += added
        try:
            self._add_parts(rows, end, separator)
        except OSError as error:
            raise WarehouseDown(
                f"A temporary file for a large result cannot be written: {error.strerror}. "
                "Free disk space, or set TMPDIR to another folder."
            ) from error

    def finish(self) -> JsonParts:
        """Return all stored rows.

        Raises:
            WarehouseDown: the temporary file cannot be written.
        """
        try:
            self._parts._finish()  # noqa: SLF001 (the class above)
        except OSError as error:
            raise WarehouseDown("A temporary file for a large result cannot be written.") from error
        return self._parts

    def _add_parts(self, rows: bytes, end: int, separator: bytes) -> None:
        start = 0
        while start < end:
            stop = rows.find(separator, start + PART_BYTES, end)
            stop = end if stop < 0 else stop
            part = rows[start:stop].replace(separator, b",")
            self._parts._append(part)  # noqa: SLF001 (the class above)
            start = stop + len(separator)


def refuse_large(size_bytes: int, most_bytes: int) -> None:
    """Reject a result that is larger than ``most_bytes``.

    Raises:
        QueryTooCostly: ``query_too_large``.
    """
    if size_bytes > most_bytes:
        raise from_engine("The result is too large.", Code.TOO_MANY_ROWS_OR_BYTES)
