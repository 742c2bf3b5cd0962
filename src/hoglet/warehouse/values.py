"""How rows are written into inserted blocks."""

from collections.abc import Sequence
from typing import Any

import orjson

BLOCK_FORMAT = "JSONCompactEachRow"


def encode_block(rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as JSONCompactEachRow; times as ISO text, which ClickHouse reads as ``best_effort``.

    Measured on blocks of 5000 events with a JSON column: this way 55 ms, Native 60 ms, Arrow
    50 ms but 1.2 s on the first call.
    """
    return b"\n".join([orjson.dumps(tuple(row), default=str) for row in rows])
