"""The reference pages of Hog: opcodes and the standard library, from the tables in the code."""

from itertools import groupby

from hoglet.hog.opcodes import Operation
from hoglet.hog.stdlib.table import STL, LibraryEntry


def opcodes_page() -> str:
    """Every opcode with its operands and stack picture."""
    lines = [
        "# Opcodes of Hog bytecode\n",
        'A program is a JSON array, `["_H", 1, ...]`. Operands follow their opcode. A stack',
        "picture reads `before NAME after`, the top of the stack on the right. Jumps count from",
        "the cell after the operand, the handler of `TRY` from the operand itself.",
        "`hoglet hog disassemble FILE` lists a program.\n",
        "| code | name | operands | stack | meaning |",
        "|---|---|---|---|---|",
    ]
    for operation in Operation:
        operands = " ".join(operation.operands)
        lines.append(
            f"| {int(operation)} | {operation.name} | {operands} | `{operation.stack}` "
            f"| {operation.meaning} |"
        )
    return "\n".join(lines) + "\n"


def library_page() -> str:
    """Every library function with its types and an example, by group."""
    lines = ["# Standard library of Hog\n", "The comment shows what the example prints.\n"]
    for group, entries in groupby(STL.values(), key=lambda entry: entry.group):
        lines.extend([f"## {group}\n", "| function | does | example |", "|---|---|---|"])
        lines.extend([_row(entry) for entry in entries])
        lines.append("")
    return "\n".join(lines)


def _row(entry: LibraryEntry) -> str:
    shown = "" if entry.shown is None else f"  // {entry.shown}"
    example = _cell(f"{entry.example}{shown}")
    return f"| `{_cell(entry.name + entry.types)}` | {_cell(entry.doc)} | `{example}` |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
