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

    Concurrency: may be read by several threads at once. The file is deleted with the last
    reference; it has no name, so a killed process leaves nothing behind.
    """

    __slots__ = ("_digest", "_file", "_held", "_spans", "total_bytes")

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._held: list[bytes] = list(parts)
        self._file: IO[bytes] | None = None
        self._spans: list[tuple[int, int]] = []
        self._digest: bytes | None = None
        self.total_bytes = sum(map(len, self._held))

    def __len__(self) -> int:
        """The number of parts."""
        return len(self._spans) if self._file is not None else len(self._held)

    def __iter__(self) -> Iterator[bytes]:
        """The parts; those of a file are read one at a time."""
        if self._file is None:
            yield from self._held
            return
        number = self._file.fileno()
        for start, size in self._spans:
            yield os.pread(number, size, start)

    def pieces(self) -> Iterator[bytes]:
        """All rows as one JSON array, in pieces."""
        if len(self) == 1:
            yield from self
            return
        for number, part in enumerate(self):
            yield (b"," if number else b"[") + part[1:-1]
        yield b"]"

    def digest(self) -> bytes:
        """A hash of the rows, independent of how they are split into parts."""
        if self._digest is None:
            hashed = blake2b(digest_size=16)
            for piece in self.pieces():
                hashed.update(piece)
            self._digest = hashed.digest()
        return self._digest

    def _append(self, part: bytes) -> None:
        self.total_bytes += len(part)
        if self._file is None and self.total_bytes <= HELD_BYTES:
            self._held.append(part)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="hoglet-rows-")  # noqa: SIM115 (see above)
            held, self._held = self._held, []
            for each in held:
                self._write(self._file, each)
        self._write(self._file, part)

    def _write(self, file: IO[bytes], part: bytes) -> None:
        start = self._spans[-1][0] + self._spans[-1][1] if self._spans else 0
        file.write(part)
        self._spans.append((start, len(part)))

    def _finish(self) -> None:
        if self._file is not None:
            self._file.flush()
            self.digest()  # here, in the thread that reads the rows, not in the event loop
        elif not self._held:
            self._held.append(b"[]")
            self.total_bytes = len(b"[]")


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

    def add(self, rows: bytes, separator: bytes) -> None:
        """Add rows encoded as JSON arrays, with a separator between them.

        Raises:
            QueryTooCostly: all rows together are larger than ``most_bytes``.
            WarehouseDown: the temporary file cannot be written.
        """
        self._received_bytes += len(rows)
        refuse_large(self._received_bytes, self._most_bytes)
        added = rows.count(separator) + 1
        end = len(rows)
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
            part = b"[" + rows[start:stop].replace(separator, b",") + b"]"
            self._parts._append(part)  # noqa: SLF001 (the class above)
            start = stop + len(separator)


def refuse_large(size_bytes: int, most_bytes: int) -> None:
    """Reject a result that is larger than ``most_bytes``.

    Raises:
        QueryTooCostly: ``query_too_large``.
    """
    if size_bytes > most_bytes:
        raise from_engine("The result is too large.", Code.TOO_MANY_ROWS_OR_BYTES)
