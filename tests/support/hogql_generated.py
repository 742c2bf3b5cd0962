"""A generated project for insights: persons with several ids, merges, groups, sessions.

Three weeks around the day on which Europe sets its clocks back (25 October 2026), a few days
around the one on which it sets them forward (29 March 2026). ``EVENTS`` is what plain Python
computes with; ``fill`` inserts the same into the warehouse. Results must never contain rows of
``STRANGER``.
"""

import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hoglet.hogql import Limits, QueryContext
from hoglet.hogql.context import CohortRef
from hoglet.warehouse import ClickHouseWarehouse

GENERATED = 880_010
STRANGER = 880_011
NOW = datetime(2026, 11, 2, 15, 30, tzinfo=UTC)
AUTUMN = datetime(2026, 10, 13, tzinfo=UTC)
SPRING = datetime(2026, 3, 27, tzinfo=UTC)
_PEOPLE = 40
_NAMES = ("$pageview", "$pageview", "$pageview", "signed_up", "added", "paid", "$screen")
_PAGES = ("/", "/pricing", "/docs/", "/docs/a", "/docs/b", "/blog", "/user/1", "/user/2")

CONTEXT = QueryContext(
    project_id=GENERATED,
    now=NOW,
    group_types={"company": 0},
    actions={
        "1": {
            "name": "Bought",
            "steps": [
                {"event": "paid"},
                {"event": "added", "properties": [{"key": "price", "value": 50, "operator": "gt"}]},
            ],
        }
    },
    cohorts={"1": CohortRef("Odd", 1), "2": CohortRef("Even", 1)},
    property_types={("event", "price"): "Numeric", ("event", "returning"): "Boolean"},
    test_account_filters=(
        {"key": "email", "type": "person", "operator": "not_icontains", "value": "@test.com"},
    ),
    limits=Limits(max_limit=None),
)


@dataclass(frozen=True)
class Human:
    """A person, its distinct ids, and its id in the warehouse."""

    id: str
    ids: tuple[str, ...]
    merged: tuple[str, ...]
    created_at: datetime
    properties: dict[str, Any]
    company: str


@dataclass(frozen=True)
class Seen:
    """One event with the values that insights read."""

    number: int
    event: str
    at: datetime
    distinct_id: str
    human: Human
    session: str
    company: str
    properties: dict[str, Any] = field(hash=False)

    @property
    def stored_person(self) -> str:
        """The person that owned the distinct id when the event arrived."""
        if self.distinct_id in self.human.merged:
            return str(UUID(int=0xABC000 + hash_of(self.distinct_id)))
        return self.human.id


def hash_of(text: str) -> int:
    """A small number derived from a text; the same in every run."""
    return sum(ord(char) * (index + 1) for index, char in enumerate(text))


def _human(number: int, draw: random.Random) -> Human:
    ids = tuple(f"d{number}_{index}" for index in range(draw.randint(1, 3)))
    properties: dict[str, Any] = {
        "email": f"u{number}@{draw.choice(['a.com', 'b.com', 'test.com'])}"
    }
    if draw.random() < 0.7:
        properties["plan"] = draw.choice(["free", "pro", "team"])
    created = AUTUMN + timedelta(seconds=draw.randint(-10 * 86_400, 20 * 86_400))
    company = draw.choice(["acme", "globex", "initech", ""])
    return Human(str(UUID(int=0xAAA000 + number)), ids, ids[1:], created, properties, company)


def _events(draw: random.Random, humans: list[Human]) -> list[Seen]:
    events: list[Seen] = []
    number = 0
    for human in humans:
        for visit in range(draw.randint(1, 9)):
            spring = draw.random() < 0.12
            start, days = (SPRING, 5) if spring else (AUTUMN, 21)
            at = start + timedelta(seconds=draw.randint(0, days * 86_400))
            distinct_id = draw.choice(human.ids)
            session = f"s{human.id[-3:]}_{visit}" if draw.random() < 0.85 else ""
            browser = draw.choice(["Chrome", "Firefox", "Safari", "Edge", None])
            for _ in range(draw.randint(1, 9)):
                number += 1
                at += timedelta(seconds=draw.choice([20, 90, 600, 2400]), microseconds=number)
                events.append(_event(draw, human, number, (at, distinct_id, session, browser)))
    return events


def _event(draw: random.Random, human: Human, number: int, visit: tuple[Any, ...]) -> Seen:
    at, distinct_id, session, browser = visit
    name = draw.choice(_NAMES)
    properties: dict[str, Any] = {}
    if browser is not None:
        properties["$browser"] = browser
    if name in {"added", "paid"} and draw.random() < 0.8:
        properties["price"] = draw.choice([1, 2.5, 10, 99.5, 200])
    if name == "$pageview":
        properties["$pathname"] = draw.choice(_PAGES)
        properties["$current_url"] = f"https://x.com{properties['$pathname']}"
    if name == "$screen":
        properties["$screen_name"] = draw.choice(["Home", "Cart"])
    if draw.random() < 0.5:
        properties["returning"] = draw.random() < 0.5
    properties["country"] = f"C{draw.randint(0, 39):02}"
    properties |= _more(name, number)
    company = human.company if draw.random() < 0.7 else ""
    return Seen(number, name, at, distinct_id, human, session, company, properties)


def _more(name: str, number: int) -> dict[str, Any]:
    """Properties derived from the number: lists, objects, a campaign tag."""
    properties: dict[str, Any] = {"$os": ("Mac", "Windows", "iOS")[number % 3]}
    properties["$device_type"] = "Mobile" if number % 3 == 2 else "Desktop"
    properties["$lib_version"] = f"1.{number % 12}.{number % 2}"
    if number % 7:
        properties["$feature/new-ui"] = ("control", "test", True)[number % 3]
    if number % 5 == 0:
        properties["utm_source"] = "news"
    if name == "paid":
        properties["items"] = [
            {"sku": f"k{(number + index) % 4}", "qty": 1 + index} for index in range(number % 3)
        ]
    if name == "signed_up":
        properties["meta"] = {
            "app": {"version": f"1.{number % 4}.0"},
            "tags": ["new", f"t{number % 2}"],
        }
    return properties


_DRAW = random.Random(20_261_025)  # noqa: S311 (test data)
PEOPLE = [_human(number, _DRAW) for number in range(_PEOPLE)]
EVENTS = _events(_DRAW, PEOPLE)

_EVENT_COLUMNS = [
    "project_id", "uuid", "event", "properties", "timestamp", "distinct_id", "person_id",
    "created_at", "$session_id", "$group_0",
]  # fmt: skip


def _row(project: int, seen: Seen) -> list[Any]:
    return [
        project, str(UUID(int=project * 10**6 + seen.number)), seen.event,
        json.dumps(seen.properties), seen.at, seen.distinct_id, seen.stored_person, seen.at,
        seen.session, seen.company,
    ]  # fmt: skip


async def fill(warehouse: ClickHouseWarehouse) -> None:
    """Insert the project and another project's copy of it into the warehouse."""
    for project in (GENERATED, STRANGER):
        await warehouse.insert("events", _EVENT_COLUMNS, [_row(project, each) for each in EVENTS])
    await warehouse.insert(
        "persons",
        ["project_id", "id", "created_at", "properties", "is_identified", "is_deleted", "version"],
        [
            [GENERATED, each.id, each.created_at, json.dumps(each.properties), 1, 0, 1]
            for each in PEOPLE
        ],
    )
    ids = [(human, distinct_id) for human in PEOPLE for distinct_id in human.ids]
    columns = ["project_id", "distinct_id", "person_id", "is_deleted", "version"]
    await warehouse.insert(
        "person_distinct_ids", columns, [[GENERATED, alias, human.id, 0, 1] for human, alias in ids]
    )
    merged = [[GENERATED, alias, human.id, 0, 1] for human, alias in ids if alias in human.merged]
    await warehouse.insert("person_distinct_id_overrides", columns, merged)
    await warehouse.insert(
        "groups",
        ["project_id", "index", "key", "created_at", "updated_at", "properties", "version"],
        [[GENERATED, 0, key, AUTUMN, AUTUMN, json.dumps({"size": size}), 1]
         for key, size in (("acme", 10), ("globex", 200))],
    )  # fmt: skip
    await warehouse.insert(
        "cohort_members",
        ["project_id", "cohort_id", "person_id", "calculation_id"],
        [[GENERATED, 1 + index % 2, human.id, 1] for index, human in enumerate(PEOPLE[:30])],
    )
