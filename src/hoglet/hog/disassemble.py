"""Disassembles bytecode, one operation per line.

.. code-block:: text

    0002  INTEGER 1
    0004  JUMP_IF_FALSE 5          -> 0011
    0011  CALLABLE "lambda" 1 0 3
    0016    GET_LOCAL 0

A function's body is indented under its CALLABLE. Invalid cells are shown as such, so that damaged
bytecode can be inspected too.

Source: docs/spec/hog-language.md#12-bytecode.
"""

import json
from collections.abc import Iterator
from typing import Any

from hoglet.hog.opcodes import Operation
from hoglet.kit.errors import Invalid

_BY_CODE = {int(operation): operation for operation in Operation}


def disassemble(bytecode: list[Any]) -> str:
    """The listing of ``bytecode``, with a line break after each operation.

    Args:
        bytecode: ``["_H", 1, ...]``, or ``["_h", ...]`` of the older version 0.

    Raises:
        Invalid: the header is not one of these.
    """
    return "".join(f"{line}\n" for line in _lines(bytecode, _header_length(bytecode)))


def _header_length(bytecode: list[Any]) -> int:
    if bytecode[:1] == ["_H"] and len(bytecode) > 1:
        return 2
    if bytecode[:1] == ["_h"]:
        return 1
    raise Invalid("Invalid HogQL bytecode, must start with '_H'")


def _lines(cells: list[Any], position: int) -> Iterator[str]:
    ends: list[int] = []
    while position < len(cells):
        while ends and position >= ends[-1]:
            ends.pop()
        operation = _operation(cells[position])
        count = _operand_count(operation, cells, position)
        operands = cells[position + 1 : position + 1 + count]
        text = _text(operation, cells[position], operands)
        target = _target(operation, position, operands)
        yield (
            f"{position:04}  {'  ' * len(ends)}{text}".ljust(34) + target
            if target
            else (f"{position:04}  {'  ' * len(ends)}{text}")
        )
        position += 1 + count
        if operation in {Operation.CALLABLE, Operation.DECLARE_FN} and operands:
            ends.append(position + _whole(operands[-1]))


def _operation(cell: Any) -> Operation | None:
    return _BY_CODE.get(cell) if isinstance(cell, int) and not isinstance(cell, bool) else None


def _operand_count(operation: Operation | None, cells: list[Any], position: int) -> int:
    if operation is None:
        return 0
    if operation is Operation.CLOSURE and position + 1 < len(cells):
        return 1 + 2 * _whole(cells[position + 1])
    return len(operation.operands)


def _whole(cell: Any) -> int:
    return cell if isinstance(cell, int) and cell >= 0 else 0


def _text(operation: Operation | None, cell: Any, operands: list[Any]) -> str:
    if operation is None:
        return f"?? {json.dumps(cell, ensure_ascii=False)}"
    visible = [json.dumps(operand, ensure_ascii=False) for operand in operands]
    return " ".join([operation.name, *visible])


def _target(operation: Operation | None, position: int, operands: list[Any]) -> str:
    if operation is None or not operands or not isinstance(operands[0], int):
        return ""
    if "jump" in operation.operands:
        return f"-> {position + 2 + operands[0]:04}"
    if "handler" in operation.operands:
        return f"-> {position + 1 + operands[0]:04}"
    return ""
