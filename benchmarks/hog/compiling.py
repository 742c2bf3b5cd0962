"""Compile time of a function of fifty lines, against the parser's own time for the same text.

The time of the parser package alone is 1. The rest is hoglet's: from the syntax tree to runnable
code, that is binding, printing as Python and loading. Limits and decoding count as parsing and are
shown beside it.
"""

import statistics
import time
from pathlib import Path

from hogql_parser_rs import parse_program_json

from hoglet.hog.bytecode import program_bytecode
from hoglet.hog.compile import bind_program
from hoglet.hog.javascript import program_javascript
from hoglet.hog.python import program as loading
from hoglet.hog.python.program import compile_python
from hoglet.syntax.parse import parse_program

SOURCE = Path(__file__).with_name("fifty_lines.hog")
ROUNDS = 40


def milliseconds(action) -> float:
    """The median of many calls without caches."""
    times = []
    for _ in range(ROUNDS):
        loading._loaded.clear()  # noqa: SLF001 (there is no other way to forget)
        start = time.process_time()
        action()
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times)


def measure() -> dict[str, float]:
    """Milliseconds per stage."""
    source = SOURCE.read_text()
    tree = parse_program(source)
    program = bind_program(tree)
    return {
        "parser": milliseconds(lambda: parse_program_json(source)),
        "caps, parser, decoding": milliseconds(lambda: parse_program(source)),
        "binding": milliseconds(lambda: bind_program(tree)),
        "python": milliseconds(lambda: compile_python(program)),
        "bytecode": milliseconds(lambda: program_bytecode(program)),
        "javascript": milliseconds(lambda: program_javascript(program)),
    }


def report() -> None:
    """Print the stages and the ratio; its goal is below 5."""
    figures = measure()
    parser = figures["parser"]
    print("\ncompiling fifty lines: milliseconds of one core, times the parser")
    for name, value in figures.items():
        print(f"{name:24} {value:8.3f} {value / parser:6.2f}")
    ratio = (figures["binding"] + figures["python"]) / parser
    print(f"parsed text to runnable code: {ratio:.2f} times the parser (goal: below 5)")


if __name__ == "__main__":
    report()
