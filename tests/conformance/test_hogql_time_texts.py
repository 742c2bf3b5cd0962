"""Texts that are refused as times before a query runs: the engine reads none of them.

The other direction is not promised: what may be a date is left to the engine.
"""

import random

import pytest

from hoglet.hogql.resolve.operands.time_texts import is_surely_no_time
from support.hogql_world import HogqlWorld

_SEEDS = [
    *("abc", "", "Jan", "2026-01-05", "2026-13-45", "-7d", "10:00", "Jan 2026", "now", "PM", "T"),
    *("mar", "2026-02-30", "1767225600", "0000-00-00", "2026-01-05T10:00:00Z", "UTC", "+02:00"),
    *("Mon, 5 Jan 2026 10:00:00 GMT", "-1", "−7d", "٣", "2024-02-29", "2023-02-29"),
]


def _texts(count: int, seed: int) -> list[str]:
    drawn = random.Random(seed)  # noqa: S311
    texts = list(_SEEDS)
    while len(texts) < count:
        text = drawn.choice(texts)
        position = drawn.randrange(len(text) + 1)
        more = drawn.choice([*" -:/.TZ+0123459abdjyJmrcn", drawn.choice(_SEEDS), ""])
        texts.append((text[:position] + more + text[position + (not more) :])[:60])
    return texts


def test_the_engine_reads_no_text_that_is_refused(hogql_world: HogqlWorld) -> None:
    refused = [
        text
        for text in _texts(4000, seed=11)
        if is_surely_no_time(text) and not text.startswith("0000-")  # read as this year
    ]
    listed = ", ".join(f"'{text}'" for text in refused)
    read = hogql_world.rows(
        f"select t from (select arrayJoin([{listed}]) as t) where toDateTime(t) is not null"
    )

    assert len(refused) > 200
    assert read == []


def test_year_0_is_no_time() -> None:
    assert is_surely_no_time("0000-00-00 00:00:00")
    assert is_surely_no_time("0000-01-01")
    assert not is_surely_no_time("0001-01-01")


@pytest.mark.parametrize("text", ["Jan", "2026", "5 Jan 2026", "10:00", "2026-00-10", "1767225600"])
def test_what_the_engine_reads_is_not_refused(text: str) -> None:
    assert not is_surely_no_time(text)
