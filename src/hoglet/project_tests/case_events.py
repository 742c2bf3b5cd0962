"""The events of an endpoint's test case: inline, or JSON lines in a file."""

import json
from pathlib import Path
from typing import Any

from hoglet.events.parse import read_time
from hoglet.kit.errors import HogletError
from hoglet.project_tests.case_types import CaseEvent


class BadTestFile(HogletError):
    """A test file is invalid; the message starts with its path and line."""

    code = "bad_test_file"
    blame = "author"


def read_event_lines(path: Path) -> list[CaseEvent]:
    """Read the events in a file of JSON lines.

    Raises:
        BadTestFile: it is not UTF-8, or a line is not an event; with its line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadTestFile(f"{path}: {error}.") from None
    events: list[CaseEvent] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadTestFile(f"{path}:{number}: it is not JSON: {error}.") from None
        if problem := problem_of(event):
            raise BadTestFile(f"{path}:{number}: {problem}.")
        events.append(event)
    return events


def problem_of(event: Any) -> str | None:
    """Why an event cannot be captured; None if it can.

    Example:
        >>> problem_of({"event": "seen", "timestamp": "noon"})
        "the timestamp 'noon' is not a time"
    """
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        return "every event needs a name"
    timestamp = event.get("timestamp")
    if timestamp is not None and read_time(timestamp) is None:
        return f"the timestamp {timestamp!r} is not a time"
    distinct_id = event.get("distinct_id", "test")
    if not isinstance(distinct_id, str | int | float) or distinct_id == "":
        return "the distinct_id of an event must be a string"
    if not isinstance(event.get("properties"), dict | None):
        return "properties of an event must be a mapping"
    return None
