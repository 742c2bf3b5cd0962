"""Reads rows of Parquet files, a batch at a time."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

MAGIC = b"PAR1"
_ROWS = 2000


def parquet_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file as plain data, with the share of the file that was read, in bytes.

    Times are ISO 8601 texts, in UTC where the column has no zone.

    Raises:
        OSError, ValueError: it cannot be read, or is no Parquet file.
    """
    import pyarrow.parquet as pq

    size, done = path.stat().st_size, 0
    with pq.ParquetFile(path) as file:
        total = max(file.metadata.num_rows, 1)
        for batch in file.iter_batches(batch_size=_ROWS):
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
        return int(value) if value == value.to_integral_value() else float(value)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
