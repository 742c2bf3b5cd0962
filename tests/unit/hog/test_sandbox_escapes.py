"""The known escapes in ``escapes.txt`` cannot access Python."""

import json
import re
from pathlib import Path

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.steps import Failed, Finished, HostCallRequest, ProgramHost
from hoglet.kit.errors import SourceError

from .test_sandbox_safety import check_vocabulary

FOLDER = Path(__file__).parent
ESCAPES = [
    line
    for line in (FOLDER / "escapes.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
OF_PYTHON = re.compile(
    r"<(?:class|function|module|built-in|frame|code|generator|method)\b|object at 0x|Traceback"
    r"|Internal error|hoglet\.|Hog[A-Z][A-Za-z]+\(|site-packages|root:x:0|(?:Type|Key|Name|Value|"
    r"Attribute|Recursion|Unicode\w+)Error"
)
PLAIN = (str, int, float, bool, type(None))


def is_plain(value: object) -> bool:
    """Whether a value is JSON data and nothing else."""
    if isinstance(value, dict):
        return all(type(key) is str and is_plain(item) for key, item in value.items())
    return type(value) in PLAIN or (type(value) is list and all(map(is_plain, value)))


@pytest.mark.parametrize("source", ESCAPES)
def test_nothing_of_python_is_reached(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOGLET_TEST_SECRET", "the-secret-of-the-environment")
    try:
        program = compile_python(compile_program(source), functions=["lookup"])
    except SourceError as error:
        seen = [error.message]
    else:
        check_vocabulary(program.source)
        seen = run(program)
    text = json.dumps(seen)

    assert not OF_PYTHON.search(text), text
    assert "the-secret-of-the-environment" not in text


def run(program) -> list:
    """Everything that a run makes visible: output, errors and calls."""
    seen = []

    def lookup(*given):
        seen.append(list(given))
        return {"status": 200}

    execution = Execution(
        program,
        globals={"event": {"event": "x", "properties": {}}},
        host=ProgramHost({"lookup": lookup}),
        on_print=seen.append,
        budget=Budget(timeout_s=5),
    )
    step = execution.start()
    while isinstance(step, HostCallRequest):
        seen.append(step.args)
        step = execution.resume({"status": 200})
    if isinstance(step, Finished):
        seen.append(step.result)
    if isinstance(step, Failed):
        seen += [step.error.text, step.error.type, step.error.message, step.error.payload]
    assert is_plain(seen), seen
    return seen
