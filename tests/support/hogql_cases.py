"""HogQL conformance cases; the format is in ``tests/conformance/hogql/README.md``."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "conformance" / "hogql"
_LINE = re.compile(
    r"-- (?P<key>case:|becomes|params|rows|columns|types|refused|variables|filters|values|timezone"
    r"|limit|offset|has more)(?: (?P<text>.*))?$"
)
_JSON = frozenset(
    {"params", "rows", "columns", "types", "variables", "filters", "values", "limit", "offset",
     "has more"}
)  # fmt: skip


@dataclass
class Case:
    """One query and its expectations; ``expected`` has the keys that the case gives."""

    name: str
    query: str = ""
    becomes: str = ""
    given: dict[str, Any] = field(default_factory=dict[str, Any])

    def __repr__(self) -> str:
        return self.name


def read_cases() -> list[Case]:
    """Every case, in the order of the files.

    Raises:
        ValueError: a case expects nothing, or two things that exclude each other.
    """
    return [case for path in sorted(FOLDER.glob("*.sql")) for case in _read_file(path)]


def _read_file(path: Path) -> list[Case]:
    cases: list[Case] = []
    target = "query"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            if cases:
                setattr(cases[-1], target, getattr(cases[-1], target) + line + "\n")
            continue
        key, text = match["key"], match["text"] or ""
        if key == "case:":
            cases.append(Case(f"{path.stem}:{number} {text}"))
            target = "query"
        elif key == "becomes":
            target = "becomes"
        else:
            cases[-1].given[key] = json.loads(text) if key in _JSON else text
    for case in cases:
        case.query, case.becomes = case.query.strip(), " ".join(case.becomes.split())
        _check(case)
    return cases


def _check(case: Case) -> None:
    expects = {"rows", "columns", "types", "refused"} & case.given.keys() or case.becomes
    if not case.query or not expects:
        raise ValueError(f"{case.name} expects nothing")
    if "refused" in case.given and (case.becomes or "rows" in case.given):
        raise ValueError(f"{case.name} is refused and answered")
