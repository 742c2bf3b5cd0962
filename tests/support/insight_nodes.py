"""Random insight nodes over the generated project.

The vocabulary is that of ``insight_events``, which says in plain Python what a node selects.
"""

import random
from datetime import timedelta
from typing import Any

from support.hogql_reference import Calendar, local
from support.insight_events import CONDITIONS, EXPRESSIONS, MEASURES

type Node = dict[str, Any]

ZONES = ("UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata")
_RANGES = (
    ("day", (2026, 10, 14), (2026, 10, 20)),
    ("day", (2026, 10, 22), (2026, 11, 1)),
    ("week", (2026, 10, 13), (2026, 10, 31)),
    ("month", (2026, 9, 20), (2026, 11, 1)),
    ("hour", (2026, 10, 24), (2026, 10, 25)),
    ("hour", (2026, 3, 28), (2026, 3, 29)),
)
_BREAKDOWNS: tuple[Node, ...] = (
    {"property": "$browser", "type": "event"},
    {"property": "price", "type": "event"},
    {"property": "returning", "type": "event"},
    {"property": "country", "type": "event"},
    {"property": "plan", "type": "person"},
    {"property": "size", "type": "group", "group_type_index": 0},
    *({"property": text, "type": "hogql"} for text in EXPRESSIONS),
)
_PRICE = {"math_property": "price"}
_MATHS: tuple[Node, ...] = (
    {},
    {"math": "total"},
    {"math": "dau"},
    {"math": "unique_session"},
    {"math": "unique_group", "math_group_type_index": 0},
    *({"math": name, **_PRICE} for name in ("sum", "avg", "min", "max", "median", "p90")),
    {"math": "sum", "math_multiplier": 10, **_PRICE},
    {"math": "max_count_per_actor"},
    {"math": "avg_count_per_actor"},
    *({"math": "hogql", "math_hogql": text} for text in MEASURES),
)


class NodeDraw(random.Random):
    """Draws nodes; the same seed gives the same ones."""

    def may(self, share: float) -> bool:
        """True in this share of all cases."""
        return self.random() < share

    def item(self, *, math: bool = False) -> Node:
        """An item of a series."""
        node: Node = {"kind": "EventsNode", "event": self.choice(["$pageview", "paid", "added"])}
        if self.may(0.3):
            node = self.choice(
                [{"kind": "ActionsNode", "id": 1}, {"kind": "EventsNode", "event": None}]
            )
        if self.may(0.3):
            node["properties"] = self.filters()
        return {**node, **(self.choice(_MATHS) if math else {})}

    def filters(self) -> list[Node]:
        """One or two property filters, or groups of them."""
        return [self._filter() for _ in range(self.randint(1, 2))]

    def _filter(self, depth: int = 0) -> Node:
        kind = self.choice(["event", "event", "person", "group", "cohort", "hogql", "nested"])
        if kind == "nested" and depth < 2:
            inner = [self._filter(depth + 1) for _ in range(self.randint(1, 3))]
            return {"type": self.choice(["AND", "OR"]), "values": inner}
        if kind == "cohort":
            operator = self.choice(["in", "not_in"])
            return {
                "type": "cohort",
                "key": "id",
                "value": self.choice([1, 2]),
                "operator": operator,
            }
        if kind == "hogql":
            return {"type": "hogql", "key": self.choice(list(CONDITIONS))}
        return self._comparison(kind)

    def _comparison(self, kind: str) -> Node:
        keys = {"person": ["plan", "email"], "group": ["size"]}
        key = self.choice(keys.get(kind, ["$browser", "price", "returning", "country", "missing"]))
        where: Node = {"type": kind if kind in keys else "event", "key": key}
        if kind == "group":
            where["group_type_index"] = 0
        if key in ("price", "size") and self.may(0.7):
            operator = self.choice(["gt", "gte", "lt", "lte"])
            return {**where, "operator": operator, "value": self.choice([0, 2.5, 10, 100])}
        operator = self.choice(
            ["exact", "is_not", "icontains", "not_icontains", "regex", "is_set", "is_not_set"]
        )
        if operator in ("exact", "is_not"):
            words = ["Chrome", "pro", "free", "true", "C07", "10", "Safari", ""]
            return {**where, "operator": operator, "value": self.sample(words, self.randint(1, 3))}
        value = self.choice(["r", "R", "^C", "0"] if operator == "regex" else ["R", "c0", "tes"])
        return {**where, "operator": operator, "value": value}

    def breakdown(self) -> Node:
        """A ``breakdownFilter`` of one to three properties."""
        limits = {"breakdown_limit": self.choice([1, 2, 3])} if self.may(0.5) else {}
        if self.may(0.3):
            limits["breakdown_hide_other_aggregation"] = True
        chosen = self.sample(_BREAKDOWNS, self.choice([1, 1, 2, 3]))
        return {"breakdowns": chosen, **limits}

    def query(self, kind: str, **more: Any) -> Node:
        """The parts that all insights share."""
        query: Node = {"kind": kind, **more}
        if self.may(0.3):
            query["properties"] = self.filters()
        if self.may(0.2):
            query["filterTestAccounts"] = True
        if self.may(0.2):
            query["aggregation_group_type_index"] = 0
        return query

    def range(self, zone: str) -> tuple[Node, Calendar]:
        """An interval with a range of whole days, and its calendar."""
        interval, first, last = self.choice(_RANGES)
        calendar = Calendar(local(*first, zone), local(*last, zone), interval)
        texts = ["{}-{:02}-{:02}".format(*day) for day in (first, last)]
        return {
            "interval": interval,
            "dateRange": {"date_from": texts[0], "date_to": texts[1]},
        }, calendar


def days_before(calendar: Calendar, days: int) -> Calendar:
    """The same days on the calendar, some days earlier."""
    first, last = (at - timedelta(days=days) for at in (calendar.start, calendar.end))
    return Calendar(first, last, calendar.interval)
