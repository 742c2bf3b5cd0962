"""Runs every Hog conformance case on each of its engines."""

import pytest

from hoglet.hog.compile import compile_program
from hoglet.kit.errors import SourceError
from support.hog_cases import Case, read_cases
from support.hog_engines import Ran, run_javascript, run_machine, run_python

CASES = read_cases()


def assert_error(expected: str | None, actual: str | None) -> None:
    """A text that ends in ``...`` only has to begin so."""
    if expected and expected.endswith("..."):
        assert (actual or "").startswith(expected.removesuffix("..."))
    else:
        assert actual == expected


RUNNABLE = [case for case in CASES if case.compile_error is None]


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.compile_error is not None], ids=repr
)
def test_compile_error(case: Case) -> None:
    with pytest.raises(SourceError) as caught:
        compile_program(case.source)

    assert str(caught.value).startswith(str(case.compile_error))


@pytest.mark.parametrize("case", [case for case in RUNNABLE if "python" in case.engines], ids=repr)
def test_python_prints_what_the_margin_says(case: Case) -> None:
    ran = run_python(case)

    assert ran.lines == case.lines
    assert_error(case.runtime_error, ran.error)


@pytest.mark.parametrize(
    "case", [case for case in RUNNABLE if "vm" in case.engines and not case.deviation], ids=repr
)
def test_official_machine_prints_the_same(case: Case) -> None:
    ran = run_machine(case)

    assert ran.lines == case.lines
    assert_error(case.runtime_error, ran.error)


@pytest.mark.parametrize("case", [case for case in RUNNABLE if case.deviation], ids=repr)
def test_official_machine_deviates_as_listed(case: Case) -> None:
    ran = run_machine(case)

    assert ran != Ran(case.lines, case.runtime_error)
    if case.vm_lines or case.vm_error:
        assert ran.lines == case.vm_lines
        assert (ran.error or "").startswith(case.vm_error or "")


@pytest.mark.parametrize(
    "case", [case for case in RUNNABLE if "javascript" in case.engines], ids=repr
)
def test_printed_javascript_prints_the_same(case: Case) -> None:
    ran = run_javascript(case)

    assert ran.lines == case.lines
    assert (ran.error is None) == (case.runtime_error is None)
