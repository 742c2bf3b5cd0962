"""Steps in a batch succeed and fail independently."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.runtime.step import Step, StepRequest, new_journal
from hoglet.pipeline.delivery import step_batcher
from hoglet.pipeline.delivery.step_batcher import StepBatcher
from hoglet.sandbox import Sandbox

FUNCTION = ExecutableFunction(id="f", project_id=1, type="destination", hog="return event.event")


def _request(name: str) -> StepRequest:
    journal = new_journal(datetime(2026, 1, 1, tzinfo=UTC), 1)
    return StepRequest(function=FUNCTION, globals={"event": {"event": name}}, journal=journal)


async def test_a_step_that_hoglet_fails_on_does_not_end_the_others(monkeypatch):
    here = str(Path(__file__).parent)
    monkeypatch.setattr(step_batcher, "run_steps", "sample_steps:run_steps")
    sandbox = Sandbox(workers=1, import_path=[here])
    batcher = StepBatcher(sandbox)
    names = ["a", "b", "poison", "c", "d"]
    try:
        steps: list[Step] = await asyncio.gather(*(batcher.step(_request(one)) for one in names))
    finally:
        await sandbox.close()

    outcomes = {name: step.outcome for name, step in zip(names, steps, strict=True)}
    assert outcomes == {**dict.fromkeys(names, "finished"), "poison": "failed"}
    assert (steps[2].error_class, "ZeroDivisionError" in str(steps[2].error)) == ("hog", True)
