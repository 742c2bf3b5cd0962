"""``--update``: writes actual results into test files; comments and order are preserved."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hoglet.project_files.comments import merge_text
from hoglet.project_files.yaml_files import load_text
from hoglet.project_tests.case_types import CaseBody, Results, SentRequest
from hoglet.project_tests.comparison import PARTLY_COMPARED, compared_part, differences, equals
from hoglet.project_tests.outcome import CaseOutcome

_EVENT_KEYS = ("event", "distinct_id", "properties")  # the others are the test run's own


def update_files(outcomes: Iterable[CaseOutcome]) -> list[Path]:
    """Replace the expectations of failed cases by the actual results; returns the changed files.

    Only keys that the case already expects are written; matching values do not change. A
    second run changes nothing.
    """
    by_file: dict[Path, list[CaseOutcome]] = defaultdict(list)
    for outcome in outcomes:
        if not outcome.passed and outcome.actual:
            by_file[outcome.case.path].append(outcome)
    for path, failed in by_file.items():
        text = path.read_text(encoding="utf-8")
        document: list[CaseBody] = load_text(text)
        wanted = {outcome.case.name: outcome for outcome in failed}
        updated = [
            {**case, "expect": _expect(case["expect"], wanted[case["name"].strip()])}
            if case["name"].strip() in wanted
            else case
            for case in document
        ]
        path.write_text(merge_text(text, updated), encoding="utf-8")
    return list(by_file)


def _expect(expect: Results, outcome: CaseOutcome) -> Mapping[str, Any]:
    error = outcome.actual.get("error")
    if error is not None and "error" not in expect and outcome.case.kind == "endpoint":
        return {"error": error}
    updated: dict[str, Any] = {}
    for key, wanted in expect.items():
        is_wrong = bool(differences({key: wanted}, outcome.actual))
        updated[key] = _actual(key, wanted, outcome.actual) if is_wrong else wanted
    return updated


def _actual(key: str, wanted: Any, found: Results) -> Any:
    """The actual value that replaces an expected one."""
    actual = found.get(key)
    if key == "requests":
        return _requests(wanted, actual or [])
    if key == "logs":
        kept = [line for line in wanted if not differences({key: [line]}, found)]
        return kept or list(actual or [])
    if key == "event" and wanted is None and actual is not None:
        return {name: value for name, value in actual.items() if name in _EVENT_KEYS}
    if key in PARTLY_COMPARED:
        return compared_part(wanted, actual, keep_equal=True)
    return actual


def _requests(wanted: list[Any], actual: list[SentRequest]) -> list[Mapping[str, Any]]:
    """Each request with the fields that its case expects; new ones without headers."""
    found: list[Mapping[str, Any]] = []
    for number, request in enumerate(actual):
        expected = wanted[number] if number < len(wanted) else None
        if not isinstance(expected, dict):
            found.append({key: value for key, value in request.items() if key != "headers"})
            continue
        found.append(
            {
                key: compared_part(value, request.get(key), keep_equal=True)
                if key == "headers" or equals(value, request.get(key))
                else request.get(key)
                for key, value in expected.items()
            }
        )
    return found
