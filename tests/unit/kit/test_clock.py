"""Parsing timestamps of parameters, and a clock that does not jump."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hoglet.kit.clock import FixedClock, SteadyClock, parse_instant

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


@pytest.mark.parametrize("jump_s", [-3600, 3600])
def test_a_steady_clock_does_not_jump_with_the_machines(jump_s: int) -> None:
    machine = FixedClock(NOON)
    clock = SteadyClock(machine)
    first = clock.now()

    machine.advance(seconds=jump_s)

    assert NOON <= first <= clock.now() < NOON + timedelta(minutes=1)


def test_a_steady_clock_moves() -> None:
    clock = SteadyClock(FixedClock(NOON))
    first = clock.now()

    while clock.now() == first:
        pass

    assert clock.now() > first
