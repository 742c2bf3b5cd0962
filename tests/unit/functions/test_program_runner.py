"""A program that runs many times with different globals."""

from typing import Any

import pytest

from hoglet.functions.runtime.engine import ProgramRunner
from hoglet.functions.runtime.host import Host
from hoglet.functions.runtime.messages import Pinned

PINNED = Pinned(now="2026-01-02T03:04:05Z", seed=7)


def results(source: str, runs: list[dict[str, Any]], pinned: Pinned | None = None) -> list[Any]:
    host = Host({"project": {}}, may_call=False)
    runner = ProgramRunner(source, host, pinned=pinned)
    ended = []
    for values in runs:
        host.begin({})
        ended.append(runner.run(values, entries=[], milliseconds=500, async_steps=0))
    return [each.value if each.error is None else each.error for each in ended]


def test_runs_share_nothing() -> None:
    source = "let seen := event.seen\nif (seen = null) { throw Error('nothing') }\nreturn seen"
    runs = [{"event": {"seen": 1}}, {"event": {}}, {"event": {"seen": [2]}}]
    assert results(source, runs) == [1, "nothing", [2]]


@pytest.mark.parametrize("pinned", [PINNED, None])
def test_random_numbers_differ_from_run_to_run(pinned: Pinned | None) -> None:
    assert len(set(results("return randomFloat()", [{}] * 5, pinned))) == 5


def test_pinned_runs_can_be_repeated() -> None:
    source = "return [randomFloat(), toString(now())]"
    assert results(source, [{}] * 3, PINNED) == results(source, [{}] * 3, PINNED)
