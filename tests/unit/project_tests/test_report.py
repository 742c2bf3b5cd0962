"""Differences show what to change; JUnit files are XML, whatever the texts contain."""

from pathlib import Path
from xml.etree import ElementTree as ET

from hoglet.project_tests.cases import Case
from hoglet.project_tests.comparison import differences
from hoglet.project_tests.outcome import CaseOutcome
from hoglet.project_tests.report import junit


def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    odd = 'a\x01\x1b\ufffe\t<&>"\U0001f994'
    case = Case("function", Path("a"), Path("tests.yaml"), 1, odd, {"expect": {}})
    outcome = CaseOutcome(case, {}, [f"{odd} differs", odd], [odd])

    root = ET.fromstring(junit([outcome]))  # noqa: S314 (our own)

    replaced = 'a\ufffd\ufffd\ufffd\t<&>"\U0001f994'
    assert [each.get("name") for each in root.iter("testcase")] == [replaced]
    assert [each.get("message") for each in root.iter("failure")] == [
        f"{replaced} differs {replaced}"
    ]
    assert root.findtext(".//failure", "").count(replaced) == 3


def test_only_compared_keys_of_partly_compared_values_are_shown() -> None:
    actual = {
        "event": {"uuid": "u", "properties": {"host": "a", "x": 1}},
        "rows": [{"n": 1, "m": 2}],
    }
    expected = {"event": {"properties": {"host": "b"}}, "rows": [{"n": 2}]}

    assert differences(expected, actual) == [
        "event:",
        '  - {"properties": {"host": "b"}}',
        '  + {"properties": {"host": "a"}}',
        "rows:",
        '  - {"n": 2}',
        '  + {"n": 1}',
    ]
