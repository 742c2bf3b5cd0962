"""Relative date cases from ``tests/conformance/dates/relative.yaml``, and invalid dates."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hoglet.kit.relative_dates import DateClock
from support.yaml_tables import read_table

TABLE = Path(__file__).parent.parent / "conformance" / "dates" / "relative.yaml"

REFUSED = [
    "-7days",
    "-7dd", "-1D", "-2H", "1W", "-1Q", "-1Y", "yesterday", "7", "-7", "+", "-", "Start", "dStart1",
    "dstart", "mEND", "mStartEnd", "-7 d", " -7d", "-7d ", "-7d\n", "--7d", "-+7d", "-1.5d",
    "-\u0661d", "2026-13-01", "2026-02-30", "2026-01", "2026", "20260105", "2026-W01-1",
    "2026-01-05T",
    "2026-01-05T25:00", "2026-01-05T10:60", "2026-01-05T10:00:61", "2026-01-05T10:00+25:00", "now",
    "0000-01-01", "05/01/2026", "null", "ALL",
]  # fmt: skip
"""Texts that are not dates anywhere. ``all`` and the empty text mean "no bound" in some places."""


@dataclass(frozen=True)
class DateCase:
    """A date text, the current time, and the expected moment; all times are in the zone."""

    text: str
    clock: DateClock
    at: datetime
    starts: datetime
    ends: datetime
    includes_end: bool

    def __repr__(self) -> str:
        week = ", weeks from Monday" if self.clock.week_start_day else ""
        return f"{self.text} at {self.clock.now:%Y-%m-%dT%H:%M}Z in {self.clock.zone}{week}"


def date_cases() -> list[DateCase]:
    """Every case of the table."""
    groups: list[dict[str, Any]] = read_table(TABLE)
    return [_case(group, case) for group in groups for case in group["cases"]]


def _case(group: dict[str, Any], case: dict[str, Any]) -> DateCase:
    zone = ZoneInfo(group["zone"])
    clock = DateClock(
        datetime.fromisoformat(group["now"]), group["zone"], group.get("week_start_day", 0)
    )
    ends = case.get("to", case["at"])
    return DateCase(
        case["text"],
        clock,
        _moment(case["at"], zone),
        _moment(case.get("from", case["at"]), zone),
        _moment(ends.removesuffix(" !"), zone),
        not ends.endswith(" !"),
    )


def _moment(text: str, zone: ZoneInfo) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(zone)
