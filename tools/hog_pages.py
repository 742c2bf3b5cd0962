"""The reference pages of Hog: opcodes and the standard library, from the tables in the code."""

from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

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


_DIFFERENCES = Path(__file__).parent.parent / "docs" / "hog-differences.yaml"


def differences_page() -> str:
    """Where Hog deliberately differs from the official virtual machine."""
    lines = [
        "# Where Hog differs from the official virtual machine\n",
        "A sweep calls every library function and operator with arguments of every type, in hoglet",
        "and on the official virtual machine (npm `@posthog/hogvm` 1.0.71), and compares what is",
        "printed and which calls end in an error. This list, made from",
        "[hog-differences.yaml](../hog-differences.yaml), is complete for the sweep. The texts of",
        "errors differ and are not listed. Differences outside of the library, such as the cells",
        "of loop variables, are in the specification.\n",
        "Types: *text* is any string, *number* any number, *list* an array or tuple, *record* a",
        "date, datetime, error or function, *any* all of them; `...` allows further arguments.",
        "`*` in a result stands for anything.\n",
        "| function or operator | arguments | hoglet | virtual machine | why |",
        "|---|---|---|---|---|",
    ]
    entries: list[dict[str, Any]] = yaml.safe_load(_DIFFERENCES.read_text(encoding="utf-8"))
    lines.extend([_difference(entry) for entry in entries])
    return "\n".join(lines) + "\n"


def _difference(entry: dict[str, Any]) -> str:
    functions = ", ".join([f"`{_cell(name)}`" for name in entry["functions"]])
    arguments = ", ".join([name.replace(" | ", " or ") for name in entry["arguments"]])
    ours, theirs = (_result(entry[key]) for key in ("ours", "theirs"))
    return f"| {functions} | {arguments} | {ours} | {theirs} | {_cell(entry['reason'])} |"


def _result(text: str) -> str:
    if text in {"error", ""}:
        return text or "empty text"
    return f"`{_cell(text)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def library_page() -> str:
    """Every library function with its types and an example, by group."""
    lines = ["# Standard library of Hog\n", "The comment shows what the example prints.\n"]
    for group, entries in groupby(STL.values(), key=lambda entry: entry.group):
        lines.extend([f"## {group}\n", "| function | does | example |", "|---|---|---|"])
        lines.extend([_row(entry) for entry in entries])
        lines.append("")
    return "\n".join(lines)


def _row(entry: LibraryEntry) -> str:
    result = "" if entry.printed is None else f"  // {entry.printed}"
    example = _cell(f"{entry.example}{result}")
    return f"| `{_cell(entry.name + entry.types)}` | {_cell(entry.doc)} | `{example}` |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
