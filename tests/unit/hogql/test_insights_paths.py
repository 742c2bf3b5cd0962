"""Paths of generated data against plain Python."""

import re
from collections import Counter, defaultdict

import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from support.hogql_generated import CONTEXT, Seen
from support.hogql_paths import RANGE, Steps, check, edges, item, micros
from support.hogql_world import HogqlWorld

PAGES = {"includeEventTypes": ["$pageview"]}
SITE = "https://x.com"


@pytest.fixture
def answer(generated_world: HogqlWorld):
    def answer(filter_, **query):
        dates = {"date_from": "2026-10-14", "date_to": "2026-10-31"}
        full = {"kind": "PathsQuery", "dateRange": dates, "pathsFilter": filter_, **query}
        plan = build_insight(full, CONTEXT)
        compiled = [compile_query(each, context=CONTEXT) for each in plan.queries]
        return plan.shape([generated_world.raw(each) for each in compiled])

    return answer


def sessions(
    name=item, expected=lambda seen: seen.event == "$pageview", who=lambda seen: seen.human.id
):
    """Every path: times and names, without repetitions."""
    people = defaultdict(list)
    for seen in RANGE:
        if expected(seen) and who(seen) and name(seen):
            people[who(seen)].append((micros(seen), name(seen)))
    for steps in people.values():
        path: Steps = []
        last = None
        for at, label in steps:
            if last is not None and at - last > 1800 * 1_000_000:
                yield path
                path = []
            if not path or path[-1][1] != label:
                path.append((at, label))
            last = at
        yield path


@pytest.mark.parametrize(
    ("kinds", "predicate"),
    [
        (["$pageview"], lambda seen: seen.event == "$pageview"),
        (["$screen"], lambda seen: seen.event == "$screen"),
        (["custom_event"], lambda seen: not seen.event.startswith("$")),
        (["$pageview", "custom_event"], lambda seen: seen.event != "$screen"),
        ([], lambda _: True),
    ],
)
@pytest.mark.parametrize("steps", [2, 5])
def test_kinds_of_events(answer, kinds, predicate, steps: int) -> None:
    rows = answer({"includeEventTypes": kinds, "stepLimit": steps})

    check(rows, edges(path[:steps] for path in sessions(expected=predicate)))


def test_edge_limits_and_weights(answer) -> None:
    check(answer({**PAGES, "edgeLimit": 3}), edges((path[:5] for path in sessions()), 3))

    every = edges((path[:5] for path in sessions()), 1000)
    counts = Counter(edge[2] for edge in every)
    low, high = sorted(counts)[1], sorted(counts)[-2]
    rows = answer({**PAGES, "minEdgeWeight": low, "maxEdgeWeight": high, "edgeLimit": 1000})
    check(rows, [edge for edge in every if low <= edge[2] <= high])


def test_weights_of_a_sample_are_those_returned(answer) -> None:
    options = {**PAGES, "edgeLimit": 1000}
    weights = {each["value"] for each in answer(options, samplingFactor=0.5)}
    low = sorted(weights)[1]

    rows = answer({**options, "minEdgeWeight": low}, samplingFactor=0.5)

    assert {each["value"] for each in rows} == weights - {min(weights)}


def _cut(path: Steps, start: str | None, end: str | None, limit: int) -> Steps:
    names = [label for _, label in path]
    if start is not None:
        path = path[names.index(start) :] if start in names else []
        names = [label for _, label in path]
    if end is not None:
        path = path[: names.index(end) + 1] if end in names else []
        if start is None:
            return path[-limit:]
        if len(path) > limit:
            half = (limit - 1) // 2
            return [*path[:half], (path[-half - 1][0], "..."), *path[-half:]]
    return path[:limit]


@pytest.mark.parametrize(("start", "end"), [
    ("/docs/", None), (None, "/pricing"), ("/blog", "/pricing"), ("/user/1", "/blog"),
])  # fmt: skip
@pytest.mark.parametrize("limit", [3, 5])
def test_points(answer, start: str | None, end: str | None, limit: int) -> None:
    points = {"startPoint": start and SITE + start, "endPoint": end and SITE + end}

    rows = answer({**PAGES, **points, "stepLimit": limit})

    trimmed = [text and (SITE + text).rstrip("/") for text in (start, end)]
    check(rows, edges(_cut(path, *trimmed, limit) for path in sessions()))


def test_left_out_grouped_and_cleaned(answer) -> None:
    rows = answer(
        {
            **PAGES,
            "excludeEvents": [SITE + "/blog"],
            "pathGroupings": [SITE + "/docs*"],
            "localPathCleaningFilters": [{"regex": r"/user/\d+", "alias": "/user/:id"}],
        }
    )

    def name(seen: Seen) -> str | None:
        label = re.sub(r"/user/\d+", "/user/:id", item(seen))
        label = SITE + "/docs*" if label.startswith(SITE + "/docs") else label
        return None if label == SITE + "/blog" else label

    check(rows, edges(path[:5] for path in sessions(name)))


def test_events_left_out_by_name(answer) -> None:
    rows = answer({"excludeEvents": ["$pageview", "added"]})

    check(rows, edges(path[:5] for path in sessions(
        expected=lambda seen: seen.event not in {"$pageview", "added"})))  # fmt: skip


def test_expressions(answer) -> None:
    rows = answer({"includeEventTypes": ["hogql"], "pathsHogQLExpression": "properties.$browser"})

    check(rows, edges(path[:5] for path in sessions(
        lambda seen: seen.properties.get("$browser"), lambda _: True)))  # fmt: skip


def test_groups_filters_and_test_accounts(answer) -> None:
    rule = {"key": "plan", "operator": "is_set", "type": "person"}

    rows = answer(PAGES, properties=[rule], filterTestAccounts=True, aggregation_group_type_index=0)

    def is_included(seen: Seen) -> bool:
        known = "plan" in seen.human.properties
        return (
            seen.event == "$pageview"
            and known
            and "@test.com" not in seen.human.properties["email"]
        )

    check(
        rows,
        edges(path[:5] for path in sessions(expected=is_included, who=lambda seen: seen.company)),
    )
