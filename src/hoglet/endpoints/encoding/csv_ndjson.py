"""Results as CSV, NDJSON, Arrow and Parquet, written part by part; and ETags.

For spreadsheets, shells and data frames. Metadata of the JSON body is in headers:
``Hoglet-Has-More``, ``Hoglet-Last-Refresh``, ``Hoglet-Execution-Id``.

An ETag identifies the computed result, not the body (which has its own execution id), so it is
weak; ``If-None-Match`` on GET returns 304.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import orjson

from hoglet.endpoints.encoding.arrow import arrow_stream, distinct, parquet
from hoglet.endpoints.encoding.negotiate import ARROW, CSV, JSON, NDJSON, PARQUET
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.response_body import stamp
from hoglet.endpoints.run.targets import RunTarget

type Writer = Callable[[Result], Iterator[bytes]]


def write(form: str, result: Result) -> Iterator[bytes]:
    """The rows of a HogQL result in a format other than JSON, with one part in memory at a time."""
    return _WRITERS[form](result)


def headers_of(result: Result, execution_id: Any) -> dict[str, str]:
    """The metadata of the JSON body as headers."""
    return {
        "Hoglet-Has-More": "true" if result.has_more else "false",
        "Hoglet-Last-Refresh": stamp(result.computed_at),
        "Hoglet-Execution-Id": str(execution_id),
    }


def cost_headers(result: Result, *, is_cached: bool) -> dict[str, str]:
    """The cost of the computation; zero for cached results."""
    rows, read, seconds = result.rows_read, result.bytes_read, result.engine_seconds
    if is_cached:
        rows, read, seconds = 0, 0, 0.0
    return {
        "Hoglet-Rows-Read": str(rows),
        "Hoglet-Bytes-Read": str(read),
        "Hoglet-Elapsed-Seconds": f"{seconds:.6f}",
    }


def etag_of(target: RunTarget, result: Result, form: str = JSON) -> str:
    """The weak ETag of a result: equal for equal rows, however often they are computed."""
    parts = (target.version_id, form, result.limit, result.offset, result.has_more, result.types)
    digest = blake2b(repr(parts).encode(), digest_size=12)
    digest.update(result.parts.digest())
    return f'W/"{digest.hexdigest()}"'


def is_known(etag: str, if_none_match: str) -> bool:
    """Whether the client already has the result (weak comparison, RFC 9110)."""
    known = [part.strip().removeprefix("W/") for part in if_none_match.split(",")]
    return "*" in known or etag.removeprefix("W/") in known


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
