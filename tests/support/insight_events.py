"""Which events of the generated project an insight selects, and what it measures of them.

In plain Python; nothing here shares code with hoglet.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from statistics import mean
from typing import Any

from support.hogql_generated import CONTEXT, EVENTS, PEOPLE, Seen
from support.hogql_reference import Calendar, numbers, percentile, person_count, text

type Node = dict[str, Any]
type Key = tuple[str | None, ...]

COHORTS = {
    cohort: {human.id for index, human in enumerate(PEOPLE[:30]) if 1 + index % 2 == cohort}
    for cohort in (1, 2)
}
_SIZES = {"acme": 10, "globex": 200}
CONDITIONS: dict[str, Callable[[Seen], bool]] = {
    "properties.price > 2 or event = 'paid'": lambda seen: (
        seen.properties.get("price", 0) > 2 or seen.event == "paid"
    ),
    "person.properties.plan is null": lambda seen: "plan" not in seen.human.properties,
    "length(distinct_id) > 4": lambda seen: len(seen.distinct_id) > 4,
}
EXPRESSIONS: dict[str, Callable[[Seen], str | None]] = {
    "length(event)": lambda seen: str(len(seen.event)),
    "if(properties.price > 5, 'dear', null)": lambda seen: (
        "dear" if seen.properties.get("price", 0) > 5 else None
    ),
}
MEASURES: dict[str, Callable[[list[Seen]], float]] = {
    "count() / 2": lambda events: len(events) / 2,
    "uniq(person_id)": person_count,
    "sum(properties.price)": lambda events: sum(numbers(events, "price")),
}
_AGGREGATES: dict[str, Callable[[list[float]], float]] = {
    "sum": sum,
    "avg": mean,
    "min": min,
    "max": max,
    "median": lambda values: percentile(values, 0.5),
    "p90": lambda values: percentile(values, 0.9),
}


def value_of(seen: Seen, kind: str, key: str) -> Any:
    """A property of an event, its person or its group; None if it is missing."""
    if kind == "person":
        return seen.human.properties.get(key)
    return _SIZES.get(seen.company) if kind == "group" else seen.properties.get(key)


def holds(seen: Seen, where: Node) -> bool:
    """Whether an event passes a property filter or a group of them."""
    if "values" in where:
        return (any if where["type"] == "OR" else all)([holds(seen, x) for x in where["values"]])
    if where["type"] == "hogql":
        return CONDITIONS[where["key"]](seen)
    if where["type"] == "cohort":
        return (seen.human.id in COHORTS[where["value"]]) == (where["operator"] == "in")
    value = value_of(seen, where["type"], where["key"])
    operator, operand = where["operator"], where["value"]
    if operator in _ORDERS:
        return isinstance(value, int | float) and _ORDERS[operator](value, operand)
    return _TEXTS[operator](text(value), operand)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": lambda value, limit: value > limit,
    "gte": lambda value, limit: value >= limit,
    "lt": lambda value, limit: value < limit,
    "lte": lambda value, limit: value <= limit,
}
_TEXTS: dict[str, Callable[[str | None, Any], bool]] = {
    "exact": lambda value, choices: value is not None and value in choices,
    "is_not": lambda value, choices: value is None or value not in choices,
    "icontains": lambda value, part: value is not None and part.lower() in value.lower(),
    "not_icontains": lambda value, part: value is None or part.lower() not in value.lower(),
    "regex": lambda value, pattern: value is not None and re.search(pattern, value) is not None,
    "is_set": lambda value, _: value is not None,
    "is_not_set": lambda value, _: value is None,
}


def selects(item: Node, seen: Seen, *, properties: bool = True) -> bool:
    """Whether an item of a series counts an event, with or without its property filters."""
    if item["kind"] == "ActionsNode":
        chosen = seen.event == "paid" or (
            seen.event == "added" and seen.properties.get("price", 0) > 50
        )
    else:
        chosen = item["event"] in (None, seen.event)
    return chosen and (
        not properties or all(holds(seen, where) for where in item.get("properties", ()))
    )


def passes(query: Node, seen: Seen) -> bool:
    """Whether an event passes the filters of the whole query."""
    internal = CONTEXT.test_account_filters if query.get("filterTestAccounts") else ()
    return all(holds(seen, dict(where)) for where in (*query.get("properties", ()), *internal))


def actor(query: Node, seen: Seen) -> str | None:
    """The person, or the group if the query counts groups; None for an event without one."""
    if query.get("aggregation_group_type_index") is None:
        return seen.human.id
    return seen.company or None


def by_actor(query: Node, events: Iterable[Seen]) -> dict[str, list[Seen]]:
    """The events that pass the query's filters, by actor and in their order."""
    groups: dict[str, list[Seen]] = defaultdict(list)
    for seen in events:
        who = actor(query, seen)
        if who is not None and passes(query, seen):
            groups[who].append(seen)
    return groups


def until(calendar: Calendar) -> list[Seen]:
    """Every event before the end of the calendar, by time."""
    return sorted([seen for seen in EVENTS if seen.at <= calendar.end], key=lambda seen: seen.at)


def key_of(query: Node, seen: Seen) -> Key:
    """The values of the breakdown; empty without one."""
    return tuple([_breakdown_value(seen, item) for item in breakdowns(query)])


def breakdowns(query: Node) -> list[Node]:
    """The properties that the query breaks down by."""
    return query.get("breakdownFilter", {}).get("breakdowns", [])


def _breakdown_value(seen: Seen, item: Node) -> str | None:
    if item["type"] == "hogql":
        return EXPRESSIONS[item["property"]](seen)
    return text(value_of(seen, item["type"], item["property"]))


def is_counted(item: Node, query: Node, seen: Seen) -> bool:
    """Whether an event has what the item's math counts."""
    match item.get("math", "total"):
        case "unique_group":
            return bool(seen.company)
        case "dau" | "max_count_per_actor" | "avg_count_per_actor":
            return actor(query, seen) is not None
        case _:
            return True


def measure(  # noqa: PLR0911 (one return a math)
    item: Node, query: Node, events: list[Seen], nothing: float = 0
) -> float:
    """The item's math; ``nothing`` if no event has its property."""
    if not events:
        return 0
    match item.get("math", "total"):
        case "total":
            return len(events)
        case "dau":
            return len({actor(query, seen) for seen in events} - {None})
        case "unique_session":
            return len({seen.session for seen in events} - {""})
        case "unique_group":
            return len({seen.company for seen in events} - {""})
        case "hogql":
            return MEASURES[item["math_hogql"]](events)
        case "max_count_per_actor" | "avg_count_per_actor" as math:
            counts = Counter(actor(query, seen) for seen in events)
            return _AGGREGATES[math.split("_")[0]]([*map(float, counts.values())])
        case math:
            values = [each * item.get("math_multiplier", 1) for each in numbers(events, "price")]
            return _AGGREGATES[math](values) if values else nothing
