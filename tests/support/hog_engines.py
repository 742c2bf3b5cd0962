"""The three engines that run Hog programs in tests, with one result type."""

from functools import cache
from typing import NamedTuple

from hoglet.hog.bytecode import program_bytecode
from hoglet.hog.compile import compile_program
from hoglet.hog.javascript import program_javascript
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.run_to_end import run_program
from support.hog_cases import Case
from support.oracle import Server, need, why_no_machine, why_no_node


class Ran(NamedTuple):
    """What a run printed, line by line, and the text of the error that ended it."""

    lines: list[str]
    error: str | None


def run_python(case: Case) -> Ran:
    """Run a case with hoglet."""
    outcome = run_program(case.source, globals=case.globals, budget=Budget(**case.budget))
    lines = [line for text in outcome.lines for line in text.split("\n")]
    return Ran(lines, outcome.error.text if outcome.error else None)


@cache
def _machine() -> Server:
    return Server("vm.js")


@cache
def _javascript() -> Server:
    return Server("javascript.js")


def run_machine(case: Case) -> Ran:
    """Run hoglet's bytecode of a case on the official VM."""
    need(why_no_machine())
    bytecode = program_bytecode(compile_program(case.source))
    answer = _machine().ask(bytecode=bytecode, globals=case.globals)
    return Ran(answer["output"], answer["error"])


def run_javascript(case: Case) -> Ran:
    """Run the generated JavaScript of a case in Node."""
    need(why_no_node())
    code = program_javascript(compile_program(case.source))
    answer = _javascript().ask(code=code, globals=case.globals)
    return Ran(answer["output"], answer["error"])
