"""Paths of a funnel's persons against plain Python."""

from collections import defaultdict
from datetime import timedelta

import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from hoglet.kit.errors import SourceError
from support.hogql_generated import CONTEXT, Seen
from support.hogql_paths import RANGE, Steps, check, edges, item, micros
from support.hogql_world import HogqlWorld

STEPS = ("$pageview", "added", "paid")
WINDOW = timedelta(hours=6)
DATES = {"date_from": "2026-10-14", "date_to": "2026-10-31"}
FUNNEL = {
    "kind": "FunnelsQuery",
    "series": [{"kind": "EventsNode", "event": name} for name in STEPS],
    "funnelsFilter": {"funnelWindowInterval": 6, "funnelWindowIntervalUnit": "hour"},
}
BEFORE, BETWEEN, AFTER = (
    f"funnel_path_{word}" for word in ("before_step", "between_steps", "after_step")
)
Attempt = list[Seen | None]


@pytest.fixture
def answer(generated_world: HogqlWorld):
    def answer(kind: str | None, step: int | None, filter_=None, funnel=None, **query):
        paths = {
            "funnelPathType": kind,
            "funnelStep": step,
            "funnelSource": {**FUNNEL, **(funnel or {})},
        }
        full = {"kind": "PathsQuery", "dateRange": DATES, "pathsFilter": filter_ or {},
                "funnelPathsFilter": paths, **query}  # fmt: skip
        plan = build_insight(full, CONTEXT)
        compiled = [compile_query(each, context=CONTEXT) for each in plan.queries]
        return plan.shape([generated_world.raw(each) for each in compiled])

    return answer


# --- the same in Python


def events_per_person(
    events: list[Seen] = RANGE, who=lambda seen: seen.human.id
) -> list[list[Seen]]:
    groups: dict[str, list[Seen]] = defaultdict(list)
    for seen in events:
        if who(seen):
            groups[who(seen)].append(seen)
    return list(groups.values())


def best_of(events: list[Seen], optional: bool = False) -> Attempt | None:
    """The times at which the best attempt did each step; the second may be optional."""
    attempts: list[Attempt] = []
    for index, entry in enumerate(events):
        if entry.event != STEPS[0]:
            continue
        later = [seen for seen in events[index + 1 :] if seen.at <= entry.at + WINDOW]
        added = next((seen for seen in later if seen.event == "added"), None)
        after = [seen for seen in later if optional or (added and seen.at > added.at)]
        paid = next((seen for seen in after if seen.event == "paid"), None)
        if optional and added and paid and paid.at < added.at:
            added = None
        attempts.append([entry, added, paid])
    weights = (100, 1 if optional else 100, 100)
    return max(
        attempts,
        key=lambda value: sum(weight for weight, seen in zip(weights, value, strict=True) if seen),
        default=None,
    )


def walks(kind: str, step: int, expected=lambda _: True, *, optional: bool = False,
          who=lambda seen: seen.human.id):  # fmt: skip
    """The paths of those who reached the step, or stopped before it."""
    index = abs(step) - 1
    for events in events_per_person(who=who):
        best = best_of(events, optional)
        if best is None:
            continue
        earlier = [seen for seen in best[:index] if seen]
        required = index - 1 if not (optional and index == 2) else 0
        if not (best[index] if step > 0 else best[index] is None and best[required]):
            continue
        at = best[index].at if step > 0 else earlier[-1].at
        since, until = {
            BEFORE: (at - WINDOW, at),
            BETWEEN: (earlier[-1].at if earlier else at, at),
            AFTER: (at, at + WINDOW),
        }[kind]
        path: Steps = []
        for seen in events:
            is_new = not path or path[-1][1] != item(seen)
            if since <= seen.at <= until and expected(seen) and is_new:
                path.append((micros(seen), item(seen)))
        yield path


def cut(kind: str, path: Steps, limit: int = 5) -> Steps:
    if kind == BEFORE:
        return path[-limit:]
    if kind == BETWEEN and len(path) > limit:
        half = (limit - 1) // 2
        return [*path[:half], (path[-half - 1][0], "..."), *path[-half:]]
    return path[:limit]


# --- what is answered


@pytest.mark.parametrize(("kind", "step"), [
    (BEFORE, 1), (BEFORE, 2), (BEFORE, 3), (BEFORE, -3),
    (BETWEEN, 2), (BETWEEN, 3),
    (AFTER, 1), (AFTER, 2), (AFTER, 3), (AFTER, -2), (AFTER, -3),
])  # fmt: skip
def test_paths_of_people_at_a_step(answer, kind: str, step: int) -> None:
    rows = answer(kind, step)

    check(rows, edges(cut(kind, path) for path in walks(kind, step)))


@pytest.mark.parametrize(("kind", "step"), [
    (BEFORE, 3), (BETWEEN, 3), (AFTER, 2), (AFTER, -2), (AFTER, -3),
])  # fmt: skip
def test_of_a_funnel_with_an_optional_step(answer, kind: str, step: int) -> None:
    first, second, third = FUNNEL["series"]
    series = [first, {**second, "optionalInFunnel": True}, third]

    rows = answer(kind, step, funnel={"series": series})

    check(rows, edges(cut(kind, path) for path in walks(kind, step, optional=True)))


@pytest.mark.parametrize("kind", [BEFORE, BETWEEN, AFTER])
def test_filters_of_paths_and_limits(answer, kind: str) -> None:
    filter_ = {"includeEventTypes": ["$pageview"], "stepLimit": 3}
    rule = {"key": "$browser", "operator": "is_set"}

    rows = answer(kind, 2, filter_, properties=[rule])

    def has_browser(seen: Seen) -> bool:
        return seen.event == "$pageview" and "$browser" in seen.properties

    check(rows, edges(cut(kind, path, 3) for path in walks(kind, 2, has_browser)))


def test_points_cut_the_paths(answer) -> None:
    rows = answer(AFTER, 1, {"startPoint": "signed_up"})

    def after(path: Steps) -> Steps:
        names = [name for _, name in path]
        return path[names.index("signed_up") :] if "signed_up" in names else []

    check(rows, edges(after(path)[:5] for path in walks(AFTER, 1)))


def test_groups(answer) -> None:
    group = {"aggregation_group_type_index": 0}

    rows = answer(AFTER, 2, funnel=group, **group)

    check(rows, edges(path[:5] for path in walks(AFTER, 2, who=lambda seen: seen.company)))


def test_dates_of_the_funnel_where_the_paths_have_none(answer) -> None:
    assert answer(AFTER, 2, funnel={"dateRange": DATES}, dateRange=None) == answer(AFTER, 2)


def test_sampling(answer, generated_world: HogqlWorld) -> None:
    sampled = answer(AFTER, 2, {"edgeLimit": 1000}, samplingFactor=0.5)

    rows = generated_world.rows(
        "select distinct distinct_id from events sample 0.5", context=CONTEXT
    )
    ids = {row[0] for row in rows}
    own_walks = walks(AFTER, 2, who=lambda seen: seen.human.id if seen.distinct_id in ids else "")
    expected = edges((path[:5] for path in own_walks), 1000)
    assert {(each["source"], each["target"]): each["value"] for each in sampled} == {
        each[:2]: 2 * each[2] for each in expected
    }


@pytest.mark.parametrize(("kind", "step", "funnel", "words"), [
    (AFTER, None, {}, "funnelStep"), (AFTER, 0, {}, "funnelStep"), (AFTER, 4, {}, "funnelStep"),
    (AFTER, -1, {}, "funnelStep"), (BETWEEN, 1, {}, "2 or more"),
    (BETWEEN, -2, {}, "2 or more"), ("funnel_path_around", 1, {}, "funnelPathType"),
    (AFTER, 1, {"kind": "TrendsQuery"}, "funnelSource"),
    (AFTER, 1, {"series": []}, "1 to 15 steps"),
    (AFTER, 1, {"aggregation_group_type_index": 0}, "aggregation_group_type_index"),
    (AFTER, 1, {"funnelsFilter": {"funnelAggregateByHogQL": "$session_id"}}, "expression"),
    (AFTER, 1, {"series": [{"event": 3}]}, "funnelSource.series.0.event"),
])  # fmt: skip
def test_refused(answer, kind: str, step: int | None, funnel, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        answer(kind, step, funnel=funnel)
