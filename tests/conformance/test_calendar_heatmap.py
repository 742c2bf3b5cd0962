"""Calendar heatmaps against plain Python, by the time of the event or the start of its session."""

from collections import defaultdict
from datetime import datetime
from typing import Any

import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from support.hogql_generated import CONTEXT, EVENTS, Seen
from support.hogql_reference import local, within
from support.hogql_world import HogqlWorld

FIRST, LAST = local(2026, 10, 14, "UTC"), local(2026, 11, 2, "UTC")


def time_of(seen: Seen, *, by_session: bool) -> datetime:
    """The start of the event's session; the time of an event that has none."""
    if not by_session or not seen.session:
        return seen.at
    return min(each.at for each in EVENTS if each.session == seen.session)


@pytest.mark.parametrize("by_session", [False, True])
def test_persons_by_weekday_and_hour(generated_world: HogqlWorld, *, by_session: bool) -> None:
    persons: dict[tuple[int, int], set[str]] = defaultdict(set)
    for seen in within(FIRST, LAST):
        if seen.event == "$pageview":
            at = time_of(seen, by_session=by_session)
            persons[at.isoweekday(), at.hour].add(seen.human.id)

    result = heatmap(generated_world, by_session=by_session)

    cells = {(cell["row"], cell["column"]): cell["value"] for cell in result["data"]}
    assert cells == {cell: len(ids) for cell, ids in persons.items()}
    assert result["allAggregations"] == len(set().union(*persons.values()))


def heatmap(world: HogqlWorld, *, by_session: bool) -> dict[str, Any]:
    query: dict[str, Any] = {
        "kind": "TrendsQuery",
        "series": [{"kind": "EventsNode", "event": "$pageview", "math": "dau"}],
        "dateRange": {"date_from": "2026-10-14", "date_to": "2026-11-01"},
        "trendsFilter": {"display": "CalendarHeatmap"},
        "calendarHeatmapFilter": {"bucketBySessionStart": by_session},
    }
    plan = build_insight(query, CONTEXT)
    rows = [world.raw(compile_query(each, context=CONTEXT)) for each in plan.queries]
    results: Any = plan.shape(rows)
    return results[0]["calendar_heatmap_data"]
