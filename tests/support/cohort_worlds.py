"""Small random data sets and cohort criteria, with members computed in plain Python."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

type Json = dict[str, Any]

NOW = datetime(2026, 3, 15, 14, 20, 10, 123456, tzinfo=UTC)
ZONE = "America/New_York"
EVENTS = ("view", "buy", "leave")
PLANS = ("free", "pro", None)
_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}


@dataclass
class WorldPerson:
    id: UUID
    plan: str | None
    age: int | None
    created_at: datetime
    is_identified: bool
    events: list[tuple[str, datetime, str]] = field(default_factory=list)
    """Name, time, and the property ``color``."""


@dataclass
class CohortWorld:
    """Persons with their current events; ``members`` are those of saved cohorts."""

    persons: list[WorldPerson]
    strangers: list[tuple[UUID, str, datetime, str]]
    members: dict[int, set[UUID]]
    moved: set[UUID]

    def rows(self, project_id: int) -> dict[str, tuple[list[str], list[list[Any]]]]:
        """The rows for the warehouse; events of merged persons keep the id of the old person."""
        events: list[list[Any]] = []
        overrides: list[list[Any]] = []
        for number, person in enumerate(self.persons):
            distinct_id = f"d{number}"
            stored = UUID(int=person.id.int + 1) if person.id in self.moved else person.id
            if person.id in self.moved:
                overrides.append([project_id, distinct_id, person.id, 0, 1])
            for count, (name, at, color) in enumerate(person.events):
                key = UUID(int=number * 1000 + count + 1)
                bag = json.dumps({"color": color})
                events.append([project_id, key, name, bag, at, distinct_id, stored])
        for number, (owner, name, at, color) in enumerate(self.strangers):
            bag = json.dumps({"color": color})
            events.append(
                [project_id, UUID(int=10**9 + number), name, bag, at, f"s{number}", owner]
            )
        persons = [
            [project_id, member.id, member.created_at, _bag(member), member.is_identified, 0, 1]
            for member in self.persons
        ]
        members = [
            [project_id, cohort, cohort, person, 0, 0]
            for cohort, inside in self.members.items()
            for person in inside
        ]
        return {
            "events": (
                ["project_id", "uuid", "event", "properties", "timestamp", "distinct_id",
                 "person_id"], events),
            "persons": (
                ["project_id", "id", "created_at", "properties", "is_identified", "is_deleted",
                 "version"], persons),
            "person_distinct_id_overrides": (
                ["project_id", "distinct_id", "person_id", "is_deleted", "version"], overrides),
            "cohort_members": (
                ["project_id", "cohort_id", "calculation_id", "person_id", "is_deleted",
                 "revision"], members),
        }  # fmt: skip


def _bag(person: WorldPerson) -> str:
    pairs = {"plan": person.plan, "age": person.age}
    return json.dumps({name: value for name, value in pairs.items() if value is not None})


def random_world(seed: int) -> CohortWorld:
    """Forty persons with up to nine events each in recent weeks, some with equal timestamps."""
    dice = random.Random(seed)  # noqa: S311 (test data)
    moments = [NOW - timedelta(minutes=dice.randrange(1, 60 * 24 * 40)) for _ in range(30)]
    moments += [NOW, NOW - timedelta(days=7), NOW + timedelta(hours=1)]
    moments += [NOW - timedelta(days=7, microseconds=1), NOW - timedelta(days=1)]
    persons = [
        WorldPerson(
            UUID(int=dice.getrandbits(127) | 1 << 126),
            dice.choice(PLANS),
            dice.choice([None, 18, 30, 65]),
            NOW - timedelta(days=dice.randrange(1, 30)),
            dice.random() < 0.5,
            [
                (dice.choice(EVENTS), dice.choice(moments), dice.choice(["red", "blue"]))
                for _ in range(dice.randrange(10))
            ],
        )
        for _ in range(40)
    ]
    strangers = [
        (UUID(int=dice.getrandbits(127)), dice.choice(EVENTS), dice.choice(moments), "red")
        for _ in range(10)
    ]
    members = {
        number: {person.id for person in persons if dice.random() < 0.4} for number in (901, 902)
    }
    moved = {person.id for person in persons if dice.random() < 0.3}
    return CohortWorld(persons, strangers, members, moved)


# --- criteria


def random_criteria(dice: random.Random) -> Json:
    """Criteria that pass the schema's rules on negation; groups up to three deep."""
    return {"properties": _group(dice, 0)}


def _group(dice: random.Random, depth: int) -> Json:
    values = [
        _group(dice, depth + 1) if depth < 2 and dice.random() < 0.3 else random_leaf(dice)
        for _ in range(dice.randrange(1, 4))
    ]
    positive = random_leaf(dice) | {"negation": False}
    return {"type": dice.choice(["AND", "OR"]), "values": [*values, positive]}


def random_leaf(dice: random.Random) -> Json:
    """A criterion of any kind."""
    leaf = dice.choice([_person, _metadata, _cohort, *[_behavioral] * 7])(dice)
    return leaf | {"negation": dice.random() < 0.3}


def _person(dice: random.Random) -> Json:
    return dice.choice(
        [
            {"type": "person", "key": "plan", "value": "pro", "operator": "exact"},
            {"type": "person", "key": "plan", "value": "r", "operator": "icontains"},
            {"type": "person", "key": "plan", "operator": "is_not_set"},
            {"type": "person", "key": "age", "value": 30, "operator": "gte"},
        ]
    )


def _metadata(dice: random.Random) -> Json:
    return dice.choice(
        [
            {"type": "person_metadata", "key": "is_identified", "value": True},
            {"type": "person_metadata", "key": "created_at", "value": "-10d",
             "operator": "is_date_after"},
            {"type": "person_metadata", "key": "last_seen_at", "value": "-7d",
             "operator": "is_date_before"},
        ]
    )  # fmt: skip


def _cohort(dice: random.Random) -> Json:
    return {"type": "cohort", "key": "id", "value": dice.choice([901, 902])}


def _behavioral(dice: random.Random, value: str | None = None) -> Json:
    value = value or dice.choice(list(_BEHAVIOR))
    leaf: Json = {"type": "behavioral", "value": value, "key": dice.choice(EVENTS)}
    interval = dice.choice(list(_UNITS))
    most = {"minute": 60 * 24 * 20, "hour": 24 * 20, "day": 20, "week": 4}[interval]
    leaf |= {"time_value": dice.randrange(1, most), "time_interval": interval}
    if dice.random() < 0.2:
        leaf |= {"time_value": 7, "time_interval": "day"}
    if dice.random() < 0.2:
        leaf["event_filters"] = [{"key": "color", "value": "red", "type": "event"}]
    if value == "performed_event_multiple":
        sign = dice.choice(["gte", "lte", "gt", "lt", "eq", "exact"])
        leaf |= {"operator": sign, "operator_value": dice.randrange(1, 4)}
    if value == "performed_event_sequence":
        leaf["seq_event"] = dice.choice(EVENTS)
    if value in {
        "performed_event_sequence", "stopped_performing_event", "restarted_performing_event"
    }:  # fmt: skip
        leaf |= {"seq_time_value": dice.randrange(1, 8), "seq_time_interval": "day"}
    if value == "performed_event_regularly":
        leaf |= {"time_value": dice.randrange(1, 4), "time_interval": dice.choice(["day", "week"])}
        leaf |= {"min_periods": dice.randrange(1, 4), "total_periods": dice.randrange(4, 7)}
    return leaf


def behavioral_leaf(dice: random.Random, value: str) -> Json:
    """A criterion with one behavioral value."""
    return _behavioral(dice, value) | {"negation": False}


# --- members in plain Python


def members_of(criteria: Json, world: CohortWorld) -> set[UUID]:
    """The persons that match the criteria."""
    return {person.id for person in world.persons if _holds(criteria["properties"], person, world)}


def _holds(node: Json, person: WorldPerson, world: CohortWorld) -> bool:
    if "values" in node:
        join = all if node["type"] == "AND" else any
        return join(_holds(each, person, world) for each in node["values"])
    holds = _LEAVES[node["type"]](node, person, world)
    return holds != bool(node.get("negation"))


def _holds_person(leaf: Json, person: WorldPerson, _world: CohortWorld) -> bool:
    match leaf["key"], leaf["operator"]:
        case "plan", "exact":
            return person.plan == leaf["value"]
        case "plan", "icontains":
            return person.plan is not None and leaf["value"] in person.plan
        case "plan", _:
            return person.plan is None
        case _:
            return person.age is not None and person.age >= leaf["value"]


def _holds_metadata(leaf: Json, person: WorldPerson, _world: CohortWorld) -> bool:
    if leaf["key"] == "is_identified":
        return person.is_identified
    if leaf["key"] == "created_at":
        return _second(person.created_at) > _second(NOW - timedelta(days=10))
    last = max((at for _, at, _ in person.events), default=None)
    # 7 days on the wall clock of New York, where one of them had 23 hours
    edge = NOW - timedelta(days=7) + (timedelta(hours=1) if _springs(7) else timedelta())
    return last is not None and _second(last) < _second(edge)


def _holds_cohort(leaf: Json, person: WorldPerson, world: CohortWorld) -> bool:
    return person.id in world.members[leaf["value"]]


def _holds_behavior(leaf: Json, person: WorldPerson, _world: CohortWorld) -> bool:
    colors = {"red"} if leaf.get("event_filters") else {"red", "blue"}
    mine = [at for name, at, color in person.events if name == leaf["key"] and color in colors]
    return _BEHAVIOR[leaf["value"]](leaf, mine, person)


_LEAVES: dict[str, Callable[[Json, WorldPerson, CohortWorld], bool]] = {
    "person": _holds_person,
    "person_metadata": _holds_metadata,
    "cohort": _holds_cohort,
    "behavioral": _holds_behavior,
}
_SIGNS: dict[str, Callable[[int, int], bool]] = {
    "gte": lambda count, bound: count >= bound,
    "lte": lambda count, bound: count <= bound,
    "gt": lambda count, bound: count > bound,
    "lt": lambda count, bound: count < bound,
    "eq": lambda count, bound: count == bound,
    "exact": lambda count, bound: count == bound,
}


def _back(moment: datetime, count: int, unit: str) -> datetime:
    """Hours are elapsed time, days are days of the wall clock in New York."""
    if unit in {"minute", "hour"}:
        return moment - _UNITS[unit] * count
    zone = ZoneInfo(ZONE)
    wall = moment.astimezone(zone).replace(tzinfo=None) - _UNITS[unit] * count
    return wall.replace(tzinfo=zone).astimezone(UTC)


def _springs(days: int) -> bool:
    return _back(NOW, days, "day") != NOW - timedelta(days=days)


def _second(moment: datetime) -> datetime:
    return moment


def _start(leaf: Json) -> datetime:
    return _back(NOW, leaf["time_value"], leaf["time_interval"])


def _span(leaf: Json) -> datetime:
    return _back(NOW, leaf["seq_time_value"], leaf["seq_time_interval"])


def _inside(leaf: Json, mine: list[datetime]) -> list[datetime]:
    return [at for at in mine if _start(leaf) <= at <= NOW]


def _regularly(leaf: Json, mine: list[datetime], _person: WorldPerson) -> bool:
    zone = ZoneInfo(ZONE)
    today = NOW.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    step, unit = leaf["time_value"], leaf["time_interval"]
    edges = [_back(today, step * count, unit) for count in range(leaf["total_periods"] + 1)]
    pairs = list(zip(edges[1:], edges, strict=False))
    return sum(any(low <= at < high for at in mine) for low, high in pairs) >= leaf["min_periods"]


def _sequence(leaf: Json, mine: list[datetime], person: WorldPerson) -> bool:
    second = [at for name, at, _ in person.events if name == leaf["seq_event"] and at <= NOW]
    longest = _UNITS[leaf["seq_time_interval"]] * leaf["seq_time_value"]
    zone = ZoneInfo(ZONE)

    def wall(moment: datetime) -> datetime:
        return moment.astimezone(zone).replace(tzinfo=None)

    return any(
        first < later and wall(later) <= wall(first) + longest
        for first in _inside(leaf, mine)
        for later in second
    )


_BEHAVIOR: dict[str, Callable[[Json, list[datetime], WorldPerson], bool]] = {
    "performed_event": lambda leaf, mine, _: bool(_inside(leaf, mine)),
    "performed_event_multiple": lambda leaf, mine, _: (
        bool(_inside(leaf, mine))
        and _SIGNS[leaf["operator"]](len(_inside(leaf, mine)), leaf["operator_value"])
    ),
    "performed_event_first_time": lambda leaf, mine, _: (
        bool(mine) and _start(leaf) <= min(mine) <= NOW
    ),
    "performed_event_sequence": _sequence,
    "performed_event_regularly": _regularly,
    "stopped_performing_event": lambda leaf, mine, _: (
        bool(_inside(leaf, mine)) and max(_inside(leaf, mine)) < _span(leaf)
    ),
    "restarted_performing_event": lambda leaf, mine, _: (
        any(at < _start(leaf) for at in mine)
        and not any(_start(leaf) <= at < _span(leaf) for at in mine)
        and any(_span(leaf) <= at <= NOW for at in mine)
    ),
}
BEHAVIORAL_VALUES = tuple(_BEHAVIOR)
