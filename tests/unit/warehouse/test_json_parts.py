"""Results in parts: the rows are the same wherever parts begin, in memory and in a file."""

import operator
import tempfile
from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from hoglet.warehouse import json_parts
from hoglet.warehouse.errors import QueryTooCostly, WarehouseDown
from hoglet.warehouse.json_parts import JsonParts, JsonPartsWriter

ROWS = [[number, "x,\n[" * (number % 50), None] for number in range(1000)]
SEPARATORS = (b"\n", b",\n\t\t")


def written(rows: Sequence[Any], separator: bytes) -> bytes:
    return separator.join(map(orjson.dumps, rows))


def rows_of(parts: JsonParts) -> list[Any]:
    in_parts = [row for part in parts for row in orjson.loads(part)]
    whole = b"".join(parts.pieces())
    assert orjson.loads(whole) == in_parts
    assert parts.total_bytes == len(whole)
    assert len(parts) == len(list(parts)) > 0
    return in_parts


@pytest.fixture(params=["memory", "file"])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(json_parts, "PART_BYTES", 700)
    if request.param == "file":
        monkeypatch.setattr(json_parts, "HELD_BYTES", 5_000)
    return request.param


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("step", [1, 7, 999, 1000])
def test_all_rows_are_kept_in_order(where: str, separator: bytes, step: int) -> None:
    writer = JsonPartsWriter(None, 10**9)
    for start in range(0, len(ROWS), step):
        writer.add(written(ROWS[start : start + step], separator), separator)
    parts = writer.finish()

    assert (rows_of(parts), writer.count) == (ROWS, len(ROWS))
    assert len(parts) > 1
    assert list(parts) == list(parts), "parts can be read again"


@pytest.mark.parametrize("most", [0, 1, 6, 7, 8, 500, 999, 1000, 1001])
def test_rows_beyond_the_page_are_counted_and_dropped(where: str, most: int) -> None:
    writer = JsonPartsWriter(most, 10**9)
    for start in range(0, len(ROWS), 7):
        writer.add(written(ROWS[start : start + 7], b"\n"), b"\n")

    assert (rows_of(writer.finish()), writer.count) == (ROWS[:most], len(ROWS))


def test_the_digest_does_not_depend_on_where_parts_begin(where: str) -> None:
    digests = set[bytes]()
    for step in (1, 13, 1000):
        writer = JsonPartsWriter(None, 10**9)
        for start in range(0, len(ROWS), step):
            writer.add(written(ROWS[start : start + step], b"\n"), b"\n")
        digests.add(writer.finish().digest())

    assert digests == {JsonParts((orjson.dumps(ROWS),)).digest()}
    assert JsonParts((orjson.dumps(ROWS[1:]),)).digest() not in digests


@pytest.mark.parametrize("most", [None, 1, 3])
def test_a_separator_after_the_last_row_is_not_a_row(most: int | None) -> None:
    writer = JsonPartsWriter(most, 10**9)
    writer.add(b"[1]\n[2]\n", b"\n")
    writer.add(b"[3]\n", b"\n")

    assert (rows_of(writer.finish()), writer.count) == ([[1], [2], [3]][:most], 3)


def test_rows_are_joined_without_being_copied() -> None:
    writer = JsonPartsWriter(None, 10**9)
    for start in (0, 500):
        writer.add(written(ROWS[start : start + 500], b"\n"), b"\n")
    parts = writer.finish()

    once, again = list(parts.pieces()), list(parts.pieces())
    assert all(map(operator.is_, once, again))


@pytest.mark.parametrize("text", [b"{}", b'{"bins":[]}', b"[]", b"[1]", b"null"])
def test_one_text_is_kept_as_it_is(text: bytes) -> None:
    parts = JsonParts((text,))
    assert (list(parts), list(parts.pieces()), parts.total_bytes) == ([text], [text], len(text))


def test_no_rows_are_an_empty_array() -> None:
    parts = JsonPartsWriter(None, 10).finish()
    assert (list(parts), b"".join(parts.pieces()), parts.total_bytes) == ([b"[]"], b"[]", 2)


def test_too_many_bytes_are_refused_whether_the_rows_are_kept_or_not(where: str) -> None:
    rows = written(ROWS[:100], b"\n")
    writer = JsonPartsWriter(1, 2 * len(rows))
    writer.add(rows, b"\n")
    writer.add(rows, b"\n")

    with pytest.raises(QueryTooCostly):
        writer.add(b"[1]", b"\n")


def test_a_file_that_cannot_be_written_is_an_error_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_parts, "HELD_BYTES", 10)
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nothing")

    with pytest.raises(WarehouseDown, match="TMPDIR"):
        JsonPartsWriter(None, 10**9).add(b"[1,2,3,4,5,6,7]", b"\n")
