"""Generated library calls print the same in hoglet and on the official VM."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.hog_calls import calls
from support.hog_cases import Case
from support.hog_engines import run_machine, run_python

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
programs = st.lists(calls, min_size=1, max_size=8).map("\n".join)


def _agree(source: str) -> None:
    case = Case(name="generated", source=source)

    assert run_python(case) == run_machine(case)


@settings(max_examples=60, suppress_health_check=_QUIET, derandomize=True)
@given(programs)
def test_library_calls_agree(source: str) -> None:
    _agree(source)


@pytest.mark.long
@settings(max_examples=2000, suppress_health_check=_QUIET)
@given(programs)
def test_library_calls_agree_at_length(source: str) -> None:
    _agree(source)
