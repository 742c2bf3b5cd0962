"""Reads test cases: ``tests.yaml`` of functions, ``NAME.tests.yaml`` of endpoints.

Source: docs/testing.md.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec
import yaml

from hoglet.kit.clock import timezone_names
from hoglet.kit.json import JsonObject
from hoglet.project_files.folder import endpoint_files, function_folders
from hoglet.project_files.formats.yaml_files import Loader, load_text
from hoglet.project_tests.case_events import BadTestFile, problem_of, read_event_lines
from hoglet.project_tests.case_types import CaseBody, CaseEvent
from hoglet.project_tests.comparison import is_pattern

FUNCTION_KEYS = ("name", "event", "person", "groups", "request", "record", "inputs", "fetch",
                 "now", "expect")  # fmt: skip
FUNCTION_EXPECTS = ("matched", "status", "requests", "logs", "result", "event", "record", "error",
                    "captures", "emails")  # fmt: skip
ENDPOINT_KEYS = ("name", "events", "now", "variables", "timezone", "expect")
ENDPOINT_EXPECTS = ("columns", "rows", "error")
REQUEST_KEYS = ("method", "url", "headers", "body")
ANSWER_KEYS = ("status", "body", "headers", "error", "times")
MAX_ATTEMPTS = 100  # of a function
STATUSES = ("success", "failed", "skipped", "filtered")
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


class Case(msgspec.Struct, frozen=True):
    """A test case; ``body`` is everything but its name."""

    kind: str
    subject: Path  # folder of the function, or file of the endpoint
    path: Path
    line: int
    name: str
    body: CaseBody
    now: datetime = NOW
    events: list[CaseEvent] = msgspec.field(default_factory=list[CaseEvent])

    @property
    def id(self) -> str:
        """Identifies the case for ``-k`` and in reports: ``functions/say/tests.yaml: says it``."""
        return f"{self.path}: {self.name}"


def test_files(folder: Path) -> Iterator[tuple[str, Path, Path]]:
    """Kind, subject and file of all cases of a project; the file need not exist."""
    for subject in function_folders(folder):
        yield "function", subject, subject / "tests.yaml"
    for subject in endpoint_files(folder):
        yield "endpoint", subject, subject.with_name(f"{subject.stem}.tests.yaml")


def read_cases(kind: str, subject: Path, path: Path) -> list[Case]:
    """Read the cases in a file.

    Raises:
        BadTestFile: invalid YAML, or a case with an unknown key or an invalid value.
    """
    try:
        text = path.read_text(encoding="utf-8")
        loaded, node = load_text(text), yaml.compose(text, Loader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BadTestFile(f"{path}{line}: {error.problem or error}.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadTestFile(f"{path}: {error}.") from None
    if loaded is None:
        return []
    if not isinstance(loaded, list) or not isinstance(node, yaml.SequenceNode):
        raise BadTestFile(f"{path}:1: a test file must be a list of cases, each with a name.")
    cases = [
        _Reader(kind, subject, path, item_node).case(item)
        for item, item_node in zip(loaded, node.value, strict=True)
    ]
    names = [case.name for case in cases]
    twice = next((case for case in cases if names.count(case.name) > 1), None)
    if twice is not None:
        raise BadTestFile(f"{path}:{twice.line}: two cases have the name {twice.name}.")
    return cases


class _Reader:
    """Validates a case."""

    def __init__(self, kind: str, subject: Path, path: Path, node: yaml.Node) -> None:
        self._kind, self._subject, self._path, self._node = kind, subject, path, node

    def case(self, given: Any) -> Case:
        if not isinstance(given, dict):
            raise self._wrong("a case must be a mapping with name and expect")
        is_function = self._kind == "function"
        self._check_keys(given, FUNCTION_KEYS if is_function else ENDPOINT_KEYS)
        name = given.get("name")
        if not isinstance(name, str) or not name.strip():
            raise self._wrong("a case needs a name")
        expect = given.get("expect")
        if not isinstance(expect, dict) or not expect:
            raise self._wrong("expect is missing: the expected results", "expect")
        known = FUNCTION_EXPECTS if is_function else ENDPOINT_EXPECTS
        self._check_keys(expect, known, "expect")
        self._check_patterns(expect)
        if is_function:
            self._check_function(given, expect)
        else:
            self._check_endpoint(given, expect)
        now = self._now(given.get("now"))
        events = [] if is_function else self._events(given.get("events", []))
        line = self._node.start_mark.line + 1
        body = cast("CaseBody", given)
        return Case(self._kind, self._subject, self._path, line, name.strip(), body, now, events)

    def _check_function(self, given: JsonObject, expect: JsonObject) -> None:
        for key in ("event", "person", "groups", "inputs", "request", "record"):
            if not isinstance(given.get(key), dict | None):
                raise self._wrong(f"{key} must be a mapping", key)
        self._check_globals(given)
        if not any(given.get(key) for key in ("event", "request", "record")):
            raise self._wrong("event is missing: the event that the function receives")
        event = given.get("event")
        if event is not None and not isinstance(event.get("event"), str):
            raise self._wrong("event.event must be the name of the event", "event")
        self._check_answers(given.get("fetch", []))
        self._check_expected_run(expect)

    def _check_expected_run(self, expect: JsonObject) -> None:
        if expect.get("status") not in {None, *STATUSES}:
            raise self._wrong(f"expect.status must be one of {', '.join(STATUSES)}", "expect")
        if not isinstance(expect.get("matched"), bool | None):
            raise self._wrong("expect.matched must be true or false", "expect")
        for key in ("requests", "logs", "captures", "emails"):
            if not isinstance(expect.get(key), list | None):
                raise self._wrong(f"expect.{key} must be a list", "expect")
        for request in expect.get("requests") or []:
            if not isinstance(request, dict):
                raise self._wrong("expect.requests must be a list of mappings", "expect")
            self._check_keys(request, REQUEST_KEYS, "expect")

    def _check_globals(self, given: JsonObject) -> None:
        for name, group in (given.get("groups") or {}).items():
            if not isinstance(group, dict):
                raise self._wrong(
                    f"groups.{name} must be a mapping with key and properties", "groups"
                )
            if not isinstance(group.get("properties"), dict | None):
                raise self._wrong(f"groups.{name}.properties must be a mapping", "groups")
        for key in ("event", "person"):
            if not isinstance((given.get(key) or {}).get("properties"), dict | None):
                raise self._wrong(f"{key}.properties must be a mapping", key)

    def _check_patterns(self, expected: Any) -> None:
        """Check that all texts between slashes are regular expressions."""
        if isinstance(expected, dict | list):
            for item in expected.values() if isinstance(expected, dict) else expected:
                self._check_patterns(item)
        elif is_pattern(expected):
            try:
                re.compile(expected[1:-1])
            except re.error as error:
                raise self._wrong(
                    f"{expected} is not a regular expression: {error}", "expect"
                ) from (None)

    def _check_answers(self, answers: Any) -> None:
        if not isinstance(answers, list) or not all(isinstance(item, dict) for item in answers):
            raise self._wrong(
                "fetch must be a list of responses such as {status: 200, body: {}}", "fetch"
            )
        for answer in answers:
            self._check_keys(answer, ANSWER_KEYS, "fetch")
            if not isinstance(answer.get("headers"), dict | None):
                raise self._wrong("headers of a response must be a mapping", "fetch")
            status = answer.get("status", 200)
            if not isinstance(status, int) or not 100 <= status <= 599:
                raise self._wrong(
                    "the status of a response must be a number from 100 to 599", "fetch"
                )
            times = answer.get("times", 1)
            if not isinstance(times, int) or not 1 <= times <= MAX_ATTEMPTS:
                raise self._wrong(
                    f"times of a response must be a number from 1 to {MAX_ATTEMPTS}", "fetch"
                )

    def _check_endpoint(self, given: JsonObject, expect: JsonObject) -> None:
        if not isinstance(given.get("variables"), dict | None):
            raise self._wrong("variables must be a mapping of values by code name", "variables")
        zone = given.get("timezone")
        if zone is not None and (not isinstance(zone, str) or zone not in timezone_names()):
            words = "timezone must be the name of a time zone, such as Europe/Berlin"
            raise self._wrong(words, "timezone")
        for key in ("columns", "rows"):
            if not isinstance(expect.get(key), list | None):
                raise self._wrong(f"expect.{key} must be a list", "expect")
        if not all(isinstance(row, list | dict) for row in expect.get("rows") or []):
            raise self._wrong("expect.rows must be a list of rows, each a list of values", "expect")

    def _now(self, given: Any) -> datetime:
        if given is None:
            return NOW
        try:
            moment = datetime.fromisoformat(str(given))
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            raise self._wrong("now must be a time such as 2026-01-05T12:00:00Z", "now") from None

    def _events(self, given: Any) -> list[CaseEvent]:
        if isinstance(given, str):
            return self._fixture(given)
        if not isinstance(given, list):
            raise self._wrong(
                "events must be a list of events, or a file with JSON lines", "events"
            )
        for event in given:
            if problem := problem_of(event):
                raise self._wrong(problem, "events")
        return given

    def _fixture(self, name: str) -> list[CaseEvent]:
        """A file next to the tests, or in the project's folder."""
        places = (self._path.parent / name, self._path.parent.parent / name)
        path = next((candidate for candidate in places if candidate.is_file()), None)
        if path is None:
            raise self._wrong(f"there is no file {places[0]}", "events")
        return read_event_lines(path)

    def _check_keys(
        self, given: JsonObject, known: tuple[str, ...], under: str | None = None
    ) -> None:
        import difflib

        for key in given:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1)
                hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
                key_path = f"{under}.{key}" if under else str(key)
                raise self._wrong(f"{key_path} is unknown. {hint}", under or str(key))

    def _wrong(self, text: str, key: str | None = None) -> BadTestFile:
        node = self._node
        if key is not None and isinstance(node, yaml.MappingNode):
            node = next((name for name, _ in node.value if name.value == key), node)
        ending = "" if text.endswith(("?", ".")) else "."
        return BadTestFile(f"{self._path}:{node.start_mark.line + 1}: {text}{ending}")


def select_cases(folder: Path, paths: list[Path], word: str) -> list[Case]:
    """The cases in ``paths`` (all if empty) whose id contains ``word``.

    Raises:
        BadTestFile: a file is invalid, a path has no tests, or no case contains the word.
    """
    cases: list[Case] = []
    for kind, subject, file in _files_in(folder, paths):
        if file.exists():
            cases += read_cases(kind, subject, file)
    chosen = [case for case in cases if word.lower() in case.id.lower()]
    if word and not chosen:  # otherwise a misspelled word in CI would pass
        raise BadTestFile(f"No file and no name of a case contains {word}; check -k.")
    return chosen


def select_functions(folder: Path, paths: list[Path]) -> list[Path]:
    """The folders of the functions in ``paths``; all folders if empty."""
    return [subject for kind, subject, _ in _files_in(folder, paths) if kind == "function"]


def _files_in(folder: Path, paths: list[Path]) -> list[tuple[str, Path, Path]]:
    files = list(test_files(folder))
    resolved = [path.resolve() for path in paths]
    for path, given in zip(resolved, paths, strict=True):
        if not path.exists():
            raise BadTestFile(f"There is no file or folder {given}.")
        if not any(_is_below(file, subject, path) for _, subject, file in files):
            raise BadTestFile(f"{given} is not a function or endpoint of the project.")
    return [
        (kind, subject, file)
        for kind, subject, file in files
        if not resolved or any(_is_below(file, subject, path) for path in resolved)
    ]


def _is_below(file: Path, subject: Path, path: Path) -> bool:
    places = (file.resolve(), subject.resolve())
    return any(location == path or path in location.parents for location in places)
