"""Steps in a batch succeed and fail independently."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.runtime.host_calls import new_journal
from hoglet.functions.runtime.messages import Step, StepRequest
from hoglet.pipeline.delivery import step_batcher
from hoglet.pipeline.delivery.step_batcher import StepBatcher
from hoglet.sandbox import Sandbox

FUNCTION = ExecutableFunction(id="f", project_id=1, type="destination", hog="return event.event")


def _request(name: str) -> StepRequest:
    journal = new_journal(datetime(2026, 1, 1, tzinfo=UTC), 1)
    return StepRequest(function=FUNCTION, globals={"event": {"event": name}}, journal=journal)


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "poison", "c", "d"],
        ["poison"],
        ["poison", *map(str, range(298)), "poison"],
        [*map(str, range(255)), "poison", *map(str, range(255, 500))],
    ],
)
async def test_a_step_that_hoglet_fails_on_does_not_end_the_others(monkeypatch, names):
    here = str(Path(__file__).parent)
    monkeypatch.setattr(step_batcher, "_RUN_STEPS", "sample_steps:run_steps")
    sandbox = Sandbox(workers=1, import_path=[here])
    batcher = StepBatcher(sandbox)
    try:
        steps: list[Step] = await asyncio.gather(*(batcher.step(_request(name)) for name in names))
    finally:
        await sandbox.close()

    assert [step.outcome for step in steps] == [
        "failed" if name == "poison" else "finished" for name in names
    ]
    assert [step.result for step in steps] == [None if n == "poison" else n for n in names]
    failed = steps[names.index("poison")]
    assert (failed.error_class, "ZeroDivisionError" in str(failed.error)) == ("hog", True)


async def test_requests_and_results_of_many_megabytes_travel_in_several_calls(monkeypatch):
    monkeypatch.setattr(step_batcher, "BYTES_TOGETHER", 3_000)
    names = [f"{number} {'x' * 500}" for number in range(40)]
    sandbox = Sandbox(workers=1)
    batcher = StepBatcher(sandbox)
    try:
        steps: list[Step] = await asyncio.gather(*(batcher.step(_request(name)) for name in names))
    finally:
        await sandbox.close()

    assert [step.result for step in steps] == names
