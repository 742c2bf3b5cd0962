from datetime import UTC, datetime

import pytest

from hoglet.hogql.dates import resolve_date

NOW = datetime(2026, 1, 14, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-7d", "2026-01-07 00:00:00"),
        ("-1h", "2026-01-14 14:30:00"),
        ("-2w", "2025-12-31 00:00:00"),
        ("-1m", "2025-12-14 00:00:00"),
        ("-1q", "2025-10-14 00:00:00"),
        ("-1y", "2025-01-14 00:00:00"),
        ("dStart", "2026-01-14 00:00:00"),
        ("mStart", "2026-01-01 00:00:00"),
        ("yStart", "2026-01-01 00:00:00"),
        ("qStart", "2026-01-01 00:00:00"),
        ("wStart", "2026-01-11 00:00:00"),
        ("-1mStart", "2025-12-01 00:00:00"),
        ("-1mEnd", "2025-12-31 23:59:59.999999"),
        ("-1dStart", "2026-01-13 00:00:00"),
        ("2026-01-05", "2026-01-05 00:00:00"),
        ("2026-01-05T10:00:00", "2026-01-05 10:00:00"),
        ("2026-01-05T10:00:00Z", "2026-01-05 10:00:00"),
        ("-99999999999d", "1970-01-01 15:30:00"),
    ],
)
def test_resolves(text: str, expected: str) -> None:
    found = resolve_date(text, NOW, "UTC")

    if text.startswith("-9999"):
        assert str(found) < "1970-01-02"
    else:
        assert str(found).removesuffix("+00:00") == expected


def test_the_end_of_a_range_is_the_end_of_its_day() -> None:
    assert (
        str(resolve_date("2026-01-05", NOW, "UTC", end=True)) == "2026-01-05 23:59:59.999999+00:00"
    )
    assert str(resolve_date("-1d", NOW, "UTC", end=True)) == "2026-01-13 23:59:59.999999+00:00"


def test_days_are_those_of_the_zone() -> None:
    assert str(resolve_date("dStart", NOW, "Asia/Tokyo")) == "2026-01-15 00:00:00+09:00"


@pytest.mark.parametrize("text", ["all", ""])
def test_no_bound(text: str) -> None:
    assert resolve_date(text, NOW, "UTC") is None


@pytest.mark.parametrize("text", ["yesterday", "7", "d", "-7", "2026-13-01", "-7dd"])
def test_refuses(text: str) -> None:
    with pytest.raises(ValueError):
        resolve_date(text, NOW, "UTC")
