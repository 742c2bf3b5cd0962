"""Budgets: time, memory, depth, arguments, steps. None can be caught by the program."""

import gc
import os
import select
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.memory import (
    MemoryMeter,
    frame_values,
    live_bytes,
    process_bytes,
    recent_figures,
)
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from support.hog_alone import RunAlone
from support.seeds import thinned

pytestmark = pytest.mark.engine

SHORT = Budget(timeout_s=0.3)


def failure(source: str, **limits: Any) -> Any:
    outcome = run_program(source, budget=Budget(**limits))
    assert outcome.error is not None, outcome.result
    return outcome.error


@pytest.mark.parametrize(
    "source",
    [
        "while (true) { }",
        "for (;;) { let x := 1 }",
        "fun f(n) { return n > 40 ? 1 : f(n + 1) + f(n + 1) } return f(0)",
        "let a := range(1000); while (true) { arrayMap(x -> x + 1, a) }",
        "let a := range(300000); while (true) { let t := toString(a) }",
        "try { while (true) { } } catch (e) { print('caught') }",
        "while (true) { try { throw Error('x') } catch { } }",
    ],
)
def test_time_is_spent(source: str) -> None:
    started = time.thread_time()
    error = failure(source, timeout_s=0.3)

    assert error.kind == "timeout"
    assert error.text.startswith("Execution timed out after 0.3 seconds. Performed ")
    assert error.text.endswith(" ops.")
    assert time.thread_time() - started < 1.5


GROWING = [
    line
    for line in (Path(__file__).parent / "growing.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("source", thinned(GROWING, 4))
def test_memory_is_spent(source: str, run_alone: RunAlone) -> None:
    limit = 4_000_000
    values = {"event": {"big": {"a": [1] * 100}}}
    ended = run_alone(source, values, memory_bytes=limit, timeout_s=60)

    assert ended.kind == "memory", ended
    assert ended.text.startswith(f"Memory limit of {limit} bytes exceeded. Tried to alloc")
    assert ended.grown < 200_000_000


def test_memory_errors_are_not_caught(run_alone: RunAlone) -> None:
    source = "try { let s := 'x'; while (true) { s := s || s } } catch (e) { print('caught') }"

    assert run_alone(source).kind == "memory"


@pytest.mark.parametrize(
    ("source", "size"),
    [
        ("let a := range(1000); let b := [a, a, a]", 8 * (1 + 1 + 3 + 1000)),
        ("let s := arrayStringConcat(range(1000)); let t := [s, s]", 8 * 4 + 2890),
        ("let d := {'ab': 1, 'c': 'xyz'}", 8 * 5 + 6),
        ("let x := [1]; let f := () -> x", 8 * 3 + 8),
        ("let e := Error('abc', [1, 2])", 8 * 7 + 8),
    ],
)
def test_values_are_charged_by_the_rules(source: str, size: int) -> None:
    seen = list[int]()

    def measure() -> None:
        total, complete = live_bytes(
            frame_values(sys._getframe()),
            enough=10**9,
            until=time.perf_counter() + 60,
            tick=lambda: None,
        )
        assert complete
        seen.append(total)

    run_program(f"{source} measure()", functions={"measure": measure})

    assert abs(seen[0] - size) <= 64


def test_garbage_is_not_charged(run_alone: RunAlone) -> None:
    source = (
        "let s := ''; for (let i := 0; i < 3000; i := i + 1) { s := arrayStringConcat(range(500)) }"
    )

    assert run_alone(source, memory_bytes=200_000).kind is None


def test_a_run_is_not_charged_for_the_growth_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = iter([100_000_000, 150_000_000, 160_000_000])
    with monkeypatch.context() as figures:
        figures.setattr("hoglet.hog.python.memory.process_bytes", lambda: next(sizes))
        recent_figures.forget()
        before = recent_figures.get()

        MemoryMeter(1_000_000_000, before).check(None, lambda: None)

        assert recent_figures.get()[0] - before[0] == 60_000_000
    recent_figures.forget()  # or the next test's run is charged for the whole process


def test_json_nests_as_deeply_as_readers_take_it() -> None:
    nested = "let a := [1]; for (let i := 0; i < {}; i := i + 1) {{ a := [a] }} "
    written = nested + "return length(jsonStringify(a))"

    assert run_program(written.format(250)).result == 2 * 251 + 1
    assert "too deeply" in failure(written.format(300)).text


def test_depth_is_exactly_a_thousand_frames() -> None:
    recursion = "fun d(n) {{ return n == 0 ? 0 : 1 + d(n - 1) }} return d({})"

    assert run_program(recursion.format(998)).result == 998
    error = failure(recursion.format(999))
    assert (error.kind, error.text) == ("depth", "Call stack exceeded maximum length of 1000")
    assert len(error.frames) == 50


def test_callbacks_count_as_frames() -> None:
    recursion = "fun r(n) {{ return n = 0 ? 0 : arrayMap(x -> r(x - 1), [n])[1] + 1 }} return r({})"

    assert run_program(recursion.format(499)).result == 499
    assert failure(recursion.format(500)).kind == "depth"


def test_suspending_recursion_counts_the_same() -> None:
    recursion = "fun d(n) {{ if (n == 0) {{ return fetch('x') }} return d(n - 1) }} return d({})"
    functions = {"fetch": lambda url: url}

    assert (
        run_program(recursion.format(998), functions=functions, async_functions={"fetch"}).result
        == "x"
    )
    outcome = run_program(recursion.format(999), functions=functions, async_functions={"fetch"})
    assert outcome.error is not None
    assert outcome.error.kind == "depth"


def test_too_many_arguments() -> None:
    many = ", ".join(["1"] * 301)

    assert failure(f"return concat({many})").text == "Too many arguments"
    assert failure("fun f(a, b) { return 1 } f(1, 2, 3)").text == (
        "Too many arguments. Passed 3, expected 2"
    )


def test_async_steps() -> None:
    outcome = run_program(
        "while (true) { fetch('x') }",
        functions={"fetch": lambda url: url},
        async_functions={"fetch"},
        budget=Budget(async_steps=3),
    )

    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.text) == (
        "steps",
        "Exceeded maximum number of async steps: 3",
    )


@pytest.mark.parametrize(
    "end", ["print(x)", "return jsonStringify(x)", "return x", "return x == [x]"]
)
def test_deep_values_do_no_harm(end: str) -> None:
    source = f"let x := []; for (let i := 0; i < 100000; i := i + 1) {{ x := [x] }} {end}"

    outcome = run_program(source)

    assert outcome.error is None or outcome.error.kind in {"engine", "depth"}


def test_time_is_spent_in_a_child_process_too() -> None:
    assert run_program("return 1").result == 1  # the parent's watchdog is awake
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        error = run_program("while (true) { }", budget=SHORT).error
        os.write(writer, error.kind.encode() if error else b"none")
        os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], 60)
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    assert ready
    assert os.read(reader, 20) == b"timeout"


def test_time_is_spent_beside_other_runs_of_the_same_program() -> None:
    source = "if (endless) { while (true) { } } return 1"
    stop = threading.Event()

    def run_short_ones() -> None:
        while not stop.is_set():
            assert run_program(source, globals={"endless": False}).result == 1

    thread = threading.Thread(target=run_short_ones)
    thread.start()
    error = run_program(source, globals={"endless": True}, budget=SHORT).error
    stop.set()
    thread.join()

    assert error is not None
    assert error.kind == "timeout"


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("let x := 1 " + "while (x < 3) { " * 40 + "x := x + 1" + "}" * 40 + " return x", 3),
        (
            "fun f(a) { let x := 1 "
            + "while (x < 3) { " * 40
            + "x := x + 1 if (x == 3) { return a + x }"
            + "}" * 40
            + " return x } return f(10)",
            13,
        ),
        (
            "let x := 1 "
            + "try { " * 40
            + "throw Error('x')"
            + "} catch (e: Q) { }" * 39
            + "} catch { x := 5 } return x",
            5,
        ),
        (
            "let fs := [] "
            + "".join([f"for (let v{n} in [{n}, {n + 1}]) {{ " for n in range(2)])
            + "".join([f"for (let v{n} in [{n}]) {{ " for n in range(2, 30)])
            + "fs[length(fs) + 1] := () -> [v0, v1, v29]"
            + "}" * 30
            + " return arrayMap(f -> f(), fs)",
            [[0, 1, 29], [0, 2, 29], [1, 1, 29], [1, 2, 29]],
        ),
        ("let x := 1 return " + "x ? x : " * 140 + "2", 1),
        ("return " + "not " * 251 + "true", False),
        ("let x := 1.5 return " + " + ".join(["x"] * 290), 435),
    ],
)
def test_deep_programs_run(source: str, result: object) -> None:
    """Python nests 20 blocks, 100 indents and 200 parentheses; Hog nests more."""
    assert run_program(source).result == result


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ("let x := []; for (let i := 0; i < 100000; i := i + 1) { x := [x] }", "engine"),
        ("let x := [1]; for (let i := 0; i < 40; i := i + 1) { x := [x, x] }", "memory"),
    ],
)
@pytest.mark.parametrize("end", ["throw Error('bad', x)", "fetch(x)"])
def test_values_too_large_to_be_told_end_the_run(
    payload: str, kind: str, end: str, run_alone: RunAlone
) -> None:
    assert run_alone(f"{payload} {end}", memory_bytes=1_000_000, timeout_s=60).kind == kind


@pytest.mark.parametrize(
    ("count", "item"),
    [(20, "{key: 1}"), (20, "shared"), (200, "{key: 1, 'large': [1]}"), (20, "{key: 1, 2: 3}")],
)
def test_keys_that_objects_of_a_result_share_are_charged(count: int, item: str) -> None:
    source = (
        "let key := 'k' for (let i in range(18)) { key := concat(key, key) } "
        f"let shared := {{}} shared[key] := 1 let items := [] "
        f"for (let i in range({count})) {{ items := arrayPushBack(items, {item}) }} return items"
    )
    assert failure(source, memory_bytes=4_000_000).text.startswith("Memory limit of 4000000 bytes")
    assert run_program(source.replace("range(18)", "range(3)")).error is None


def test_keys_that_objects_of_a_returned_literal_share_are_charged() -> None:
    items = ", ".join([f"'a{number}': shared" for number in range(60)])
    source = (
        "let key := 'k' for (let i in range(18)) { key := concat(key, key) } "
        f"let shared := {{key: 1}} return {{{items}}}"
    )
    assert failure(source, memory_bytes=4_000_000).text.startswith("Memory limit of 4000000 bytes")
    assert run_program(source.replace("range(18)", "range(3)")).error is None


def test_values_that_contain_themselves_are_collected_before_they_fill_the_process():
    source = "let a := {'items': range(100000)}; a.self := a; return 1"
    program = compile_python(compile_program(source))
    before = process_bytes()
    gc.disable()  # few containers, so Python would collect them too late
    try:
        for _ in range(300):  # a gigabyte
            Execution(program).start()
        grown = process_bytes() - before
    finally:
        gc.enable()
        gc.collect()
    assert grown < 300_000_000


@pytest.mark.parametrize("end", ["return e", "print(e)", "return jsonStringify(e)"])
@pytest.mark.parametrize("value", ["event.long", "event", "{'a': [event.long]}"])
@pytest.mark.parametrize("write", ["e[f'k{i}'] := V", "set(e, i)"])
def test_long_texts_of_the_host_in_many_places_are_charged(
    write: str, value: str, end: str
) -> None:
    """JSON of gigabytes, from a program that has a few kilobytes of its own, ends the process."""
    body = write.replace("V", value)
    source = f"""
    fun set(o, i) {{ o[f'k{{i}}'] := {value} }}
    let e := event
    for (let i := 0; i < 400; i := i + 1) {{ {body} }}
    {end}"""
    outcome = run_program(source, globals={"event": {"long": "x" * 200_000}})

    assert outcome.error is not None
    assert outcome.error.kind == "memory"
