"""Compares expected with actual results and describes the differences.

A string between slashes is a regular expression: ``/posted/``. In expected headers, events,
captures and results of insights, omitted keys are ignored; all other values must be equal.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

_SUBSETS = frozenset({"headers"})
PARTLY_COMPARED = frozenset({"event", "record", "captures", "emails", "rows"})


def is_pattern(value: Any) -> bool:
    """Whether an expected value is a regular expression."""
    return isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == "/"


def equals(expected: Any, actual: Any, *, partly: bool = False) -> bool:
    """Whether a value matches the expected one; ``partly`` ignores additional keys of mappings."""
    if is_pattern(expected):  # or a literal that looks like a pattern
        return isinstance(actual, str) and (
            expected == actual or re.search(expected[1:-1], actual) is not None
        )
    if isinstance(expected, dict) and isinstance(actual, dict):
        if not partly and expected.keys() != actual.keys():
            return False
        return all(
            key in actual and equals(value, actual[key], partly=partly or key in _SUBSETS)
            for key, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(
            equals(item, other, partly=partly) for item, other in zip(expected, actual, strict=True)
        )
    return _equal_scalars(expected, actual)


def compared_part(expected: Any, actual: Any, *, keep_equal: bool = False) -> Any:
    """The actual value without the keys that the expected one omits.

    With ``keep_equal``, parts that match are as expected, so that patterns survive.
    """
    if keep_equal and equals(expected, actual, partly=True):
        return expected
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {
            key: compared_part(value, actual[key], keep_equal=keep_equal)
            for key, value in expected.items()
            if key in actual
        }
    if isinstance(expected, list) and isinstance(actual, list):
        common = zip(expected, actual, strict=False)
        parts = [compared_part(item, other, keep_equal=keep_equal) for item, other in common]
        return [*parts, *actual[len(expected) :]]
    return actual


def differences(expect: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    """Describe each key of ``expect`` that differs; ``[]`` if none does."""
    lines: list[str] = []
    for key, expectation in expect.items():
        value = actual.get(key)
        if key == "logs":
            lines += _missing_logs(expectation, value or [])
        elif key == "requests":
            lines += _requests(expectation, value or [])
        elif key == "rows":
            lines += _rows(expectation, value)
        elif key in PARTLY_COMPARED:
            if not equals(expectation, value, partly=True):
                lines += _pair(key, expectation, compared_part(expectation, value))
        elif not equals(expectation, value):
            lines += _pair(key, expectation, value)
    return lines


def _requests(expected: list[Any], actual: list[Any]) -> list[str]:
    lines: list[str] = []
    if len(expected) != len(actual):
        lines.append(f"requests: expected {len(expected)}, made {len(actual)}")
    for number in range(max(len(expected), len(actual))):
        label = f"requests[{number}]"
        if number >= len(expected):
            lines.append(f"+ {label}: {text(actual[number])}")
        elif number >= len(actual):
            lines.append(f"- {label}: {text(expected[number])}")
        else:
            lines += _fields(label, expected[number], actual[number])
    return lines


def _fields(label: str, expected: Any, actual: Any) -> list[str]:
    """Describe each expected field of a request that differs: method, url, headers, body."""
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return [] if equals(expected, actual) else _pair(label, expected, actual)
    lines: list[str] = []
    for key, expectation in expected.items():
        value = actual.get(key)
        is_subset = key in _SUBSETS
        if not equals(expectation, value, partly=is_subset):
            compared = compared_part(expectation, value) if is_subset else value
            lines += _pair(f"{label}.{key}", expectation, compared)
    return lines


def _rows(expected: list[Any], actual: Any) -> list[str]:
    rows: list[Any] = actual if isinstance(actual, list) else []
    if equals(expected, rows, partly=True):
        return []
    lines = ["rows:"]
    for number in range(max(len(expected), len(rows))):
        expected_row = expected[number] if number < len(expected) else None
        row = rows[number] if number < len(rows) else None
        if expected_row is not None and row is not None and equals(expected_row, row, partly=True):
            lines.append(f"    {text(row)}")
            continue
        lines += [f"  - {text(expected_row)}"] if expected_row is not None else []
        lines += [f"  + {text(compared_part(expected_row, row))}"] if row is not None else []
    return lines


def _missing_logs(expected: list[Any], actual: list[str]) -> list[str]:
    if not expected:
        return [f"logs: expected none, printed {text(actual)}"] if actual else []
    return [
        f"logs: no line matches {text(pattern)}"
        for pattern in expected
        if not any(
            equals(pattern, line) if is_pattern(pattern) else str(pattern) in line
            for line in actual
        )
    ]


def _pair(key: str, expected: Any, actual: Any) -> list[str]:
    return [f"{key}:", f"  - {text(expected)}", f"  + {text(actual)}"]


def text(value: Any) -> str:
    """A value as single-line JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _equal_scalars(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right or abs(left - right) <= 1e-9 * max(abs(left), abs(right))
    return left == right
