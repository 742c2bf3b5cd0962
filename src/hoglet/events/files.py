"""Reads events from files, as a stream: newline-delimited JSON, a JSON array, or CSV.

Yields ``(bytes read so far, raw event object)``; :mod:`hoglet.events.parse` validates events.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from hoglet.kit.errors import HogletError
from hoglet.kit.text import parse_json

type Format = Literal["auto", "ndjson", "json", "csv"]

MAX_ARRAY_BYTES = 512 * 1024 * 1024  # JSON arrays are parsed at once; larger files should be NDJSON


class UnreadableFile(HogletError):
    """A file is missing, has an unknown format, or contains an invalid line."""

    code = "unreadable_file"
    blame = "caller"


class CsvColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Meaning of CSV columns; all others become properties.

    ``event`` is the name for every row if there is no column ``event``.
    """

    event: str | None = None
    distinct_id: str = "distinct_id"
    timestamp: str = "timestamp"


def read_events(path: Path, kind: Format, columns: CsvColumns) -> Iterator[tuple[int, Any]]:
    """The events of one file.

    Args:
        path: the file; ``.gz`` is decompressed.
        kind: ``auto`` uses the file name (``.ndjson``, ``.jsonl``, ``.json``, ``.csv``).
        columns: for CSV.

    Raises:
        UnreadableFile: with the invalid line.
    """
    kind = _kind_of(path) if kind == "auto" else kind
    try:
        with path.open("rb") as raw:
            packed = path.suffix == ".gz"
            text = gzip.GzipFile(fileobj=raw) if packed else raw
            yield from _read(text, raw, kind, path, columns)
    except (OSError, EOFError, UnicodeError, csv.Error, zlib.error) as error:
        raise UnreadableFile(f"{path}: {error}") from None


def _kind_of(path: Path) -> Format:
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    match suffixes[-1:] and suffixes[-1].lower():
        case ".ndjson" | ".jsonl":
            return "ndjson"
        case ".json":
            return "json"
        case ".csv":
            return "csv"
        case _:
            raise UnreadableFile(f"{path}: unknown file format; use --format ndjson, json or csv.")


def _read(
    text: Any, raw: IO[bytes], kind: Format, path: Path, columns: CsvColumns
) -> Iterator[tuple[int, Any]]:
    if kind == "csv":
        rows = csv.DictReader(io.TextIOWrapper(text, "utf-8-sig"))
        for row in rows:
            yield raw.tell(), _event_of(row, columns)
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


def _parse(text: bytes, place: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise UnreadableFile(f"{place}: not JSON ({error})") from None


def _event_of(row: dict[str | Any, Any], columns: CsvColumns) -> dict[str, Any]:
    special = {"event", "uuid", columns.distinct_id, columns.timestamp}
    properties = {key: _value(text) for key, text in row.items() if key and key not in special}
    event: dict[str, Any] = {
        "event": row.get("event") or columns.event,
        "distinct_id": row.get(columns.distinct_id),
        "properties": properties,
    }
    optional = {"timestamp": row.get(columns.timestamp), "uuid": row.get("uuid")}
    return event | {key: value for key, value in optional.items() if value}


def _value(text: str | None) -> Any:
    """Convert a CSV cell: numbers, booleans and empty cells are recognized, the rest stays text."""
    if text is None or text in {"", "NA", "NULL", "null"}:
        return None
    if text in {"true", "false"}:
        return text == "true"
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
