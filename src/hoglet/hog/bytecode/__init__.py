"""The bytecode back end: generates the JSON array that the official VMs run.

The layout matches the official compiler's, cell by cell, so that stored bytecode can be compared.
The result contains only ``str``, ``int``, ``float``, ``bool`` and is deterministic. Infinities and
NaN, which JSON lacks, are printed as a division.

Source: docs/spec/hog-language.md#12-bytecode.
"""

from hoglet.hog.bind import tree as bound
from hoglet.hog.bytecode.expressions import EXPRESSIONS
from hoglet.hog.bytecode.printer import Bytecode, BytecodePrinter, Handlers
from hoglet.hog.bytecode.statements import STATEMENTS
from hoglet.hog.nesting_guard import guarded

_HANDLERS: Handlers = EXPRESSIONS | STATEMENTS


def program_bytecode(program: bound.BoundProgram) -> Bytecode:
    """Bytecode of a program, e.g. ``["_H", 1, 33, 1, 35]`` for ``1``.

    Raises:
        SourceError: the program is nested too deeply.
    """
    printer = BytecodePrinter(_HANDLERS, program.root.number)
    guarded(lambda: printer.block(program.root.body))
    return ["_H", 1, *printer.cells]


def expression_bytecode(expression: bound.BoundExpression) -> Bytecode:
    """Bytecode of one expression, e.g. ``["_H", 1, 29]`` for ``true``.

    Raises:
        SourceError: the expression is nested too deeply.
    """
    printer = BytecodePrinter(_HANDLERS, 0)
    guarded(lambda: printer.expression(expression.expression))
    return ["_H", 1, *printer.cells]
