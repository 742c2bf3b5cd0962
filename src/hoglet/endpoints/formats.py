"""Results in other forms than JSON, chosen by ``Accept``; and ETags (hoglet goes further).

A table of rows is what spreadsheets, shells and data frames want: ``text/csv``,
``application/x-ndjson`` (one object a line), ``application/vnd.apache.arrow.stream``. What the JSON
body says beside the rows is in headers: ``Hoglet-Has-More``, ``Hoglet-Last-Refresh``,
``Hoglet-Execution-Id``.

An ETag names the computed result, not the body (every body has its own execution id), so it is a
weak one; ``If-None-Match`` on GET gives 304.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import orjson

from hoglet.endpoints.bodies import stamp
from hoglet.endpoints.cache import Result
from hoglet.endpoints.targets import Target

type Rows = Sequence[Sequence[Any]]
type Writer = Callable[[Result, Mapping[str, str]], bytes]

CSV, NDJSON, ARROW = (
    "text/csv",
    "application/x-ndjson",
    "application/vnd.apache.arrow.stream",
)


def wanted_format(accept: str) -> str | None:
    """The first of our forms in an ``Accept`` header; None for JSON.

    Example:
        >>> wanted_format("text/csv, application/json;q=0.5"), wanted_format("*/*")
        ('text/csv', None)
    """
    for part in accept.split(","):
        kind = part.partition(";")[0].strip().lower()
        if kind in ("application/json", "*/*"):
            return None
        if kind in _WRITERS:
            return kind
    return None


def write(kind: str, target: Target, result: Result) -> bytes:
    """The rows of a HogQL result in one of the forms."""
    types = {column["name"]: column["type"] for column in target.analysis.columns}
    return _WRITERS[kind](result, types)


def headers_of(result: Result, execution_id: Any) -> dict[str, str]:
    """What the JSON body would have said beside the rows."""
    return {
        "Hoglet-Has-More": "true" if result.has_more else "false",
        "Hoglet-Last-Refresh": stamp(result.computed_at),
        "Hoglet-Execution-Id": str(execution_id),
    }


def etag_of(target: Target, result: Result) -> str:
    """The weak ETag of a result: the same for the same rows, however often they are computed."""
    parts = (target.version_id, result.limit, result.offset, result.has_more, result.types)
    digest = blake2b(repr(parts).encode(), digest_size=12)
    digest.update(result.rows_json)
    return f'W/"{digest.hexdigest()}"'


def is_known(etag: str, if_none_match: str) -> bool:
    """Whether the caller has the result already (weak comparison, RFC 9110)."""
    known = [part.strip().removeprefix("W/") for part in if_none_match.split(",")]
    return "*" in known or etag.removeprefix("W/") in known


def _csv(result: Result, _types: Mapping[str, str]) -> bytes:
    """Comma separated, a header line; NULL is empty, arrays and maps are JSON texts."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(result.columns)
    writer.writerows([_cell(value) for value in row] for row in _rows(result))
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else value


def _ndjson(result: Result, _types: Mapping[str, str]) -> bytes:
    names = result.columns
    lines = [orjson.dumps(dict(zip(names, row, strict=True))) for row in _rows(result)]
    return b"".join(line + b"\n" for line in lines)


def _arrow(result: Result, types: Mapping[str, str]) -> bytes:
    import pyarrow as pa  # 40 ms to import; only those who ask for it wait

    columns = list(zip(*_rows(result), strict=True)) or [()] * len(result.columns)
    arrays = [
        _arrow_column(pa, values, types.get(name, "unknown"))
        for name, values in zip(result.columns, columns, strict=True)
    ]
    table = pa.Table.from_arrays(arrays, names=result.columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def _arrow_column(pyarrow: Any, values: Sequence[Any], kind: str) -> Any:
    """A typed column; text of JSON where Arrow cannot hold the values."""
    plain = [_cell(value) if isinstance(value, list | dict) else value for value in values]
    types = {
        "integer": pyarrow.int64(),
        "float": pyarrow.float64(),
        "boolean": pyarrow.bool_(),
        "string": pyarrow.string(),
        "date": pyarrow.date32(),
        "datetime": pyarrow.timestamp("us", tz="UTC"),
    }
    wanted = types.get(kind, pyarrow.string())
    try:
        if kind in ("date", "datetime"):
            return pyarrow.array(plain, pyarrow.string()).cast(wanted)
        return pyarrow.array(plain, wanted)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, OverflowError):
        texts = [None if value is None else str(value) for value in plain]
        return pyarrow.array(texts, pyarrow.string())


def _rows(result: Result) -> Rows:
    return orjson.loads(result.rows_json)


_WRITERS: dict[str, Writer] = {CSV: _csv, NDJSON: _ndjson, ARROW: _arrow}
