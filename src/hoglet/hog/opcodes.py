"""The opcodes of Hog bytecode.

The printer, the disassembler, the reference page and the completeness tests derive from it. Each
row is ``code, operands, stack picture, meaning``. The stack is shown as ``before NAME after``, with
its top on the right: ``right left MINUS value`` pops ``left`` first.

Operands follow their opcode as cells. ``d`` is a jump distance, counted from the cell after the
operand (for ``TRY`` from the operand itself).

Source: docs/spec/hog-language.md#12-bytecode; numbers and layouts are those of the official
compiler.
"""

from enum import IntEnum
from typing import Self


class Operation(IntEnum):
    """One opcode; the value is its number."""

    operands: tuple[str, ...]
    stack: str
    meaning: str

    def __new__(cls, code: int, operands: tuple[str, ...], stack: str, meaning: str) -> Self:
        """Make the member from its row."""
        member = int.__new__(cls, code)
        member._value_ = code
        member.operands = operands
        member.stack = stack
        member.meaning = meaning
        return member

    GET_GLOBAL = (
        1, ("count",), "part_n .. root GET_GLOBAL value",
        "The value at a global path; else a library function; else an error",
    )  # fmt: skip
    CALL_GLOBAL = (
        2, ("name", "count"), "argument_1 .. argument_n CALL_GLOBAL result",
        "Calls a function of the host or the library by name",
    )  # fmt: skip
    AND = 3, ("count",), "x_1 .. x_n AND boolean", "True when all are truthy"
    OR = 4, ("count",), "x_1 .. x_n OR boolean", "True when one is truthy"
    NOT = 5, (), "x NOT boolean", "True when x is falsy"
    PLUS = 6, (), "right left PLUS number", "left + right"
    MINUS = 7, (), "right left MINUS number", "left - right"
    MULTIPLY = 8, (), "right left MULTIPLY number", "left * right"
    DIVIDE = 9, (), "right left DIVIDE number", "left / right"
    MOD = 10, (), "right left MOD number", "left % right, with the sign of left"
    EQ = 11, (), "right left EQ boolean", "left == right, after unification"
    NOT_EQ = 12, (), "right left NOT_EQ boolean", "left != right, after unification"
    GT = 13, (), "right left GT boolean", "left > right"
    GT_EQ = 14, (), "right left GT_EQ boolean", "left >= right"
    LT = 15, (), "right left LT boolean", "left < right"
    LT_EQ = 16, (), "right left LT_EQ boolean", "left <= right"
    LIKE = 17, (), "pattern text LIKE boolean", "text like pattern"
    ILIKE = 18, (), "pattern text ILIKE boolean", "text ilike pattern"
    NOT_LIKE = 19, (), "pattern text NOT_LIKE boolean", "text not like pattern"
    NOT_ILIKE = 20, (), "pattern text NOT_ILIKE boolean", "text not ilike pattern"
    IN = 21, (), "haystack needle IN boolean", "needle in haystack"
    NOT_IN = 22, (), "haystack needle NOT_IN boolean", "needle not in haystack"
    REGEX = 23, (), "pattern text REGEX boolean", "text =~ pattern"
    NOT_REGEX = 24, (), "pattern text NOT_REGEX boolean", "text !~ pattern"
    IREGEX = 25, (), "pattern text IREGEX boolean", "text =~* pattern"
    NOT_IREGEX = 26, (), "pattern text NOT_IREGEX boolean", "text !~* pattern"
    IN_COHORT = 27, (), "cohort person IN_COHORT boolean", "Never emitted"
    NOT_IN_COHORT = 28, (), "cohort person NOT_IN_COHORT boolean", "Never emitted"
    TRUE = 29, (), "TRUE true", "Pushes true"
    FALSE = 30, (), "FALSE false", "Pushes false"
    NULL = 31, (), "NULL null", "Pushes null"
    STRING = 32, ("value",), "STRING text", "Pushes a string"
    INTEGER = 33, ("value",), "INTEGER number", "Pushes an integer"
    FLOAT = 34, ("value",), "FLOAT number", "Pushes a number"
    POP = 35, (), "x POP", "Drops the top"
    GET_LOCAL = 36, ("slot",), "GET_LOCAL value", "Reads a slot of this frame"
    SET_LOCAL = 37, ("slot",), "value SET_LOCAL", "Writes a slot of this frame"
    RETURN = 38, (), "result RETURN", "Leaves the frame with a result"
    JUMP = 39, ("jump",), "JUMP", "Skips d cells"
    JUMP_IF_FALSE = 40, ("jump",), "condition JUMP_IF_FALSE", "Jumps if the condition is falsy"
    DECLARE_FN = (
        41, ("name", "count", "body"), "DECLARE_FN",
        "Legacy: a named function, followed by its body; never emitted",
    )  # fmt: skip
    DICT = 42, ("count",), "key_1 value_1 .. key_n value_n DICT object", "Creates an object"
    ARRAY = 43, ("count",), "x_1 .. x_n ARRAY array", "Creates an array"
    TUPLE = 44, ("count",), "x_1 .. x_n TUPLE tuple", "Creates a tuple"
    GET_PROPERTY = 45, (), "object key GET_PROPERTY value", "The value at key, null if missing"
    SET_PROPERTY = 46, (), "object key value SET_PROPERTY", "Stores a value at key"
    JUMP_IF_STACK_NOT_NULL = (
        47, ("jump",), "x JUMP_IF_STACK_NOT_NULL x", "Jumps if the top is not null",
    )  # fmt: skip
    GET_PROPERTY_NULLISH = (
        48, (), "object key GET_PROPERTY_NULLISH value", "As GET_PROPERTY; written ?.",
    )  # fmt: skip
    THROW = 49, (), "error THROW", "Throws an error"
    TRY = (
        50,
        ("handler",),
        "TRY",
        "Sets an error handler, which starts with the error on top of the stack",
    )
    POP_TRY = 51, (), "POP_TRY", "Removes the error handler"
    CALLABLE = (
        52, ("name", "count", "captures", "body"), "CALLABLE callable",
        "A function; its body follows and is skipped",
    )  # fmt: skip
    CLOSURE = (
        53, ("pairs",), "callable CLOSURE function",
        "Binds captured variables, as pairs (is local, slot or index)",
    )  # fmt: skip
    CALL_LOCAL = (
        54, ("count",), "argument_1 .. argument_n function CALL_LOCAL result", "Calls a value",
    )  # fmt: skip
    GET_UPVALUE = 55, ("index",), "GET_UPVALUE value", "Reads a captured variable"
    SET_UPVALUE = 56, ("index",), "value SET_UPVALUE", "Writes a captured variable"
    CLOSE_UPVALUE = 57, (), "x CLOSE_UPVALUE", "Drops the top, which a closure has captured"
