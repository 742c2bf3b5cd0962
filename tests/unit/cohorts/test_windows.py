"""The periods of cohort criteria around changes of clocks."""

from datetime import UTC, datetime

from hoglet.cohorts.criteria.model import Behavior, BehaviorKind
from hoglet.cohorts.criteria.windows import period_starts
from hoglet.kit.relative_dates import DateClock


def test_days_before_a_day_without_midnight_begin_at_midnight() -> None:
    """Clocks of Santiago skip the first hour of September 6."""
    leaf = Behavior(
        negation=False,
        value=BehaviorKind.REGULARLY,
        key="e",
        event_type="events",
        event_filters=[],
        time_value=1,
        time_interval="week",
        total_periods=2,
    )
    clock = DateClock(datetime(2026, 9, 6, 12, tzinfo=UTC), "America/Santiago")

    starts = period_starts(leaf, clock)

    assert [f"{each:%m-%d %H}" for each in starts] == ["09-06 01", "08-30 00", "08-23 00"]
