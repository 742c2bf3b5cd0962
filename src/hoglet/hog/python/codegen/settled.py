"""Prints tests of what a program writes into copies of the host's data.

They tell the run whether such a copy still is settled, see :mod:`hoglet.hog.runtime.settled_data`.
"""

from typing import Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.codegen.expressions import ExpressionPrinter
from hoglet.hog.python.codegen.operands import Operand
from hoglet.hog.runtime.settled_data import is_settled_key, is_settled_leaf

_TESTS: Final = {
    **dict.fromkeys("BNCZ", ""),
    **dict.fromkeys("LDE", "False"),
    "S": "({0}.isascii() or settled_leaf({0}))",
    "A": "(type({0}) is S and {0}.isascii() or settled_leaf({0}))",
    "K": "settled_leaf({0})",
    "F": "settled_leaf({0})",
}
"""The conditions under which values of these kinds are settled; empty if they always are."""


class SettledPrinter(ExpressionPrinter):
    """The printer of such tests."""

    def test_written(self, node: bound.AssignProperty, key: Operand, value: Operand) -> None:
        """Print a test of the key and the value that are written, if it is into such a copy.

        A run that writes repeatedly is not settled from the start.
        """
        borrowing = self.program.borrowing
        if borrowing.writes_repeatedly or not borrowing.is_edited(node.target):
            return
        test = _value_test(value)
        if test and borrowing.keeps_shape(node):
            test = f"(type({value.text}) is D or type({value.text}) is L or {test})"
        tests = [test for test in (_key_test(key), test) if test]
        if "False" in tests:
            self.line("unsettle()")
        elif tests:
            self.line(f"if not ({' and '.join(tests)}): unsettle()")


def _key_test(key: Operand) -> str:
    if key.constant:
        return "" if is_settled_key(key.value) else "False"
    return f"settled_key({key.text})"


def _value_test(value: Operand) -> str:
    if value.constant:
        return "" if is_settled_leaf(value.value) else "False"
    return _TESTS[value.kind].format(value.text)
