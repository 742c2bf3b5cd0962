"""Steps, resumes, journals, host functions, errors with lines, isolation."""

import json
from datetime import UTC, datetime

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.python.steps import Chunk, Failed, Finished, HostCallRequest, ProgramHost
from hoglet.hog.runtime.errors import HostFailure
from hoglet.kit.clock import FixedClock

NOON = FixedClock(datetime(2024, 5, 3, 12, tzinfo=UTC))


def compiled(source: str, **options):
    return compile_python(compile_program(source), **options)


def test_step_by_step() -> None:
    execution = Execution(compiled("let a := fetch('x', {'n': 1.0}); return a.status + 1"))

    assert execution.start() == HostCallRequest("fetch", ["x", {"n": 1}])
    assert execution.resume({"status": 200}) == Finished(201)


def test_calls_deep_inside_callbacks_suspend() -> None:
    source = """
    fun load(url) { let f := fetch; return f(url).body }
    let m := arrayMap
    return [arrayMap(x -> load(x), ['a', 'b']), m(x -> fetch(x).body, ['c']),
            arrayFilter(x -> fetch(x).body = 'd', ['d', 'e']),
            arrayReduce((sum, x) -> sum || fetch(x).body, ['f'], ''),
            arrayExists(x -> fetch(x).body = 'h', ['g', 'h']),
            arrayCount(x -> fetch(x).body = 'i', ['i'])]
    """
    functions = {"fetch": lambda url: {"body": url}}

    outcome = run_program(source, functions=functions, async_functions={"fetch"})

    assert outcome.result == [["a", "b"], ["c"], ["d"], "f", True, 1]


def test_error_thrown_by_the_host_can_be_caught() -> None:
    source = "try { fetch('x') } catch (e: RetryError) { return [e.message, e.payload.code] }"
    execution = Execution(compiled(source))
    execution.start()

    step = execution.fail("no route", type_name="RetryError", payload={"code": 7})

    assert step == Finished(["no route", 7])


def test_sync_host_functions_hide_library_functions() -> None:
    calls = []

    def lower(value):
        calls.append(value)
        return {"seen": [value]}

    outcome = run_program("return lower((1, 'A')).seen[1]", functions={"lower": lower})

    assert (outcome.result, calls) == ([1, "A"], [[1, "A"]])


def test_sync_host_failure_is_catchable_and_other_exceptions_end_the_run() -> None:
    def refuse():
        raise HostFailure("no", type_name="Refused")

    def broken():
        raise ValueError("oops")

    functions = {"refuse": refuse, "broken": broken}
    caught = run_program("try { refuse() } catch (e) { return e.type }", functions=functions)
    ended = run_program("try { broken() } catch (e) { return 1 }", functions=functions)

    assert caught.result == "Refused"
    assert ended.error is not None
    assert ended.error.text == "broken failed: oops"


SOURCE = """
let id := generateUUIDv4()
print('before', id)
let first := fetch('a')
let time := now()
let dice := randomFloat()
try { fetch('b') } catch (e) { print('failed', e.message) }
print('between', note('n'))
let last := fetch('c')
return [id, first, toString(time), dice, last]
"""


def test_replay_reaches_the_same_point_and_prints_nothing_twice() -> None:
    program = compiled(SOURCE, functions={"note"})
    lines, seen = [], []
    functions = {"note": lambda text: seen.append(text) or len(seen)}
    first = Execution(program, host=ProgramHost(functions), on_print=lines.append, clock=NOON)
    first.start()
    first.resume({"body": 1})
    pending = first.fail("down")
    assert pending == HostCallRequest("fetch", ["c"])
    stored = json.loads(json.dumps(first.journal))

    later = FixedClock(datetime(2025, 1, 1, tzinfo=UTC))
    again = Execution(program, host=ProgramHost(functions), on_print=lines.append, clock=later)
    step = again.replay(stored)

    assert step == pending
    assert seen == ["n"]
    assert len(lines) == 3
    assert again.resume("end") == first.resume("end")


def test_replay_of_another_program_is_refused() -> None:
    execution = Execution(compiled("return randomFloat()"))

    step = execution.replay([["now", 5]])

    assert isinstance(step, Failed)
    assert "Replay" in step.error.text


def test_seed_and_clock_decide() -> None:
    source = "return [randomFloat(), generateUUIDv4(), toString(now()), toString(today())]"
    runs = [run_program(source, seed=7, clock=NOON).result for _ in range(2)]

    assert runs[0] == runs[1]
    assert runs[0][2:] == ["2024-05-03T12:00:00.000Z", "2024-05-03"]
    assert runs[0][1][14] == "4"


def test_globals_are_copies() -> None:
    given = {"event": {"list": [1, {"a": 2}]}}
    source = """
    let e := event
    e.list[1] := 5
    e.list[2].a := 6
    event.list[1] := 7
    return [e.list, event.list]
    """

    outcome = run_program(source, globals=given)

    assert outcome.result == [[5, {"a": 6}], [1, {"a": 2}]]
    assert given == {"event": {"list": [1, {"a": 2}]}}


def test_results_are_plain() -> None:
    source = """
    let me := {}
    me.self := me
    return [1.0, (1, 2), toDate('2024-01-02'), Error('x', {'a': 1.0}), print, me, {1: 2, null: 3},
            6 / 2, toDateTime('2024-01-02')]
    """

    outcome = run_program(source)

    assert json.dumps(outcome.result) == json.dumps(
        [
            1,
            [1, 2],
            {"__hogDate__": True, "year": 2024, "month": 1, "day": 2},
            {"__hogError__": True, "type": "Error", "message": "x", "payload": {"a": 1}},
            "fn<print(0)>",
            {"self": None},
            {"1": 2, "null": 3},
            3,
            {"__hogDateTime__": True, "dt": 1704153600, "zone": "UTC"},
        ]
    )


def test_tagged_globals_come_alive() -> None:
    given = {"at": {"__hogDateTime__": True, "dt": 0, "zone": "UTC"}, "big": 2**60}

    outcome = run_program("return [typeof(at), toString(at), big]", globals=given)

    assert outcome.result == ["datetime", "1970-01-01T00:00:00.000Z", float(2**60)]


def test_uncaught_error_has_type_payload_line_and_frames() -> None:
    source = """fun inner() {
  throw RetryError('it\\'s bad', {'code': 7})
}
let f := () -> inner()

f()"""

    error = run_program(source).error

    assert error is not None
    assert error.text == "RetryError('it\\'s bad')"
    assert (error.type, error.message, error.payload) == ("RetryError", "it's bad", {"code": 7})
    assert (error.kind, error.line) == ("uncaught", 2)
    assert [(frame.function, frame.line) for frame in error.frames] == [
        ("root", 6),
        ("lambda", 4),
        ("inner", 2),
    ]


@pytest.mark.parametrize(
    ("source", "text", "line"),
    [
        ("let a := [1]\nlet i := 0\nprint(a[i])", "Hog arrays start from index 1", 3),
        ("\n\nnope()", "Unsupported function call: nope", 3),
        ("print(1)\nreturn nope.a", "Global variable not found: nope.a", 2),
        ("let x := 1\nx()", "Invalid closure: 1", 2),
        ("throw 'x'", "Can not throw: value is not of type Error", 1),
        ("import('m')", "Unknown chunk: m", 1),
        ("'a' =~ '('", "Invalid regular expression: missing ): (", 1),
    ],
)
def test_engine_errors_have_their_line_and_cannot_be_caught(
    source: str, text: str, line: int
) -> None:
    error = run_program(source).error

    assert error is not None
    assert (error.text, error.line, error.kind) == (text, line, "engine")
    caught = run_program(f"try {{ {source} }} catch (e) {{ return 'caught' }}")
    assert caught.error is not None


def test_traced_run_tells_values_and_calls_by_line() -> None:
    source = "let a := 1\na := a + 1\nlet b := upper('x')\nfun f(n) { return n * 2 }\nf(a)"

    outcome = run_program(source, trace=True)

    assert outcome.trace == [
        {"line": 1, "name": "a", "value": "1"},
        {"line": 2, "name": "a", "value": "2"},
        {"line": 3, "name": "upper()", "value": "X"},
        {"line": 3, "name": "b", "value": "X"},
        {"line": 4, "name": "return", "value": "4"},
        {"line": 5, "name": "f()", "value": "4"},
    ]


def test_operands_that_could_fail_are_not_skipped() -> None:
    condition = "return event.a = 1 and other.b = 2"

    assert run_program(condition, globals={"event": {}, "other": {}}).result is False
    error = run_program(condition, globals={"event": {}}).error
    assert error is not None
    assert error.text == "Global variable not found: other.b"


def test_programs_run_inside_host_functions() -> None:
    inner = compiled("let n := 0; for (let i := 0; i < 10; i := i + 1) { n := n + i } return n")

    def nested():
        step = Execution(inner).start()
        assert isinstance(step, Finished)
        return step.result

    assert run_program("return nested() + nested()", functions={"nested": nested}).result == 90


def chunk(source: str, **given):
    return Chunk(compile_python(compile_program(source)), given)


def test_a_chunk_runs_once_with_its_own_globals() -> None:
    lines: list[str] = []
    source = "let m := import('m') print(m.area(2, 3), import('m') == m, name) return m.seen"
    module = "print('loaded') let unit := name return {'area': (w, h) -> w * h, 'seen': unit}"
    execution = Execution(
        compile_python(compile_program(source)),
        globals={"name": "outer"},
        host=ProgramHost(chunks={"m": chunk(module, name="inner")}),
        on_print=lines.append,
    )

    assert execution.start() == Finished("inner")
    assert lines == ["loaded", "6 true outer"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import('x')", "Unknown chunk: x"),
        ("import()", "Function import requires exactly 1 arguments"),
        ("import('waits')", "The chunk waits cannot wait for the host"),
        ("import('fails')", "Error('bad')"),
        ("import('endless')", "Execution timed out after 0.2 seconds"),
        ("let f := import('gives') while (true) { f() }", "Execution timed out after 0.2 seconds"),
    ],
)
def test_what_chunks_may_not(source: str, message: str) -> None:
    chunks = {
        "waits": chunk("fetch('x')"),
        "fails": chunk("throw Error('bad')"),
        "endless": chunk("while (true) { }"),
        "gives": chunk("return (() -> 1)"),
    }
    program = compile_python(compile_program(source))
    step = Execution(program, host=ProgramHost(chunks=chunks), budget=Budget(timeout_s=0.2)).start()

    assert isinstance(step, Failed)
    assert step.error.text.startswith(message)


def test_each_run_has_its_own_limits_though_programs_share_their_modules() -> None:
    source = "fun f(n) { return n = 0 ? 0 : 1 + f(n - 1) } return f(20)"
    program, budget = compile_python(compile_program(source)), Budget()
    importing = compile_python(compile_program("return import('deep')"))
    host = ProgramHost(chunks={"deep": Chunk(program)})

    for _ in range(2):
        assert Execution(program, budget=budget).start() == Finished(20)
        low = Execution(importing, host=host, budget=Budget(call_depth=10)).start()
        assert isinstance(low, Failed)
        assert low.error.kind == "depth"
        assert isinstance(Execution(program, budget=Budget(call_depth=5)).start(), Failed)
        assert Execution(importing, host=host, budget=budget).start() == Finished(20)
