"""HogQL statements and insight bodies as users write them, with results computed in plain Python.

The format is in ``tests/conformance/statements/README.md``. The expectations see the events of
``hogql_generated`` and the names in ``NAMES``, but nothing of hoglet.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID
from zoneinfo import ZoneInfo

from support.hogql_generated import EVENTS, GENERATED, NOW, PEOPLE, Seen
from support.hogql_reference import percentile

FOLDER = Path(__file__).parent.parent / "conformance" / "statements"
_HEAD = re.compile(r"-- (case|zone|rows|ordered|shows)(?:: | )?(.*)")


ORDERED = sorted(EVENTS, key=lambda event: event.at)
"""The events in the order of time."""


@dataclass
class Statement:
    """A query, how to read its result, and the Python expression that it must equal."""

    name: str
    query: str = ""
    zone: str = "UTC"
    is_ordered: bool = False
    shows: str = ""
    python: str = ""

    def __repr__(self) -> str:
        return self.name

    @property
    def insight(self) -> dict[str, Any] | None:
        """The body, if the query is an insight."""
        return json.loads(self.query) if self.query.startswith("{") else None

    def expected(self) -> Any:
        """The result that plain Python computes."""
        return eval(f"(\n{self.python}\n)", dict(NAMES))  # noqa: S307 (our own test data)

    def compared(self, answer: Any) -> Any:
        """The part of an insight's response that is compared."""
        return eval(self.shows, NAMES | {"answer": answer})  # noqa: S307 (our own test data)


def read_statements() -> list[Statement]:
    """Every statement of the folder.

    Raises:
        ValueError: a statement has no query or no expectation.
    """
    statements = [each for path in sorted(FOLDER.glob("*.sql")) for each in _read(path)]
    for each in statements:
        if not each.query or not each.python:
            raise ValueError(f"{each.name} expects nothing")
    return statements


def _read(path: Path) -> list[Statement]:
    statements: list[Statement] = []
    target = "query"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        head = _HEAD.match(line)
        if head is None:
            if statements and line.strip():
                setattr(
                    statements[-1], target, f"{getattr(statements[-1], target)}\n{line}".strip()
                )
        elif head[1] == "case":
            statements.append(Statement(f"{path.stem}:{number} {head[2]}"))
            target = "query"
        elif head[1] == "zone":
            statements[-1].zone = head[2]
        else:
            statements[-1].is_ordered = head[1] == "ordered"
            statements[-1].shows = head[2]
            target = "python"
    return statements


def by(key: Callable[[Any], Any], rows: Iterable[Any] = ORDERED) -> dict[Any, list[Any]]:
    """Group rows by a key."""
    groups: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(groups)


def named(*names: str) -> list[Seen]:
    """Events with these names, ordered by time."""
    return [event for event in ORDERED if event.event in names]


def seconds(first: datetime, last: datetime) -> int:
    """The difference of whole seconds, as ``dateDiff('second', …)`` counts it."""
    return int(last.timestamp()) - int(first.timestamp())


def path_of(seen: Seen) -> str:
    """The path of the event's page."""
    return urlsplit(seen.properties.get("$current_url", "")).path


def total(values: Iterable[float | None]) -> float | None:
    """The sum of the present values; None if there are none."""
    there = [value for value in values if value is not None]
    return sum(there) if there else None


def between(first: str, last: str, rows: Iterable[Seen] = ORDERED) -> list[Seen]:
    """Events of the days from ``first`` to ``last``, both included."""
    return [event for event in rows if first <= str(event.at.date()) <= last]


def days(first: str, last: str) -> list[str]:
    """The days from ``first`` to ``last``, both included."""
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return [str(start + timedelta(number)) for number in range((end - start).days + 1)]


def daily(
    rows: Iterable[Seen], first: str, last: str, measure: Callable[[list[Seen]], float] = len
) -> list[float]:
    """A measure of the events of each day; 0 without events."""
    groups = by(lambda seen: str(seen.at.date()), rows)
    return [measure(groups[day]) if day in groups else 0 for day in days(first, last)]


def local(seen: Seen, zone: str = "Europe/Berlin") -> datetime:
    """The local time of an event in a zone."""
    return seen.at.astimezone(ZoneInfo(zone))


def humans(rows: Iterable[Seen]) -> int:
    """The number of persons."""
    return len({event.human.id for event in rows})


def steps_done(rows: list[Seen], *names: str, within: timedelta = timedelta(days=14)) -> int:
    """The most steps of a funnel that an actor completes in order, from any first event."""

    def after(start: Seen, last: Seen, left: tuple[str, ...]) -> int:
        later = [
            event
            for event in rows
            if left and event.event == left[0] and last.at < event.at <= start.at + within
        ]
        return 1 + (after(start, later[0], left[1:]) if later else 0)

    return max(
        (after(event, event, names[1:]) for event in rows if event.event == names[0]), default=0
    )


def reached(levels: Iterable[int], steps: int) -> list[int]:
    """The number of actors that completed at least each step."""
    reached_steps = list(levels)
    return [sum(level >= step for level in reached_steps) for step in range(1, steps + 1)]


NAMES: dict[str, Any] = {
    "events": ORDERED,
    "people": PEOPLE,
    "NOW": NOW,
    "UTC": UTC,
    "Counter": Counter,
    "by": by,
    "named": named,
    "get": lambda seen, key="price": seen.properties.get(key),
    "day": lambda seen: str(seen.at.date()),
    "uuid_of": lambda seen: str(UUID(int=GENERATED * 10**6 + seen.number)),
    "path_of": path_of,
    "total": total,
    "seconds": seconds,
    "percentile": percentile,
    "between": between,
    "days": days,
    "daily": daily,
    "local": local,
    "humans": humans,
    "steps_done": steps_done,
    "reached": reached,
    "mean": mean,
    "median": median,
    "pairwise": pairwise,
    "date": date,
    "datetime": datetime,
    "timedelta": timedelta,
}
"""Everything that an expectation may use besides Python's own functions."""
