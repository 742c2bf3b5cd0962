"""Mutated Hog programs, derived from conformance cases and generated programs.

The same seed and number always give the same program.
"""

import random
import re
from functools import cache
from typing import Final

from hoglet.hog.bytecode import program_bytecode
from hoglet.hog.compile import compile_program
from hoglet.hog.javascript import program_javascript
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.memory import process_bytes
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.stdlib.table import STL
from hoglet.kit.errors import SourceError
from support.hog_cases import read_cases
from support.hog_programs import random_program

BUDGET: Final = Budget(timeout_s=0.1, memory_bytes=8_000_000, async_steps=20)
MAX_GROWTH: Final = 400_000_000
_TOKEN: Final = re.compile(
    r"[A-Za-z_$][\w$]*|\d+(?:\.\d+)?|'(?:[^'\\]|\\.)*'|\s+|[-+*/%<>=!~|:?.]+|.", re.DOTALL
)
_ODD: Final = [
    "", "\0", "\ud800", "\udc00", "\u2028", "é", "𝒳", "ﬁ", "\x7f", "`", "'", '"', "{", "}", "(",
    ")", "[", "]", ";", "\\", "/*", "//", "f'", "f'{", "}'", "->", ":=", "?.", "??", "1e999",
    "0x1F", "-", "9007199254740993", "1e-7", "null", "true", "not", "and", "or", "in", "like",
    "=~", "between", "let", "fun", "return", "if", "else", "while", "for", "try", "catch",
    "throw", "sql(", "x -> x", "__class__", "__builtins__", "self", "LIMIT", "f0", "v1", "d", "G",
    "import('m')", "while (true) ", "for (;;) ", "fetch('x')", "sleep(1)", "[1, 2]", "{'a': 1}",
    "(1, 2)", "'text'", "Error('x')",
]  # fmt: skip


@cache
def _sources() -> list[str]:
    cases = [case.source.strip() for case in read_cases() if len(case.source) < 1500]
    return cases + [random_program(number) for number in range(300)]


@cache
def _pieces() -> list[str]:
    tokens = {token for source in _sources() for token in _TOKEN.findall(source)}
    return sorted(token for token in tokens if token.strip() and len(token) < 40)


def damaged_program(seed: int, number: int) -> str:
    """The program with this number."""
    dice = random.Random(f"{seed}:{number}")  # noqa: S311 (a seed repeats it)
    source = dice.choice(_sources())
    for _ in range(dice.choice([1, 1, 1, 1, 1, 1, 2, 2, 3, 7])):
        source = _change_characters(dice, source) if dice.random() < 0.1 else _change(dice, source)
    return source


def _change_characters(dice: random.Random, source: str) -> str:
    position = dice.randrange(len(source) + 1)
    match dice.randrange(4):
        case 0:
            return source[:position] + source[position + dice.randrange(1, 4) :]
        case 1:
            return source[:position] + dice.choice(_ODD) + source[position:]
        case 2:
            return source[:position] + chr(dice.randrange(1, 0x250)) + source[position + 1 :]
        case _:
            return source[:position]


def _change(dice: random.Random, source: str) -> str:
    tokens = _TOKEN.findall(source) or [""]
    position, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    match dice.randrange(7):
        case 0:
            del tokens[position]
        case 1:
            tokens.insert(position, tokens[other])
        case 2:
            tokens[position], tokens[other] = tokens[other], tokens[position]
        case 3:
            tokens[position] = dice.choice(_pieces())
        case 4:
            tokens.insert(position, dice.choice(_ODD))
        case 5:
            tokens[position] = dice.choice(list(STL))
        case _:
            foreign = _TOKEN.findall(dice.choice(_sources()))
            start = dice.randrange(len(foreign) or 1)
            tokens[position:position] = foreign[start : start + dice.randrange(1, 20)]
    return "".join(tokens)


def try_program(source: str, parsed) -> str:
    """Compile and run; ``refused``, ``failed`` or ``finished``. ``parsed`` is called between.

    Raises:
        AssertionError: an invariant is broken.
    """
    try:
        program = compile_program(source)
    except SourceError:
        return "refused"
    finally:
        parsed()
    try:
        program_bytecode(program)
        program_javascript(program)
        compiled = compile_python(program)
    except SourceError:
        return "refused"
    before = process_bytes()
    outcome = run_program(
        compiled,
        globals={"event": {"event": "x", "properties": {"a": [1, {"b": None}]}}},
        functions={"fetch": lambda *_: {"status": 200, "body": {}}},
        async_functions={"fetch"},
        budget=BUDGET,
        seed=1,
    )
    assert process_bytes() - before < MAX_GROWTH, "memory"
    assert outcome.used_s < 2, f"ran for {outcome.used_s:.1f} s"
    if outcome.error is None:
        return "finished"
    assert "Internal error" not in outcome.error.text, outcome.error.text
    return "failed"
