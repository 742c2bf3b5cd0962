"""Times of events as programs and filters see them."""

from datetime import UTC, datetime

import pytest

from hoglet.pipeline.ingest.transform import iso

DAY = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("microsecond", "expected"),
    [
        (0, "2026-01-02T03:04:05.000000Z"),
        (120_000, "2026-01-02T03:04:05.120000Z"),
        (7, "2026-01-02T03:04:05.000007Z"),
    ],
)
def test_times_always_have_six_decimals(microsecond: int, expected: str) -> None:
    assert iso(DAY.replace(microsecond=microsecond)) == expected


def test_the_first_and_the_last_time_are_padded() -> None:
    assert iso(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000000Z"
    last = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert iso(last) == "9999-12-31T23:59:59.999999Z"
