"""Functions that depend on nothing but their arguments are made once for all runs."""

from collections.abc import Iterator
from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import CompiledProgram, compile_python
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.python.steps import Failed, Finished

GIVEN: dict[str, Any] = {"event": {"name": "order", "tags": ["a", "b"], "box": {"n": 1}}}

ONCE = {
    "arguments": ("fun f(x) { let y := lower(x) return [x, y] }\nreturn f('A')", ["A", "a"]),
    "itself": ("fun f(n) { return n <= 1 ? 1 : n * f(n - 1) }\nreturn f(5)", 120),
    "another": (
        """fun f(x) { let y := x || '!' return y }
        fun g(x) { let y := f(x) return f(y) } return g('a')""",
        "a!!",
    ),
    "lambda": (
        "fun f(xs) { let n := 10 return arrayMap(x -> x + n, xs) }\nreturn f([1, 2])",
        [11, 12],
    ),
    "inside": ("fun f(x) { fun g(y) { return y + x }\nreturn g(1) }\nreturn f(2)", 3),
    "value": ("fun f(x) { let y := x return y }\nlet g := f\nreturn [g = f, g(3)]", [True, 3]),
    "given": ("fun f(x) { let y := x.n return y }\nreturn f(event.box)", 1),
    "block": ("if (true) { fun f(x) { let y := x return y }\nreturn f(4) }", 4),
}

IN_EACH_RUN = {
    "global": ("fun f() { let y := event.name return y }\nreturn f()", "order"),
    "view": ("let e := event\nfun f(k) { let y := e[k] return y }\nreturn f('name')", "order"),
    "outer": ("let n := 0\nfun f() { n := n + 1 return n }\nf()\nreturn f()", 2),
    "through another": (
        """let n := 0 fun f() { n := n + 1 return n }
        fun g() { let y := f() return y } g() return g()""",
        2,
    ),
    "deep": (
        "let n := 7\nfun f() { fun g() { let y := n return y }\nreturn g() }\nreturn f()",
        7,
    ),
    "assigned": ("fun f() { let y := 1 return y }\nf := () -> 2\nreturn f()", 2),
    "loop": (
        """let all := [] for (let i in [1, 2]) {
        fun f(x) { let y := x return y } all := arrayPushBack(all, f) } return all[1] = all[2]""",
        False,
    ),
}


def compiled(source: str) -> CompiledProgram:
    return compile_python(compile_program(source))


def results(program: CompiledProgram, times: int = 3) -> Iterator[Any]:
    for _ in range(times):
        step = Execution(program, globals=GIVEN).start()
        assert isinstance(step, Finished)
        yield step.result


def is_hoisted(program: CompiledProgram) -> bool:
    return "\ndef f1(" in program.source


@pytest.mark.parametrize("name", ONCE)
def test_made_once(name: str) -> None:
    source, expected = ONCE[name]
    program = compiled(source)
    assert is_hoisted(program)
    assert list(results(program)) == [expected] * 3
    assert run_program(source, globals=GIVEN, trace=True).result == expected


@pytest.mark.parametrize("name", IN_EACH_RUN)
def test_made_in_each_run(name: str) -> None:
    source, expected = IN_EACH_RUN[name]
    program = compiled(source)
    assert not is_hoisted(program)
    assert list(results(program)) == [expected] * 3
    assert run_program(source, globals=GIVEN, trace=True).result == expected


def test_lines_of_errors_are_those_of_the_text() -> None:
    source = "let a := 1\nfun f(x) {\n  let y := x\n  throw Error(y)\n}\nprint(a)\nf('no')"
    step = Execution(compiled(source)).start()
    assert isinstance(step, Failed)
    assert [(frame.function, frame.line) for frame in step.error.frames] == [("root", 7), ("f", 4)]


def test_calls_of_the_host_suspend_inside() -> None:
    source = "fun f(x) { let y := fetch(x) return y.status }\nreturn [f('a'), f('b')]"
    program = compiled(source)
    assert is_hoisted(program)
    execution = Execution(program)
    execution.start()
    execution.resume({"status": 1})
    assert execution.resume({"status": 2}) == Finished([1, 2])
