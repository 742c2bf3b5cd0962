"""Programs return settled data as it is, and with the same values as after a search of it.

Source: docs/spec/hog-language.md#4-values.
"""

from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.steps import Finished
from hoglet.hog.runtime.settled_data import is_settled
from support.hog_settled_programs import SettledPrograms, random_globals


def exact(value: Any) -> Any:
    """A value with the types of its parts; in Python ``1 == 1.0 == True``, and NaN != NaN."""
    if type(value) is dict:
        return [(exact(key), exact(item)) for key, item in value.items()]
    if type(value) in (list, tuple):
        return type(value), [exact(item) for item in value]
    return type(value), repr(value)


def run(source: str, given: dict[str, Any], *, settled: bool) -> tuple[Any, list[str]]:
    lines: list[str] = []
    program = compile_python(compile_program(source))
    execution = Execution(
        program,
        globals=given,
        on_print=lines.append,
        shares_data=True,
        is_settled=settled,
        seed=1,
    )
    return execution.start(), lines


@pytest.mark.parametrize("seed", range(300))
def test_random_programs_return_what_they_return_without_knowing(seed: int) -> None:
    source, given = SettledPrograms(seed).source(), random_globals(seed)
    before = repr(given)
    step, lines = run(source, given, settled=is_settled(list(given.values())))
    other, other_lines = run(source, given, settled=False)

    assert lines == other_lines, source
    if isinstance(step, Finished):
        assert exact(step.result) == exact(other.result), source
        assert not step.is_settled or is_settled(step.result), source
    else:
        assert step == other, source
    assert repr(given) == before


GIVEN = {
    "event": {"name": "a", "n": 1.5, "list": [1], "o": {"p": "x"}, "key": "plan"},
    "person": {"properties": {"email": "é@x.example", "tags": ["t"]}},
}

DATE = {"__hogDate__": True, "year": 2024, "month": 5, "day": 3}


@pytest.mark.parametrize(
    "writes",
    [
        "",
        "e.name := 'b'; e.o.p := upper(event.name)",
        "e.n := e.n * 3; e.o.q := length(event.list); e.o.r := null; e.o.s := false",
        "e.n := 4 / 2",
        "e.email := person.properties.email",
        "e[event.key] := 1; e.o[lower('X')] := 'y'",
        "fun put(o) { o.p := 1; return o }; e.o := put(e.o)",
        "fun put(o) { o.p := 1; return o }; e.o := put(event.o)",
    ],
)
def test_known_to_be_settled(writes: str) -> None:
    step, _ = run(f"let e := event; {writes}; return e", GIVEN, settled=True)

    assert step.is_settled
    assert is_settled(step.result)


@pytest.mark.parametrize(
    ("writes", "part", "value"),
    [
        ("e.x := 2.0", "x", 2),
        ("e.x := toDate('2024-05-03')", "x", DATE),
        ("e.x := substring('😀', 1, 1)", "x", "\ud83d"),
        ("e.x := [1, 4 / 2]", "x", [1, 2]),
        ("e.x := person.properties.tags", "x", ["t"]),
        ("e.x := tuple(1, 2)", "x", [1, 2]),
        ("e.x := x -> x", "x", "fn<lambda(1)>"),
        ("e[concat('__hog', 'Date__')] := true; e.x := 1", "x", 1),
        ("e[length(event.list)] := 'one'", "1", "one"),
        ("e.list[length(e.list) + 1] := 2.0", "list", [1, 2]),
        ("let l := e.list; l[length(l) + 1] := 2.0", "list", [1, 2]),
        ("let o := {'a': 2.0}; o.b := event.list; e.o := o", "o", {"a": 2, "b": [1]}),
        ("fun put(o) { o.p := 4 / 2; return o }; e.x := put(event.o)", "x", {"p": 2}),
        ("fun put(o) { if (o.p = 'x') { return 2.0 } return o }; e.o := put(event.o)", "o", 2),
        ("for (let i in range(99)) { e.x := 'many' }", "x", "many"),
    ],
)  # fmt: skip
def test_searched_again(writes: str, part: str, value: Any) -> None:
    step, _ = run(f"let e := event; {writes}; return e", GIVEN, settled=True)

    assert not step.is_settled
    assert exact(step.result[part]) == exact(value)


@pytest.mark.parametrize(
    "value",
    [2.0, -0.0, 2**53, -(2**60), 2**64, "\ud83d", {1: 2}, {"__hogDate__": True}, b"", object()],
)  # fmt: skip
def test_odd_data_is_not_settled(value: Any) -> None:
    assert not is_settled([{"a": value}])


def test_deep_data_is_not_settled() -> None:
    value: Any = 1
    for _ in range(300):
        value = {"a": value}

    assert not is_settled(value)
