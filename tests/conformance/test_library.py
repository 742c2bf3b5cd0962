"""The example of every library function prints the same on the official machine and in JavaScript."""

import pytest
from hoglet.hog.javascript.library import helpers
from hoglet.hog.javascript.names import safe_name
from hoglet.hog.stl.table import STL
from support.hog_cases import Case
from support.hog_engines import run_javascript, run_machine

SHOWN = [entry for entry in STL.values() if entry.shown is not None]
ONLY_OURS: dict[str, str] = {}
NOT_IN_JAVASCRIPT: dict[str, str] = {}


def _case(entry) -> Case:
    return Case(name=entry.name, source=entry.example, lines=entry.shown.split("\n"))


@pytest.mark.parametrize("entry", SHOWN, ids=lambda entry: entry.name)
def test_machine_agrees_with_the_example(entry) -> None:
    if entry.name in ONLY_OURS:
        pytest.skip(ONLY_OURS[entry.name])
    case = _case(entry)

    assert run_machine(case) == (case.lines, None)


@pytest.mark.parametrize(
    "entry", [e for e in SHOWN if safe_name(e.name) in helpers()], ids=lambda entry: entry.name
)
def test_javascript_agrees_with_the_example(entry) -> None:
    if entry.name in NOT_IN_JAVASCRIPT:
        pytest.skip(NOT_IN_JAVASCRIPT[entry.name])
    case = _case(entry)

    assert run_javascript(case) == (case.lines, None)
