"""``--update``: writes actual results into test files; comments and order are preserved."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hoglet.project_files.formats.comments import merge_text
from hoglet.project_files.formats.yaml_files import load_text
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
        failed_by_name = {outcome.case.name: outcome for outcome in failed}
        updated = [
            {**case, "expect": _expect(case["expect"], failed_by_name[case["name"].strip()])}
            if case["name"].strip() in failed_by_name
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
    for key, expected in expect.items():
        is_wrong = bool(differences({key: expected}, outcome.actual))
        updated[key] = _actual(key, expected, outcome.actual) if is_wrong else expected
    return updated


def _actual(key: str, expected: Any, results: Results) -> Any:
    """The actual value that replaces an expected one."""
    actual = results.get(key)
    if key == "requests":
        return _requests(expected, actual or [])
    if key == "logs":
        matching = [line for line in expected if not differences({key: [line]}, results)]
        return matching or list(actual or [])
    if key == "event" and expected is None and actual is not None:
        return {name: value for name, value in actual.items() if name in _EVENT_KEYS}
    if key in PARTLY_COMPARED:
        return compared_part(expected, actual, keep_equal=True)
    return actual


def _requests(expectations: list[Any], actual: list[SentRequest]) -> list[Mapping[str, Any]]:
    """Each request with the fields that its case expects; new ones without headers."""
    updated: list[Mapping[str, Any]] = []
    for number, request in enumerate(actual):
        expected = expectations[number] if number < len(expectations) else None
        if not isinstance(expected, dict):
            updated.append({key: value for key, value in request.items() if key != "headers"})
            continue
        updated.append(
            {
                key: compared_part(value, request.get(key), keep_equal=True)
                if key == "headers" or equals(value, request.get(key))
                else request.get(key)
                for key, value in expected.items()
            }
        )
    return updated
