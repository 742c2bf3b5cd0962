"""The expected results of the endpoints, computed in plain Python from the same rows."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from hoglet.demo.flights import Departure

LATE_MINUTES = 300  # about 600 departures of the year: enough to watch, quick to deliver


class DemoFigures(msgspec.Struct, frozen=True):
    """``carrier_delay["UA"] == (departures, mean delay, mean speed)``; ``daily[day] == count``."""

    accepted: int
    cancelled: int
    late: int
    carrier_delay: dict[str, tuple[int, float, float]]
    daily: dict[str, int]

    @property
    def stored(self) -> int:
        """Events that pass the transformation."""
        return self.accepted - self.cancelled


def compute_figures(departures: Iterable[Departure], *, origin: str) -> DemoFigures:
    """Count and average once over all rows; ``carrier_delay`` is for one ``origin`` only."""
    accepted = cancelled = late = 0
    delays: dict[str, list[float]] = defaultdict(list)
    speeds: dict[str, list[float]] = defaultdict(list)
    daily: dict[str, int] = defaultdict(int)
    for departure in departures:
        accepted += 1
        if departure.dep_delay is None:
            cancelled += 1
            continue
        late += departure.dep_delay >= LATE_MINUTES
        daily[departure.scheduled.date().isoformat()] += 1
        if departure.origin == origin:
            delays[departure.carrier].append(departure.dep_delay)
            if departure.air_time:
                speed = departure.distance / (departure.air_time / 60)
                speeds[departure.carrier].append(speed)
    carriers = {
        carrier: (len(values), _mean(values), _mean(speeds[carrier]))
        for carrier, values in sorted(delays.items())
    }
    return DemoFigures(accepted, cancelled, late, carriers, dict(sorted(daily.items())))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
