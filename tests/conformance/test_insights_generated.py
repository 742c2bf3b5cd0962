"""Random nodes of every insight against plain Python.

``HOGLET_TEST_SEED`` draws other nodes than those of seed 1.
"""

import os
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from support.hogql_generated import CONTEXT
from support.hogql_world import HogqlWorld
from support.insight_conversions import random_funnel, random_paths, random_retention
from support.insight_nodes import ZONES, Node, NodeDraw
from support.insight_trends import (
    TOTALS,
    Line,
    random_lifecycle,
    random_stickiness,
    random_trends,
)
from support.seeds import seeds

type Answer = Callable[[Node, str], Any]

SEED = os.environ.get("HOGLET_TEST_SEED", "1")
NODES = pytest.mark.parametrize("number", seeds(4, 150))


@pytest.fixture
def answer(generated_world: HogqlWorld) -> Answer:
    """The result of an insight in a project with this time zone."""

    def answer(query: Node, zone: str) -> Any:
        context = msgspec.structs.replace(CONTEXT, timezone=zone)
        plan = build_insight(query, context)
        compiled = [compile_query(each, context=context) for each in plan.queries]
        return plan.shape([generated_world.raw(each) for each in compiled])

    return answer


def draw_of(kind: str, number: int) -> tuple[NodeDraw, str]:
    draw = NodeDraw(f"{SEED}/{kind}/{number}")
    return draw, draw.choice(ZONES)


@NODES
def test_trends(answer: Answer, number: int) -> None:
    draw, zone = draw_of("trends", number)
    query, expected = random_trends(draw, zone)

    rows = answer(query, zone)

    is_total = query["trendsFilter"].get("display") in TOTALS
    lines = [
        Line(
            row.get("compare_label"),
            tuple(row.get("breakdown_value") or ()),
            [row["aggregated_value"]] if is_total else row["data"],
            row["count"],
        )
        for row in rows
    ]
    assert comparable(lines) == comparable(expected), query


def comparable(lines: list[Line]) -> list[Any]:
    """The lines in one order, with rounded numbers."""
    rounded = [
        (line.period, line.key, [round(float(x), 6) for x in line.data], round(line.total, 6))
        for line in lines
    ]
    return sorted(rounded, key=repr)


@NODES
def test_lifecycle(answer: Answer, number: int) -> None:
    draw, zone = draw_of("lifecycle", number)
    query, expected = random_lifecycle(draw, zone)

    rows = answer(query, zone)

    assert {row["status"]: row["data"] for row in rows} == expected, query


@NODES
def test_stickiness(answer: Answer, number: int) -> None:
    draw, zone = draw_of("stickiness", number)
    query, expected = random_stickiness(draw, zone)

    rows = answer(query, zone)

    assert [row["data"] for row in rows] == expected, query


@NODES
def test_funnels(answer: Answer, number: int) -> None:
    draw, zone = draw_of("funnels", number)
    query, expected = random_funnel(draw, zone)

    rows = answer(query, zone)

    assert [row["count"] for row in rows] == [count for count, _ in expected], query
    means = [row["average_conversion_time"] for row in rows]
    assert means == pytest.approx([mean for _, mean in expected], abs=1e-5), query


@NODES
def test_retention(answer: Answer, number: int) -> None:
    draw, zone = draw_of("retention", number)
    query, expected = random_retention(draw, zone)

    rows = answer(query, zone)

    assert [[value["count"] for value in row["values"]] for row in rows] == expected, query


@NODES
def test_paths(answer: Answer, number: int) -> None:
    draw, _ = draw_of("paths", number)
    query, expected = random_paths(draw)

    rows = answer(query, "UTC")

    by_ends = {(row["source"], row["target"]): row for row in rows}
    assert {ends: row["value"] for ends, row in by_ends.items()} == {
        edge[:2]: edge[2] for edge in expected
    }, query
    means = {ends: row["average_conversion_time"] for ends, row in by_ends.items()}
    assert means == pytest.approx({edge[:2]: edge[3] for edge in expected}, abs=1e-2), query
