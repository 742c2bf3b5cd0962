"""Dates are read from texts and moved by arithmetic as the calendar says."""

import pytest

from hoglet.hog.python.run_to_end import run_program


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024-02-29", "2024-02-29T00:00:00.000Z"),
        ("2023-02-29", "null"),
        ("2024-05-03t12:34", "2024-05-03T12:34:00.000Z"),
        ("2024-05-03 12:34:56,7", "2024-05-03T12:34:56.700Z"),
        ("2024-05-03T12:34:56.123999999Z", "2024-05-03T12:34:56.123Z"),
        ("2024-05-03T12:34:56z", "2024-05-03T12:34:56.000Z"),
        ("2024-05-03T12:34:56-0330", "2024-05-03T16:04:56.000Z"),
        ("2024-05-03T24:00:00", "null"),
        ("2024-05-03T23:60", "null"),
        ("0000-01-01", "null"),
        ("0001-01-01T00:00:00+01", "null"),
        ("20240503", "null"),
        ("2024-W18-5", "null"),
        ("2024-05-03T12", "null"),
    ],
)
def test_a_text_as_a_date(text: str, iso: str) -> None:
    assert run_program(f"print(toString(toDateTime('{text}')))").lines == [iso]


@pytest.mark.parametrize(
    ("moved", "iso"),
    [
        ("'day', 3, toDateTime('2024-02-28 10:00:00')", "2024-03-02T10:00:00.000Z"),
        ("'week', -1, toDateTime('2024-01-03 10:00:00.250')", "2023-12-27T10:00:00.250Z"),
        ("'hour', 1.5, toDateTime('2024-01-03')", "2024-01-03T01:30:00.000Z"),
        ("'day', 1, toDateTime('2024-03-30', 'Europe/Paris')", "2024-03-31T00:00:00.000+01:00"),
        ("'month', 1, toDateTime('2024-01-31')", "2024-02-29T00:00:00.000Z"),
        ("'month', 1, toDateTime('2024-01-28')", "2024-02-28T00:00:00.000Z"),
        ("'second', 1000000000000, toDateTime('2024-01-01')", "null"),
        ("'day', 1, toDate('2024-12-31')", "2025-01-01"),
    ],
)
def test_a_date_moved(moved: str, iso: str) -> None:
    assert run_program(f"print(toString(dateAdd({moved})))").lines == [iso]


def test_an_unknown_unit_ends_the_run() -> None:
    error = run_program("print(dateAdd('fortnight', 1, toDateTime('2024-01-01')))").error

    assert error is not None
    assert error.text == "Unsupported interval unit: fortnight"
