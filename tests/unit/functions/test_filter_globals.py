"""Filter globals built in parts equal those built at once.

Source: docs/spec/hog-functions.md#54-globals-seen-by-filters.
"""

from typing import Any

import pytest

from hoglet.functions.filters.roots import FILTER_ROOTS
from hoglet.functions.runtime.filter_globals import (
    filter_globals,
    lazy_filter_globals,
    parts_read,
)

CHAIN = 'a.big:attr_id="go"href="/x"nth-child="1"text="Go"'
RUN: dict[str, Any] = {
    "event": {
        "event": "order",
        "uuid": "u",
        "timestamp": "2026-05-01T12:00:00.000000Z",
        "distinct_id": "ada",
        "properties": {"plan": "pro"},
        "elements_chain": CHAIN,
    },
    "person": {"id": "p", "name": "Ada", "properties": {"email": "ada@x.com"}},
    "groups": {"company": {"id": "acme", "index": 1, "properties": {"size": 5}}},
    "variables": {"v": 1},
}
RUNS = {
    "whole": RUN,
    "without a person": {**RUN, "person": None},
    "without groups": {**RUN, "groups": {}},
    "without anything": {"event": RUN["event"]},
    "a log record": {"record": {"body": "x"}},
    "an activity": {
        "event": {
            "event": "$activity_log_entry_created",
            "distinct_id": "ada",
            "properties": {"detail": {"name": "x"}},
        }
    },
}


@pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))
@pytest.mark.parametrize("root", sorted(FILTER_ROOTS))
def test_one_part_is_what_it_is_in_the_whole(run: dict[str, Any], root: str):
    values = lazy_filter_globals(run)
    values.provide(parts_read([root]))

    assert values[root] == filter_globals(run)[root]


def test_everything_that_filters_may_read_is_there():
    assert filter_globals(RUN).keys() == FILTER_ROOTS
    assert filter_globals({}).keys() == FILTER_ROOTS


def test_what_no_filter_reads_is_not_built():
    built: list[str] = []

    class Run(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            built.append(key)
            return super().get(key, default)

    values = lazy_filter_globals(Run(RUN))
    values.provide(parts_read(["properties", "event"]))

    assert not {"person", "groups"} & set(built)
    values.provide(parts_read(["pdi"]))
    assert "person" in built
    assert values["pdi"]["person"] is values["person"]
