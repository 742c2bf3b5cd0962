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
