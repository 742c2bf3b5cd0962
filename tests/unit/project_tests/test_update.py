"""``hoglet test --update``: what is written is what a second run expects."""

from pathlib import Path
from typing import Any

import pytest

from hoglet.project_files.formats.yaml_files import dump, load_text
from hoglet.project_tests.cases import Case
from hoglet.project_tests.comparison import differences
from hoglet.project_tests.outcome import CaseOutcome
from hoglet.project_tests.update import update_files

REQUEST = {"method": "POST", "url": "https://a.example", "headers": {"X": "1"}, "body": {"a": 1}}


def outcome(path: Path, kind: str, expect: Any, actual: Any) -> CaseOutcome:
    body = {"name": "a", "expect": expect}
    path.write_text("# why\n" + dump([body]))
    case = Case(kind, path.parent, path, 2, "a", body)
    return CaseOutcome(case, actual, differences(expect, actual) or ["error: refused"])


@pytest.mark.parametrize(
    ("kind", "expect", "actual", "updated"),
    [
        ("function", {"event": {"a": 1, "b": 2}}, {"event": {"b": 3}}, {"event": {"b": 3}}),
        ("function", {"event": {"a": 1}}, {"event": None}, {"event": None}),
        (
            "function",
            {"event": None},
            {"event": {"event": "a", "uuid": "u"}},
            {"event": {"event": "a"}},
        ),
        ("function", {"result": "x"}, {"result": "/a(b/"}, {"result": "/a(b/"}),
        (
            "function",
            {"logs": ["posted", "/it/", "gone"]},
            {"logs": ["posted it"]},
            {"logs": ["posted", "/it/"]},
        ),
        (
            "function",
            {"logs": ["posted"], "status": "failed"},
            {"logs": ["it was posted", "more"], "status": "success"},
            {"logs": ["posted"], "status": "success"},
        ),
        (
            "function",
            {"captures": [{"event": "/see/"}], "matched": False},
            {"captures": [{"event": "seen", "properties": {}}], "matched": True},
            {"captures": [{"event": "/see/"}], "matched": True},
        ),
        (
            "function",
            {"captures": [{"event": "/see/", "properties": {"n": 1}}]},
            {"captures": [{"event": "seen", "uuid": "u", "properties": {"n": 2, "m": 1}}]},
            {"captures": [{"event": "/see/", "properties": {"n": 2}}]},
        ),
        (
            "endpoint",
            {"rows": [{"count": 1}]},
            {"rows": [{"count": 2, "label": "x"}]},
            {"rows": [{"count": 2}]},
        ),
        (
            "function",
            {"requests": [{"url": "/a.ex/", "body": {"a": 2}}]},
            {"requests": [REQUEST, REQUEST]},
            {
                "requests": [
                    {"url": "/a.ex/", "body": {"a": 1}},
                    {"method": "POST", "url": "https://a.example", "body": {"a": 1}},
                ]
            },
        ),
        (
            "endpoint",
            {"columns": ["a"], "rows": [{"count": 1}]},
            {"columns": ["b"], "rows": [{"count": 1, "label": "x"}], "error": None},
            {"columns": ["b"], "rows": [{"count": 1}]},
        ),
        (
            "endpoint",
            {"columns": ["a"]},
            {"columns": None, "rows": None, "error": "refused"},
            {"error": "refused"},
        ),
    ],
)
def test_a_second_run_passes_and_changes_nothing(
    tmp_path: Path, kind: str, expect: Any, actual: Any, updated: Any
) -> None:
    path = tmp_path / "tests.yaml"

    assert update_files([outcome(path, kind, expect, actual)]) == [path]

    assert path.read_text().startswith("# why\n")
    assert load_text(path.read_text()) == [{"name": "a", "expect": updated}]
    assert differences(updated, actual) == []
