"""Reads events from files, as a stream: newline-delimited JSON, a JSON array, CSV, or Parquet.

Yields ``(bytes read so far, raw event object)``; :mod:`hoglet.events.parse` validates events.
Rows of PostHog's exports become events, too: see :mod:`hoglet.events.export_rows`.
"""

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, Literal, override

import brotli
import msgspec

from hoglet.events.export_rows import ExportRows
from hoglet.events.lenient_json import parse_leniently
from hoglet.kit.errors import HogletError
from hoglet.kit.json_numbers import fits_64_bits, read_number

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

type Format = Literal["auto", "ndjson", "json", "csv", "parquet"]

FORMATS = ("auto", "ndjson", "json", "csv", "parquet")

MAX_ARRAY_BYTES = 512 * 1024 * 1024  # JSON arrays are parsed at once; larger files should be NDJSON
_PARQUET_MAGIC = b"PAR1"
_PARQUET_ROWS = 2000


class UnreadableFile(HogletError):
    """A file is missing, has an unknown format, or contains an invalid line."""

    code = "unreadable_file"
    blame = "caller"


class CsvColumns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of CSV, or of Parquet without ``properties``, that are not properties.

    ``event`` is the event name of every row if there is no column ``event``.
    """

    event: str | None = None
    distinct_id: str = "distinct_id"
    timestamp: str = "timestamp"


def read_events(
    path: Path, kind: Format, columns: CsvColumns, exports: ExportRows | None = None
) -> Iterator[tuple[int, Any]]:
    """The events of one file.

    Args:
        path: the file; ``.gz``, ``.br`` and ``.zst`` are decompressed.
        kind: ``auto`` uses the file name (``.ndjson``, ``.jsonl``, ``.json``, ``.csv``,
            ``.parquet``).
        columns: the column names of CSV and Parquet.
        exports: shared by all files of an import, because it remembers the persons of rows.

    Raises:
        UnreadableFile: with the invalid line.
    """
    exports = exports or ExportRows()
    try:
        kind = _kind_of(path) if kind == "auto" else kind
        if kind == "parquet":
            for position, row in _parquet_rows(path):
                is_event = "properties" in row
                yield position, exports.event(row if is_event else _event_of(row, columns))
            return
        with path.open("rb") as raw, _unpacked(path, raw) as text:
            for position, event in _read(text, raw, kind, path, columns):
                yield position, exports.event(event)
    except (
        OSError,
        EOFError,
        ValueError,
        csv.Error,
        zlib.error,
        brotli.error,
        zstd.ZstdError,
    ) as error:
        raise UnreadableFile(f"{path}: {error}") from None


_PACKED = frozenset({".gz", ".br", ".zst", ".sz", ".lz4"})
_KINDS: dict[str, Format] = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "json",
    ".csv": "csv",
    ".parquet": "parquet",
}


def _kind_of(path: Path) -> Format:
    """The format; Parquet is recognized by its content, regardless of the extension."""
    with path.open("rb") as file:
        if file.read(len(_PARQUET_MAGIC)) == _PARQUET_MAGIC:
            return "parquet"
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix not in _PACKED]
    kind = _KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise UnreadableFile(
            f"{path}: unknown file format; use --format ndjson, json, csv or parquet."
        )
    return kind


def _unpacked(path: Path, raw: IO[bytes]) -> Any:
    match path.suffix.lower():
        case ".gz":
            return gzip.GzipFile(fileobj=raw)
        case ".br":
            return io.BufferedReader(_Brotli(raw))
        case ".zst":
            return zstd.ZstdFile(raw)
        case _:
            return io.BufferedReader(raw)  # pyright: ignore[reportArgumentType]


class _Brotli(io.RawIOBase):
    """A stream that decompresses Brotli as it is read."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._decompressor = brotli.Decompressor()
        self._left = b""

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any) -> int:
        while not self._left:
            packed = self._raw.read(65_536)
            if not packed:
                if not self._decompressor.is_finished():
                    raise EOFError("Compressed file ended before the end of its data")
                return 0
            self._left = self._decompressor.process(packed)
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _read(
    text: Any, raw: IO[bytes], kind: Format, path: Path, columns: CsvColumns
) -> Iterator[tuple[int, Any]]:
    if kind == "csv":
        rows = csv.DictReader(io.TextIOWrapper(text, "utf-8-sig"))
        for row in rows:
            cells = {key: _value(cell) for key, cell in row.items() if key}
            texts = {key: row.get(key) for key in _TEXTS | {columns.distinct_id, columns.timestamp}}
            yield raw.tell(), _event_of(cells | texts, columns)
    elif kind == "json":
        yield from _read_array(text, raw, path)
    else:
        for number, line in enumerate(text, 1):
            if line.strip():
                yield raw.tell(), _parse(line, f"{path}:{number}")


def _read_array(text: Any, raw: IO[bytes], path: Path) -> Iterator[tuple[int, Any]]:
    content = text.read(MAX_ARRAY_BYTES + 1)
    if len(content) > MAX_ARRAY_BYTES:
        raise UnreadableFile(f"{path}: larger than 512 MiB; use newline-delimited JSON instead.")
    events = _parse(content, str(path))
    if isinstance(events, dict) and isinstance(events.get("batch"), list):
        events = events["batch"]
    if not isinstance(events, list):
        raise UnreadableFile(f"{path}: expected a JSON array of events.")
    for event in events:
        yield raw.tell(), event


def _parse(text: bytes, position: str) -> Any:
    try:
        return parse_leniently(text)
    except ValueError as error:
        raise UnreadableFile(f"{position}: not JSON ({error})") from None


_TEXTS = frozenset({"event", "uuid"})


def _event_of(row: dict[str, Any], columns: CsvColumns) -> dict[str, Any]:
    special = _TEXTS | {columns.distinct_id, columns.timestamp}
    properties = {key: value for key, value in row.items() if key not in special}
    event: dict[str, Any] = {
        "event": row.get("event") or columns.event,
        "distinct_id": row.get(columns.distinct_id),
        "properties": properties,
    }
    optional = {"timestamp": row.get(columns.timestamp), "uuid": row.get("uuid")}
    return event | {key: value for key, value in optional.items() if value}


def _value(text: str | None) -> Any:
    """Convert a CSV cell: JSON numbers, booleans and empty cells; anything else stays text.

    ``007``, ``1_000`` and ``nan`` are text: postcodes, codes and names.
    """
    if text is None or text in {"", "NA", "NULL", "null"}:
        return None
    if text in {"true", "false"}:
        return text == "true"
    number = read_number(text.strip(" "))
    return text if number is None else number


def _parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file as plain data, with the share of the file that was read, in bytes.

    Times are ISO 8601 texts, in UTC where the column has no zone.

    Raises:
        OSError, ValueError: the file cannot be read, or is not a Parquet file.
    """
    import pyarrow.parquet as pq

    size, done = path.stat().st_size, 0
    with pq.ParquetFile(path) as file:
        total = max(file.metadata.num_rows, 1)
        for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                done += 1
                yield size * done // total, _plain(row)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return _plain_decimal(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _plain_decimal(value: Decimal) -> int | float:
    is_whole = value == value.to_integral_value()
    return int(value) if is_whole and fits_64_bits(int(value)) else float(value)
