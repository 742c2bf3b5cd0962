"""Every opcode, node, operator, error and deviation of Hog has a conformance case."""

from typing import Any, get_args

import msgspec

from hoglet.hog.bind import tree as bound
from hoglet.hog.bytecode import program_bytecode
from hoglet.hog.compile import compile_program
from hoglet.hog.opcodes import Operation
from hoglet.hog.stdlib.table import STL
from support.hog_cases import read_cases

CASES = read_cases()
PROGRAMS = [compile_program(case.source) for case in CASES if case.compile_error is None]
NEVER_EMITTED = {Operation.IN_COHORT, Operation.NOT_IN_COHORT, Operation.DECLARE_FN}

# docs/spec/hog-language.md#11-deviations-from-npm-1071,
# and what only our compiler does otherwise (regression/compiler_deviations.hog).
DEVIATIONS = {
    "ordering with null",
    "like with null",
    "between with null",
    "library functions given null",
    "for in null",
    "return inside try",
    "arraySort of numbers",
    "for closures",
    "earlier closed cell",
    "in null and in objects",
    "callbacks and async through a variable",
    "growing an array",
    "unparseable date",
    "JSON functions on null",
    "JSONExtractString of an object",
    "jsonStringify with number keys",
    "replace with dollar signs",
    "formatDateTime with quotes or empty",
    "wrong non-null types",
}
ERRORS = {
    "Array access starts from 1",
    "Call stack exceeded maximum length of 1000",
    "Can not assign to this type of expression",
    "Can not set y on non-object: number",
    "Can not throw: value is not of type Error",
    "Data array must contain at least two elements.",
    "Execution timed out after 0.2 seconds. Performed ...",
    "Expected a DateTime",
    "Function arrayMap requires exactly 2 arguments",
    "Function length requires at least 1 arguments",
    "Function length requires at most 1 arguments",
    "Global variable not found: unknown.path",
    "Hog arrays start from index 1",
    "Invalid closure: 1",
    "Memory limit of 100000 bytes exceeded. Tried to allocate ...",
    "Placeholders are not allowed in this context",
    "Too many arguments",
    "Too many arguments. Passed 2, expected 1",
    "Unsupported function call: nothing",
    "Unsupported interval unit: eon",
    "Unsupported unit for dateTrunc: eon",
    "Value is null in assumeNotNull",
    "Variable `a` already declared in this scope",
    'Variable "y" not declared in this scope. Can not assign to globals.',
    "finally blocks are not yet supported",
    "try statement must have at least one catch block",
}


def _operations(bytecode: list[Any]) -> set[Operation]:
    operations: set[Operation] = set()
    position = 2
    while position < len(bytecode):
        operation = Operation(bytecode[position])
        operations.add(operation)
        pairs = 2 * bytecode[position + 1] if operation is Operation.CLOSURE else 0
        position += 1 + len(operation.operands) + pairs
    return operations


def _nodes(value: Any) -> list[Any]:
    nodes, waiting = [], [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, tuple):
            waiting.extend(item)
        elif isinstance(item, msgspec.Struct):
            nodes.append(item)
            waiting.extend(getattr(item, name) for name in item.__struct_fields__)
    return nodes


ALL_NODES = [node for program in PROGRAMS for node in _nodes(program.root)]


def test_every_opcode_has_a_case() -> None:
    used = {op for program in PROGRAMS for op in _operations(program_bytecode(program))}

    assert used == set(Operation) - NEVER_EMITTED


def test_every_statement_and_expression_has_a_case() -> None:
    kinds = {*get_args(bound.Expression.__value__), *get_args(bound.Statement.__value__)}

    assert kinds - {type(node) for node in ALL_NODES} == set()


def test_every_operator_has_a_case() -> None:
    used = {n.operator for n in ALL_NODES if isinstance(n, bound.Compare | bound.Arithmetic)}
    operators = {
        *get_args(bound.ComparisonOperator.__value__),
        *get_args(bound.ArithmeticOperator.__value__),
    }

    assert used == operators


def test_every_library_function_has_a_case_or_an_example() -> None:
    called = {node.name for node in ALL_NODES if isinstance(node, bound.CallGlobal)}
    printed = {name for name, entry in STL.items() if entry.printed is not None}
    by_chance = {"generateUUIDv4", "randomFloat", "now", "today", "sleep"}

    assert set(STL) - called - printed - by_chance == set()


def test_every_error_of_the_specification_has_a_case() -> None:
    compile_errors = {str(case.compile_error).split(": ", 1)[-1] for case in CASES}
    run_errors = {case.runtime_error for case in CASES}

    assert ERRORS - compile_errors - run_errors == set()


def test_every_deviation_has_a_case_and_no_other_exists() -> None:
    assert {case.deviation for case in CASES if case.deviation} == DEVIATIONS
