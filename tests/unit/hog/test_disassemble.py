"""The disassembler lists every cell once, bodies indented, jumps resolved."""

import pytest

from hoglet.hog.bytecode import program_bytecode
from hoglet.hog.compile import compile_program
from hoglet.hog.disassemble import disassemble
from hoglet.hog.opcodes import Operation
from hoglet.kit.errors import Invalid


def test_listing() -> None:
    source = "let n := 1 let f := (x) -> x + n if (f(1)) { print('é') }"

    assert (
        disassemble(program_bytecode(compile_program(source)))
        == """\
0002  INTEGER 1
0004  CALLABLE "lambda" 1 1 6
0009    GET_UPVALUE 0
0011    GET_LOCAL 0
0013    PLUS
0014    RETURN
0015  CLOSURE 1 true 0
0019  INTEGER 1
0021  GET_LOCAL 1
0023  CALL_LOCAL 1
0025  JUMP_IF_FALSE 6             -> 0033
0027  STRING "é"
0029  CALL_GLOBAL "print" 1
0032  POP
0033  POP
0034  CLOSE_UPVALUE
"""
    )


def test_handler_of_try_is_counted_from_its_operand() -> None:
    listing = disassemble(program_bytecode(compile_program("try { 1 } catch { 2 }")))

    assert "TRY 7                       -> 0010" in listing
    assert "0010  GET_LOCAL 0" in listing


def test_damaged_bytecode_is_shown_not_refused() -> None:
    assert disassemble(["_H", 1, 99, "x", 33]) == '0002  ?? 99\n0003  ?? "x"\n0004  INTEGER\n'
    assert disassemble(["_h", 29]) == "0001  TRUE\n"


@pytest.mark.parametrize("bytecode", [[], [1], ["_X", 1, 29], ["_H"]])
def test_bad_header(bytecode: list) -> None:
    with pytest.raises(Invalid, match="must start with '_H'"):
        disassemble(bytecode)


def test_every_opcode_has_a_picture_with_its_name() -> None:
    assert sorted(Operation) == list(range(1, 58))
    for operation in Operation:
        assert operation.name in operation.stack.split()
        assert operation.meaning
