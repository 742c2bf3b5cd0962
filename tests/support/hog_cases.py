"""Hog conformance cases: programs with expected output in comments. See the README there."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "conformance" / "hog"
_MARGIN = re.compile(
    r"// (?P<kind>expect compile error|expect runtime error|expect|vm error|vm|engines|globals"
    r"|deviation|budget):(?: (?P<text>.*))?$"
)
_DEFAULT_ENGINES = ("python", "vm")


@dataclass
class Case:
    """One program and its expectations; ``source`` is padded to keep the file's line numbers."""

    name: str
    source: str
    lines: list[str] = field(default_factory=list)
    compile_error: str | None = None
    runtime_error: str | None = None
    vm_lines: list[str] = field(default_factory=list)
    vm_error: str | None = None
    deviation: str | None = None
    engines: tuple[str, ...] = _DEFAULT_ENGINES
    globals: dict[str, Any] = field(default_factory=dict)
    budget: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.name


def read_cases() -> list[Case]:
    """Every case, in the order of the files."""
    cases: list[Case] = []
    for path in sorted(FOLDER.rglob("*.hog")):
        cases.extend(_read_file(path))
    return cases


def _read_file(path: Path) -> list[Case]:
    start, cases = 0, []
    name = path.relative_to(FOLDER).with_suffix("").as_posix()
    chunks = re.split(r"^---\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for chunk in chunks:
        title = name if len(chunks) == 1 else f"{name}:{start + 1}"
        cases.append(_read_chunk(title, chunk, start))
        start += chunk.count("\n") + 1
    return cases


def _read_chunk(name: str, chunk: str, start: int) -> Case:
    case = Case(name=name, source="\n" * start + chunk)
    for number, line in enumerate(chunk.splitlines(), start + 1):
        match = _MARGIN.search(line)
        if match:
            _note(case, match["kind"], match["text"] or "", number)
        elif "// expect" in line:
            raise ValueError(f"{name}: line {number} looks like an expectation but is not one")
    if not (case.lines or case.compile_error or case.runtime_error):
        raise ValueError(f"{name} expects nothing")
    if case.compile_error and (case.lines or case.runtime_error):
        raise ValueError(f"{name} expects a compile error and a run")
    return case


def _note(case: Case, kind: str, text: str, line: int) -> None:
    match kind:
        case "expect":
            case.lines.append(text)
        case "vm":
            case.vm_lines.append(text)
        case "expect compile error":
            case.compile_error = f"{line}:{text}"
        case "expect runtime error":
            case.runtime_error = text
        case "vm error":
            case.vm_error = text
        case "deviation":
            case.deviation = text
        case "engines":
            case.engines = tuple(text.split())
        case "globals":
            case.globals = json.loads(text)
        case "budget":
            case.budget = json.loads(text)
        case _:
            raise ValueError(f"{case.name}: unknown margin {kind}")
