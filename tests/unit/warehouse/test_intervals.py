"""Chart labels across clock changes (docs/spec/hog-functions.md#94-metrics)."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hoglet.warehouse.telemetry import Interval, labels_between


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("UTC", "2026-01-01"),
        ("America/New_York", "2026-03-08"),  # 2:00 becomes 3:00
        ("America/New_York", "2026-11-01"),  # 2:00 becomes 1:00
        ("Australia/Lord_Howe", "2026-04-05"),  # 2:00 becomes 1:30
        ("Australia/Lord_Howe", "2026-10-04"),  # 2:00 becomes 2:30
        ("Asia/Kathmandu", "2026-01-01"),  # 5:45 ahead
    ],
)
def test_every_minute_of_a_day_has_its_hour_and_labels_are_in_order(zone: str, day: str):
    after = datetime.fromisoformat(f"{day}T00:20").replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    before = after + timedelta(hours=26, minutes=50)
    labels = labels_between(after, before, "hour", zone)

    minutes = [after + timedelta(minutes=n) for n in range(26 * 60 + 51)]
    hours = [at.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:00") for at in minutes]
    assert labels == list(dict.fromkeys(hours))


def test_days_and_weeks_are_those_of_the_zone():
    after = datetime(2026, 11, 1, 3, tzinfo=UTC)  # still Saturday in New York
    before = datetime(2026, 11, 9, 4, 59, tzinfo=UTC)  # still Sunday, of the week after

    days = labels_between(after, before, "day", "America/New_York")
    assert (days[0], days[-1], len(days)) == ("2026-10-31", "2026-11-08", 9)
    assert labels_between(after, before, "week", "America/New_York") == ["2026-10-26", "2026-11-02"]


@pytest.mark.parametrize("interval", ["hour", "day", "week"])
def test_nothing_lies_between_an_instant_and_an_earlier_one(interval: str):
    now = datetime(2026, 1, 15, tzinfo=UTC)
    assert labels_between(now, now - timedelta(days=10), interval, "UTC") == []  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Adak"])
@pytest.mark.parametrize("interval", ["hour", "day", "week"])
@pytest.mark.parametrize("at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_first_and_the_last_instant_have_a_label_in_every_zone(
    at: datetime, interval: Interval, zone: str
) -> None:
    assert len(labels_between(at, at, interval, zone)) == 1


@pytest.mark.parametrize("interval", ["hour", "day", "week"])
@pytest.mark.parametrize("zone", ["UTC", "America/Adak"])
def test_of_a_long_range_the_latest_labels_remain(interval: Interval, zone: str) -> None:
    now = datetime(2026, 1, 15, 12, 20, tzinfo=UTC)
    whole = labels_between(datetime.min.replace(tzinfo=UTC), now, interval, zone)
    recent = labels_between(now - timedelta(days=300), now, interval, zone)

    assert len(whole) == 10_000
    assert whole[-len(recent) :] == recent
