"""Parsing timestamps of parameters."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from hoglet.kit.clock import parse_instant

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-01-05T12:00:00Z", NOON),
        ("2026-01-05T17:30:00+05:30", NOON),
        ("2026-01-05T17:30:00 05:30", NOON),  # a plus that a query string turned into a blank
        ("2026-01-05T17:30:00.000 0530", NOON),
        ("2026-01-05T12:00:00 00:00", NOON),
        ("2026-01-05 12:00:00", NOON),
        ("2026-01-05 00:00:00", NOON.replace(hour=0)),
        ("2026-01-05 00:00", NOON.replace(hour=0)),
        ("2026-01-05", NOON.replace(hour=0)),
    ],
)
def test_what_is_understood(text: str, instant: datetime):
    assert parse_instant(text) == instant


def test_a_zone_is_taken_for_texts_without_an_offset():
    zone = ZoneInfo("America/New_York")
    assert parse_instant("2026-01-05", zone) == NOON.replace(hour=5)
    assert parse_instant("2026-01-05T12:00:00Z", zone) == NOON


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "0001-01-01T00:00:00+23:00"])
def test_what_is_not(text: str):
    assert parse_instant(text) is None
