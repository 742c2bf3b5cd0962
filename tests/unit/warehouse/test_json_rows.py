"""Results that the engine writes as JSON: complete ones are read, aborted ones are errors."""

import pytest

from hoglet.kit.errors import HogletError
from hoglet.warehouse.errors import QueryRefused, WarehouseDown
from hoglet.warehouse.json_parts import JsonPartsWriter
from hoglet.warehouse.json_rows import block_rows, read_rows

HEAD = b'{\n\t"meta":\n\t[\n\t\t{\n\t\t\t"name": "n",\n\t\t\t"type": "UInt8"\n\t\t}\n\t],\n'
DATA = b'\n\t"data":\n\t[\n\t\t[1],\n\t\t[2]\n\t],\n'
STATISTICS = b'\n\t"statistics":\n\t{\n\t\t"elapsed": 0.5,\n\t\t"rows_read": 7\n\t}\n}\n'
EXCEPTION = b'\n\t"exception": "Code: 395. DB::Exception: Value is non-zero. (FUNCTION_THROW)"\n}\n'


def read(body: bytes):
    return read_rows(body, [], JsonPartsWriter(None, 10_000))


def test_rows_and_what_they_cost() -> None:
    rows = read(HEAD + DATA + b'\n\t"rows": 2,\n' + STATISTICS)

    assert b"".join(rows.parts.pieces()) == b"[[1],[2]]"
    assert (rows.count, rows.statistics.rows_read, rows.statistics.seconds) == (2, 7, 0.5)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(HEAD + DATA + EXCEPTION, QueryRefused, id="without a count"),
        pytest.param(
            HEAD + DATA + b'\n\t"rows": 2,\n' + EXCEPTION, QueryRefused, id="after all its rows"
        ),
        pytest.param(
            HEAD + DATA + b"\n\tCode: 395. DB::Exception: x", QueryRefused, id="not as JSON"
        ),
        pytest.param(HEAD + DATA + b'\n\t"rows": 3,\n' + STATISTICS, WarehouseDown, id="cut off"),
        pytest.param(HEAD + DATA[:-12], WarehouseDown, id="cut off within the rows"),
        pytest.param(b"", WarehouseDown, id="empty"),
    ],
)
def test_an_aborted_result_is_an_error(body: bytes, kind: type[HogletError]) -> None:
    with pytest.raises(kind):
        read(body)


def test_results_of_more_than_ten_thousand_rows_are_read_in_small_blocks() -> None:
    assert [block_rows(most) for most in (None, 10_001, 50_000)] == [1_024] * 3
    assert [block_rows(most) for most in (1, 10_000)] == [None, None]
