"""Prints expressions of the bound tree as Python.

Source: docs/spec/hog-language.md#3-operators-loosest-first and
docs/spec/hog-language.md#5-semantics-of-operators.
"""

from typing import ClassVar

from hoglet.hog.python.codegen.calls import CallPrinter
from hoglet.hog.python.codegen.evaluation import Handlers
from hoglet.hog.python.codegen.operators import OperatorPrinter
from hoglet.hog.python.codegen.values import ValuePrinter


class ExpressionPrinter(ValuePrinter, OperatorPrinter, CallPrinter):
    """The printer of expressions."""

    EXPRESSIONS: ClassVar[Handlers] = {
        **ValuePrinter.VALUES,
        **OperatorPrinter.OPERATORS,
        **CallPrinter.CALLS,
    }
