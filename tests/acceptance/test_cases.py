"""Runs every case in ``cases/`` on one server."""

from pathlib import Path

import pytest

from acceptance.conftest import CaseStage
from support.acceptance import Case, play, read_cases

CASES = list(read_cases(Path(__file__).parent / "cases"))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.is_slow else [])
        for case in CASES
    ],
)
def test_case(case: Case, stage: CaseStage) -> None:
    if case.gap is None:
        play(case, stage)
        return
    try:
        play(case, stage)
    except AssertionError as error:
        pytest.xfail(f"{case.gap}: {error}")
    pytest.fail(f"works now; remove the gap: {case.gap}")
