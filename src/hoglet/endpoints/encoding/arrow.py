"""Results as Arrow streams and Parquet files, a record batch per part of the result.

Columns have the engine's types; types that Arrow lacks (maps, tuples, integers of more than 64
bits) are text as in the JSON body. pyarrow takes 40 ms to import and is loaded on first use.
"""

# pyarrow ships no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, count
from typing import Any

import orjson

from hoglet.endpoints.run.cache import Result

_INNER = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)")
_ARRAY = re.compile(r"Array\((.*)\)")
_NAMES = {
    "Int8": "int8",
    "Int16": "int16",
    "Int32": "int32",
    "Int64": "int64",
    "UInt8": "uint8",
    "UInt16": "uint16",
    "UInt32": "uint32",
    "UInt64": "uint64",
    "Float32": "float32",
    "Float64": "float64",
    "Bool": "bool_",
    "Date": "date32",
    "Date32": "date32",
}


def distinct(names: Sequence[str]) -> list[str]:
    """Unique column names: readers of these formats find columns by name.

    Example:
        >>> distinct(["id", "name", "name"])
        ['id', 'name', 'name_2']
    """
    taken, given = set(names), list[str]()
    for name in names:
        others = (f"{name}_{number}" for number in count(2))
        free = next(other for other in others if other not in taken) if name in given else name
        taken.add(free)
        given.append(free)
    return given


def arrow_stream(result: Result) -> Iterator[bytes]:
    """The rows as an Arrow IPC stream, a record batch per part."""
    import pyarrow as pa

    sink, schema = _Sink(), _schema(result)
    with pa.ipc.new_stream(sink, schema) as writer:
        for part in result.parts:
            writer.write_batch(_batch(schema, part))
            yield sink.take()
    yield sink.take()


def parquet(result: Result) -> Iterator[bytes]:
    """The rows as a Parquet file, a row group per part; the footer comes last."""
    import pyarrow.parquet as pq

    sink, schema = _Sink(), _schema(result)
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for part in result.parts:
            writer.write_batch(_batch(schema, part))
            yield sink.take()
    yield sink.take()


class _Sink:
    """A write-only file whose content is drained after each part."""

    closed = False

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._position = 0

    def write(self, data: Any) -> int:
        """Buffer some bytes."""
        piece = bytes(data)
        self._waiting.append(piece)
        self._position += len(piece)
        return len(piece)

    def tell(self) -> int:
        """Number of bytes written so far."""
        return self._position

    def flush(self) -> None:
        """No effect; nothing is buffered elsewhere."""

    def close(self) -> None:
        """No effect."""
        self.closed = True

    def take(self) -> bytes:
        """Drain the buffer."""
        taken, self._waiting = self._waiting, []
        return b"".join(taken)


def _schema(result: Result) -> Any:
    import pyarrow as pa

    kinds = [_type(kind) for _, kind in result.types]
    return pa.schema(list(zip(distinct(result.columns), kinds, strict=True)))


def _batch(schema: Any, part: bytes) -> Any:
    import pyarrow as pa

    rows: list[list[Any]] = orjson.loads(part)
    columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [_column(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _column(values: Sequence[Any], arrow_type: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_temporal(arrow_type):
        return pa.array(values, pa.string()).cast(arrow_type)
    if pa.types.is_string(arrow_type):
        return pa.array([_text(value) for value in values], arrow_type)
    if pa.types.is_list(arrow_type):
        lengths = [0, *map(len, values)]
        items = _column([item for value in values for item in value], arrow_type.value_type)
        return pa.ListArray.from_arrays(list(accumulate(lengths)), items, arrow_type)
    if pa.types.is_floating(
        arrow_type
    ):  # orjson writes 1e17 without a decimal point, so it parses as an integer
        values = [None if value is None else float(value) for value in values]
    return pa.array(values, arrow_type)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode() if isinstance(value, list | dict | bool) else str(value)


def _type(kind: str) -> Any:
    """The Arrow type of a ClickHouse type, e.g. ``Nullable(UInt64)`` → ``uint64``."""
    import pyarrow as pa

    while inner := _INNER.fullmatch(kind):
        kind = inner[1]
    if kind.startswith("DateTime"):
        return pa.timestamp("us", tz="UTC")
    if kind in _NAMES:
        return getattr(pa, _NAMES[kind])()
    items = _ARRAY.fullmatch(kind)
    if items and not items[1].startswith(("Array", "Tuple", "Map", "JSON")):
        return pa.list_(_type(items[1]))
    return pa.string()
