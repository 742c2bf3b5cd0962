"""Reports outcomes on the terminal and as JUnit XML, and the coverage of Hog code."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from hoglet.functions.runtime.engine import statement_lines
from hoglet.hog.runtime.trace import TraceStep
from hoglet.project_files.formats.function_file import CODE
from hoglet.project_tests.outcome import CaseOutcome

_CHARACTERS = 160
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MESSAGE = 400
_SHOWN_STEPS = 60


def outcome_lines(outcome: CaseOutcome) -> list[str]:
    """``ok`` or ``FAIL`` with the case; for failures also differences, log and trace."""
    case = outcome.case
    if outcome.passed:
        return [f"ok    {case.path}: {case.name}"]
    lines = [f"FAIL  {case.path}:{case.line}: {case.name}"]
    lines += [f"    {line}" for line in outcome.differences]
    if outcome.logs:
        lines.append("    log:")
        lines += [f"      {line}" for text in outcome.logs for line in text.splitlines()]
    if outcome.trace:
        lines.append("    trace:")
        lines += [f"      {_step(step)}" for step in outcome.trace[-_SHOWN_STEPS:]]
    return lines


def _step(step: TraceStep) -> str:
    values = [f"{name} = {value}" for name, value in step.values.items()]
    said = "; ".join([*values, *step.calls])
    line = f"line {step.line}: {said}".rstrip(": ")
    return line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 1]}…"


def closing_line(outcomes: Sequence[CaseOutcome]) -> str:
    """``3 passed, 1 failed``."""
    passed = sum(outcome.passed for outcome in outcomes)
    return f"{passed} passed, {len(outcomes) - passed} failed"


def coverage_lines(functions: Iterable[Path], outcomes: Iterable[CaseOutcome]) -> list[str]:
    """The share of executed statements of each function, and the lines that did not run.

    ``functions`` are the folders of functions. Transformations and functions that no case ran count
    as not executed.
    """
    ran: dict[Path, set[int]] = {}
    for outcome in outcomes:
        if outcome.case.kind == "function":
            lines = ran.setdefault(outcome.case.subject, set())
            lines |= {step.line for step in outcome.trace}
    report: list[str] = []
    for subject in functions:
        code = subject / CODE
        if not code.exists():
            continue
        lines = statement_lines(code.read_text(encoding="utf-8"))
        missed = [line for line in lines if line not in ran.get(subject, set())]
        share = 100 if not lines else round(100 * (len(lines) - len(missed)) / len(lines))
        more = f"  lines that did not run: {_ranges(missed, lines)}" if missed else ""
        report.append(f"{share:3}%  {code}{more}")
    return report


def _ranges(missed: list[int], lines: list[int]) -> str:
    """Line ranges: ``3, 5-7``."""
    parts: list[list[int]] = []
    for line in missed:
        index = lines.index(line)
        if parts and index and lines[index - 1] == parts[-1][-1]:
            parts[-1].append(line)
        else:
            parts.append([line])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def junit(outcomes: Sequence[CaseOutcome]) -> bytes:
    """The outcomes as JUnit XML, for CI servers."""
    failed = sum(not outcome.passed for outcome in outcomes)
    counts = {"tests": str(len(outcomes)), "failures": str(failed), "errors": "0"}
    root = ET.Element("testsuites", counts)
    suites: dict[str, ET.Element] = {}
    for outcome in outcomes:
        path = str(outcome.case.path)
        suite = suites.get(path)
        if suite is None:
            own = [other for other in outcomes if str(other.case.path) == path]
            suites[path] = suite = ET.SubElement(
                root,
                "testsuite",
                {
                    "name": path,
                    "tests": str(len(own)),
                    "failures": str(sum(not other.passed for other in own)),
                    "errors": "0",
                },
            )
        attributes = {
            "name": _clean(outcome.case.name),
            "classname": path,
            "file": path,
            "line": str(outcome.case.line),
            "time": f"{outcome.seconds:.3f}",
        }
        case = ET.SubElement(suite, "testcase", attributes)
        if not outcome.passed:
            message = _clean(_in_one_line(outcome.differences))
            attributes = {"message": message, "type": "difference"}
            failure = ET.SubElement(case, "failure", attributes)
            failure.text = _clean("\n".join(outcome_lines(outcome)[1:]))
    return ET.tostring(root, encoding="utf-8", xml_declaration=True)


def _in_one_line(differences: Sequence[str]) -> str:
    """The summary of a failure in lists: ``status: - "success" + "failed"``."""
    line = " ".join(each.strip() for each in differences)
    return line if len(line) <= _MESSAGE else f"{line[: _MESSAGE - 1]}…"


def _clean(text: str) -> str:
    """Remove characters that are invalid in XML."""
    return _NOT_XML.sub("�", text)
