"""Programs cannot access Python: generated code, and escape attempts."""

import ast
import re

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.builtins import VOCABULARY
from hoglet.hog.python.program import compile_python, load
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.stdlib.table import STL
from support.hog_cases import read_cases
from support.seeds import thinned

OWN_NAME = re.compile(r"(?:[vwspthfgkmbcS]\d+|d|G|FUNCTIONS|LINES)\Z")
ATTRIBUTES = {"get", "append", "isascii", "value", "type", "message", "payload"}
HOSTILE = [
    "__class__", "__globals__", "__builtins__", "__import__", "__subclasses__", "__dict__", "eval",
    "exec", "open", "f0", "v1", "t1", "LIMIT", "VOCABULARY", "G", "d", "type", "lambda", "None",
    "self", "G.get", "x}{y", "a\nb", "'; import os #", '"""', "\\",
    "{0.__class__}", "%s", "\0", "ü",
]  # fmt: skip


def names_and_attributes(source: str) -> tuple[set[str], set[str]]:
    names, attributes = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            attributes.add(node.attr)
        elif isinstance(node, ast.FunctionDef):
            names.update([node.name, *(argument.arg for argument in node.args.args)])
        assert not isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef | ast.Global)
    return names, attributes


def check_vocabulary(source: str) -> None:
    names, attributes = names_and_attributes(source)
    strangers = {name for name in names if name not in VOCABULARY and not OWN_NAME.match(name)}

    assert not strangers
    assert "__builtins__" not in names
    assert attributes <= ATTRIBUTES


def test_generated_code_of_all_conformance_cases_keeps_to_the_vocabulary() -> None:
    for case in read_cases():
        if case.compile_error is None:
            check_vocabulary(compile_python(compile_program(case.source)).source)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_ever_data(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "").replace("\n", "\\n")
    name = (
        "`"
        + text.replace("\\", "\\\\").replace("`", "``").replace("\0", "x").replace("\n", " ")
        + "`"
    )
    source = f"""
    let {name} := 1
    fun other({name}) {{ return {name} }}
    let o := {{'{quoted}': 2}}
    let k := '{quoted}'
    let s := [o[k], o.{name}, {name}, other(3), f'{quoted.replace("{", "").replace("}", "")}']
    return [s, [][k] ?? null, print[k], 'text'[k], (1, 2)[k], (x -> x)[k], Error('x')[k], now()[k],
            toDate('2024-01-01')[k], 5[k], true[k], null[k]]
    """
    source = source.replace("5[k], true[k], null[k]", "[5][1][k]")

    check_vocabulary(compile_python(compile_program(source)).source)
    outcome = run_program(source)

    assert outcome.error is None
    assert outcome.result[0][2:4] == [1, 3]
    assert all(item is None for item in outcome.result[1:6])


@pytest.mark.parametrize(
    "source",
    [
        "return event.__class__.__mro__",
        "return (x -> x).__globals__",
        "return (x -> x).__code__",
        "let p := print; return p.call",
        "return Error('x').__init__",
        "return Error('x').__traceback__",
        "return now().__class__",
        "return (1, 2).__class__",
        "return 'a'.format",
        "return {}.get",
        "return [].append",
        "return '{0.__class__}' || f'{1}'",
        "return jsonParse('{\"__class__\": 1}').__class__ - 1",
        "return formatDateTime(toDateTime('2024-01-01'), '{0.__class__}%%')",
    ],
)
def test_nothing_of_python_is_a_property(source: str) -> None:
    outcome = run_program(source, globals={"event": {}})

    assert outcome.error is None
    assert outcome.result in (None, 0, "{0.__class__}1", "{0.__class__}%")


@pytest.mark.parametrize(
    "name",
    [
        "eval",
        "exec",
        "open",
        "__import__",
        "compile",
        "globals",
        "getattr",
        "f0",
        "check",
        "host",
        "read",
        "L_print",
        "call",
    ],
)
def test_python_names_are_unknown_names(name: str) -> None:
    called, read = run_program(f"{name}('x')"), run_program(f"return {name}")

    assert called.error is not None
    assert called.error.text == f"Unsupported function call: {name}"
    assert read.error is not None
    assert read.error.text == f"Global variable not found: {name}"


def test_loaded_code_has_no_builtins() -> None:
    namespace = load(compile_python(compile_program("return 1")).source).namespace

    assert namespace["__builtins__"] == {}
    with pytest.raises(NameError):
        exec("open", dict(namespace))  # noqa: S102 (what is tested)


VALUES = [
    "null", "true", "1", "-1", "1.5", "0/0", "1/0", "''", "'x'", "[]", "[1]", "(1, 2)", "{}",
    "{1: 2}", "(x -> x)", "print", "Error('x')", "now()", "today()", "sql(1)", "toIntervalDay(1)",
]  # fmt: skip


@pytest.mark.parametrize("value", thinned(VALUES, 5))
def test_no_foreign_exception_leaves_a_library_function(value: str) -> None:
    for entry in STL.values():
        if entry.name == "sleep":
            continue
        for count in {entry.least, entry.most or entry.least + 2}:
            for other in ("null", "'a'", "2", "[]", value):
                arguments = ", ".join([value, *([other] * (count - 1))][:count])
                swapped = ", ".join([*([other] * (count - 1)), value][:count])
                for given in {arguments, swapped}:
                    error = run_program(f"return {entry.name}({given})").error
                    assert error is None or "Internal error" not in error.text, error
