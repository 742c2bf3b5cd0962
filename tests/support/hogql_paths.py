"""Expected results of paths insights, computed in plain Python."""

import itertools
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from statistics import mean
from typing import Any

import pytest

from support.hogql_generated import Seen
from support.hogql_reference import local, within

FIRST, LAST = local(2026, 10, 14, "UTC"), local(2026, 11, 1, "UTC")
RANGE = within(FIRST, LAST - timedelta(microseconds=1))

type Edge = tuple[str, str, int, float]


def item(seen: Seen) -> str:
    """The name of a step."""
    if seen.event == "$pageview":
        url = seen.properties["$current_url"]
        return url.removesuffix("/")
    return seen.properties["$screen_name"] if seen.event == "$screen" else seen.event


type Steps = list[tuple[int, str]]


def micros(seen: Seen) -> int:
    """Time since the start of the range."""
    return (seen.at - FIRST) // timedelta(microseconds=1)


def edges(paths: Iterable[Steps], limit: int = 50) -> list[Edge]:
    """The edges of the paths, most frequent first: both ends, count and mean duration."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for path in paths:
        for index, (start, end) in enumerate(itertools.pairwise(path), 1):
            times[f"{index}_{start[1]}", f"{index + 1}_{end[1]}"].append((end[0] - start[0]) / 1000)
    ordered = sorted(times, key=lambda key: (-len(times[key]), *key))[:limit]
    return [(*key, len(times[key]), mean(times[key])) for key in ordered]


def check(response: list[dict[str, Any]], expected: list[Edge]) -> None:
    """Check that a response has these edges."""
    assert expected
    actual = [(edge["source"], edge["target"], edge["value"]) for edge in response]
    assert actual == [edge[:3] for edge in expected]
    averages = [edge["average_conversion_time"] for edge in response]
    assert averages == pytest.approx([edge[3] for edge in expected], rel=1e-12, abs=0)
