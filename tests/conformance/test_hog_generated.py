"""Random programs behave the same in hoglet and on the official VM."""

import warnings

import pytest

from support.hog_cases import Case
from support.hog_engines import run_machine, run_python
from support.hog_programs import random_program
from support.seeds import thinned


@pytest.mark.parametrize("seed", thinned(range(0, 200, 20), 4))
def test_twenty_random_programs_agree(seed: int) -> None:
    for number in range(seed, seed + 20):
        case = Case(name=f"random {number}", source=random_program(number), lines=[])

        assert run_python(case) == run_machine(case), case.source


@pytest.mark.parametrize("seed", thinned(range(1000, 1200, 50), 4))
def test_generated_python_is_clean(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(seed, seed + 50):
            ran = run_python(Case(name="", source=random_program(number), lines=[]))

            assert "Internal error" not in (ran.error or "")
