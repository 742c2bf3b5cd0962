"""Results as CSV, NDJSON, Arrow and Parquet, written part by part.

For spreadsheets, shells and data frames. Metadata of the JSON body is in headers:
``Hoglet-Has-More``, ``Hoglet-Last-Refresh``, ``Hoglet-Execution-Id``.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import orjson

from hoglet.endpoints.encoding.arrow import arrow_stream, distinct, parquet
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.request import ARROW, CSV, NDJSON, PARQUET

type Writer = Callable[[Result], Iterator[bytes]]


def write(media_type: str, result: Result) -> Iterator[bytes]:
    """The rows of a HogQL result in a format other than JSON, with one part in memory at a time."""
    return _WRITERS[media_type](result)


def _csv(result: Result) -> Iterator[bytes]:
    """Comma-separated with a header line; NULL is empty, arrays and maps are JSON."""
    yield _csv_lines([result.columns])
    for part in result.parts:
        yield _csv_lines([[_cell(value) for value in row] for row in orjson.loads(part)])


def _csv_lines(rows: Sequence[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else value


def _ndjson(result: Result) -> Iterator[bytes]:
    names = distinct(result.columns)
    for part in result.parts:
        rows = orjson.loads(part)
        yield b"".join(orjson.dumps(dict(zip(names, row, strict=True))) + b"\n" for row in rows)


_WRITERS: dict[str, Writer] = {
    CSV: _csv,
    NDJSON: _ndjson,
    ARROW: arrow_stream,
    PARQUET: parquet,
}
