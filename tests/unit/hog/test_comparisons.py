"""Comparisons that are printed in place give what the general functions give."""

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.steps import Finished
from hoglet.hog.runtime.compare import equal
from hoglet.hog.runtime.convert import import_value

VALUES = [
    None, True, False, 0, 1, 2, 0.0, 1.0, 1.5, 2**60, "", "true", "false", "1", "x", [], [True],
    {}, {"a": True}, {"__hogDate__": True, "year": 2024, "month": 1, "day": 2},
]  # fmt: skip

SOURCE = """
let is_set := length(toString(x)) > 0
return [x = true, x != true, x = false, x != false, true = x, false != x, x = is_set, is_set != x]
"""


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_of_any_type_compared_with_booleans(value: object) -> None:
    program = compile_python(compile_program(SOURCE))
    step = Execution(program, globals={"x": value}).start()
    other, is_set = import_value(value), value != ""
    is_true, is_false, is_same = equal(other, True), equal(other, False), equal(other, is_set)
    assert step == Finished(
        [
            is_true, not is_true, is_false, not is_false,
            is_true, not is_false, is_same, not is_same,
        ]
    )  # fmt: skip


def test_booleans_are_compared_without_a_call() -> None:
    source = compile_python(compile_program("return event.is_paid = true")).source
    assert "is True if type(" in source


TEXTS = ["", "true", "1", "x", "2024-01-02", "1152921504606846976"]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_host_data_is_compared_with_literal_texts_as_if_it_were_imported(value: object) -> None:
    tests = ", ".join(f"event.x = '{text}', '{text}' != event.x" for text in TEXTS)
    program = compile_python(compile_program(f"return [{tests}]"))
    step = Execution(program, globals={"event": {"x": value}}).start()
    same = [equal(import_value(value), text) for text in TEXTS]
    assert step == Finished([answer for is_same in same for answer in (is_same, not is_same)])
    assert "imp(" not in program.source


NUMBERS = [
    None, True, 0, 2, 2.0, -0.0, 1.5, 2**30, 2**53, 2**53 + 1, -(2**53) - 1, 10**17 + 1, 1e17, "",
    "2", "x", "\u00e9", [], {"__hogDateTime__": True, "dt": 1714739696.5, "zone": "UTC"},
]  # fmt: skip

ORDERS = """
let most := x
return [x < y, x > y, x <= y, x >= y, y > most, most <= y + 0, y < 'b', y > length('ab') / 2]
"""


@pytest.mark.parametrize("x", NUMBERS, ids=repr)
def test_numbers_of_the_host_are_ordered_as_if_they_were_imported(x: object) -> None:
    program = compile_program(ORDERS)
    plain, traced = compile_python(program), compile_python(program, trace=True)
    for y in NUMBERS:
        given = {"x": x, "y": y}
        steps = [Execution(code, globals=given).start() for code in (plain, traced)]
        assert steps[0] == steps[1]


def test_small_numbers_of_the_host_are_ordered_without_an_import() -> None:
    source = compile_python(compile_program("return event.price > event.limit")).source
    assert "else gt(imp(" in source
