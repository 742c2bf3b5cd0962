"""Generated programs print the same on every engine; mutated ones never crash the compiler."""

import contextlib

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hoglet.hog.bytecode import program_bytecode
from hoglet.hog.compile import compile_program, compile_template
from hoglet.hog.javascript import program_javascript
from hoglet.hog.python.program import compile_python
from hoglet.kit.errors import SourceError
from support.hog_cases import Case, read_cases
from support.hog_engines import run_javascript, run_machine, run_python
from support.hog_typed_programs import programs

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
quick = settings(max_examples=100, suppress_health_check=_QUIET, derandomize=True)
at_length = settings(max_examples=2000, suppress_health_check=_QUIET)
SOURCES = [case.source.strip() for case in read_cases() if len(case.source) < 2000]


def _agree_with_the_machine(source: str) -> None:
    case = Case(name="generated", source=source)

    assert run_python(case) == run_machine(case)


def _agree_with_javascript(source: str) -> None:
    case = Case(name="generated", source=source)
    ours, printed = run_python(case), run_javascript(case)

    assert (ours.lines, ours.error is None) == (printed.lines, printed.error is None)


@quick
@given(programs(mixed=True))
def test_python_and_the_official_machine_agree(source: str) -> None:
    _agree_with_the_machine(source)


@quick
@given(programs(mixed=False))
def test_python_and_printed_javascript_agree(source: str) -> None:
    _agree_with_javascript(source)


@pytest.mark.long
@at_length
@given(programs(mixed=True))
def test_python_and_the_official_machine_agree_at_length(source: str) -> None:
    _agree_with_the_machine(source)


@pytest.mark.long
@at_length
@given(programs(mixed=False))
def test_python_and_printed_javascript_agree_at_length(source: str) -> None:
    _agree_with_javascript(source)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A program of the suite with a few stretches cut, doubled or replaced."""
    source = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(source)))
        end = min(len(source), start + draw(st.integers(0, 8)))
        piece = draw(
            st.sampled_from(
                [
                    "",
                    source[start:end] * 2,
                    "{",
                    ")",
                    "'",
                    "f'{",
                    "->",
                    ":=",
                    "\x00",
                    "é",
                    "/*",
                    "0xFFFFFFFFFFFFFFFFFF",
                    "1e999",
                    "<a>",
                    "?.",
                    "1_0",
                    "sql(",
                    "(select 1 from a)",
                ]
            )
        )
        source = source[:start] + piece + source[end:]
    return source


@settings(max_examples=300, suppress_health_check=_QUIET)
@given(damaged())
@example("() -> { x := 1 }")
def test_damaged_programs_never_crash_the_compiler(source: str) -> None:
    for compile_one in (compile_program, compile_template):
        with contextlib.suppress(SourceError):
            compile_one(source)
    with contextlib.suppress(SourceError):
        program = compile_program(source)
        program_bytecode(program)
        program_javascript(program)
        compile_python(program)
