"""Data-driven acceptance cases: requests to a real server and the expected responses.

A case is a list of steps in a project of its own::

    - name: a bare destination
      each: [{prefix: projects}, {prefix: environments}]   # optional: one case for each
      steps:
        - {send: POST F, json: {hog: "return 1"}, want: 201, save: {id: id}}
        - {send: "GET F/${id}", want: 200, values: {type: destination}}

Of the rows of ``each``, ``make test`` runs every n-th if the case says ``thin: n``, and ``make
slow`` the others. ``F`` and ``E`` are the routes of functions and endpoints, ``T`` those of
templates, ``A`` the project's prefix. ``gap: reason`` marks a known failure. Such a case must fail,
so the mark is removed once it passes.
"""

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

import httpx

from support.waiting import pauses
from support.yaml_tables import read_table

ERROR_KEYS = {"type", "code", "detail", "attr"}
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_WAIT_SECONDS = 60
_SHORT = {"F": "hog_functions", "E": "endpoints", "T": "hog_function_templates", "A": ""}


class Stage(Protocol):
    """The server and the new project that a case runs in."""

    client: httpx.Client
    values: dict[str, Any]

    def key(self, name: str) -> str | None:
        """The API key of this name."""
        ...


@dataclass(frozen=True)
class Case:
    """One case, with a row of ``each`` filled in."""

    name: str
    steps: list[dict[str, Any]]
    values: dict[str, Any]
    gap: str | None = None
    project: dict[str, Any] = field(default_factory=dict)
    is_slow: bool = False


def read_cases(folder: Path) -> Iterator[Case]:
    """All cases of a folder, ordered by file and line."""
    for path in sorted(folder.glob("*.yaml")):
        for raw in read_table(path):
            for index, row in enumerate(raw.get("each") or [{}]):
                name = f"{path.stem}: {fill(raw['name'], row)}"
                if raw.get("each") and "${" not in raw["name"]:
                    name += f" [{' '.join(str(value) for value in row.values())[:80]}]"
                yield Case(
                    name=name,
                    steps=raw["steps"],
                    values=row,
                    gap=row.get("gap") or raw.get("gap"),
                    project=raw.get("project") or {},
                    is_slow=index % raw.get("thin", 1) != 0,
                )


def play(case: Case, stage: Stage) -> None:
    """Send the request of each step and check its response."""
    values = stage.values | {key: fill(value, stage.values) for key, value in case.values.items()}
    for number, raw in enumerate(case.steps, 1):
        step = fill(copy.deepcopy(raw), values)
        more = pauses(_WAIT_SECONDS)
        while True:
            response = send(stage, step, values)
            try:
                check(response, step)
                break
            except AssertionError as error:
                if not step.get("wait") or not next(more, False):
                    raise AssertionError(_report(number, step, response, error)) from None
        for name, path in (step.get("save") or {}).items():
            values[name] = find(response.json(), path)


def send(stage: Stage, step: dict[str, Any], values: dict[str, Any]) -> httpx.Response:
    """Send the request of a step."""
    method, _, address = step["send"].partition(" ")
    headers = {str(name): str(value) for name, value in (step.get("headers") or {}).items()}
    key = stage.key(step.get("key", "all"))
    if key is not None:
        headers.setdefault("Authorization", f"Bearer {key}")
    content: Any = step.get("body")
    if "json" in step:
        content = json.dumps(step["json"])
        headers.setdefault("Content-Type", "application/json")
    elif content is not None:
        content = content if isinstance(content, bytes) else content.encode()
        headers.setdefault("Content-Type", "application/json")
    elif "form" in step:
        return stage.client.request(
            method, address_of(address, step, values), data=step["form"], headers=headers
        )
    return stage.client.request(
        method,
        address_of(address, step, values),
        content=content,
        params=step.get("params"),
        headers=headers,
    )


def address_of(address: str, step: dict[str, Any], values: dict[str, Any]) -> str:
    """``F/1`` → ``/api/projects/7/hog_functions/1``."""
    head, slash, rest = address.partition("/")
    word, query, tail = head.partition("?")
    if word not in _SHORT:
        return address
    prefix = step.get("prefix") or values.get("prefix", "projects")
    base = f"/api/{prefix}/{values['project']}/{_SHORT[word]}".rstrip("/")
    return base + query + tail + slash + rest


def check(response: httpx.Response, step: dict[str, Any]) -> None:
    """Compare a response with what the step expects.

    Raises:
        AssertionError: something differs.
    """
    match(response.status_code, step["want"], "status")
    for name, expected in (step.get("answers") or {}).items():
        match(response.headers.get(name), expected, f"header {name}")
    for word in step.get("lacks") or []:
        assert word not in response.text, f"{word!r} is in the answer"
    if "empty" in step:
        assert (response.content == b"") == step["empty"], f"body {response.text[:200]!r}"
        return
    if step.get("raw"):
        return
    body = response.json()
    if response.status_code >= 400:
        check_error(body, step)
    if "keys" in step:
        assert set(body) == set(step["keys"]), f"keys {sorted(set(body) ^ set(step['keys']))}"
    for name in step.get("has") or []:
        assert name in body, f"no key {name}"
    for path, expected in (step.get("values") or {}).items():
        match(find(body, path), expected, path)


def check_error(body: dict[str, Any], step: dict[str, Any]) -> None:
    """Check the standard shape of an error, and the keys that the step names."""
    missing = ERROR_KEYS - set(body)
    assert not missing, f"error without {missing}"
    for name in ("type", "code", "attr", "detail"):
        if name in step and step[name] != f"${{{name}}}":  # a row of ``each`` without it
            match(body[name], step[name], name)
    for word in step.get("says") or []:
        assert word.lower() in str(body["detail"]).lower(), f"detail: {body['detail']!r}"
    if step.get("error"):
        assert body["error"] == body["detail"]


_MISSING = object()


def find(body: Any, path: str) -> Any:
    """The value at ``results.0.name``; an empty path is the whole, a missing part a marker."""
    for part in path.split(".") if path else []:
        if isinstance(body, list) and re.fullmatch(r"-?\d+", part):
            body = body[int(part)] if -len(body) <= int(part) < len(body) else _MISSING
        elif isinstance(body, dict):
            body = body.get(part, _MISSING)
        else:
            return _MISSING
    return body


def match(given: Any, expected: Any, where: str) -> None:
    """Whether the value equals ``expected``, or satisfies its ``$word``."""
    if isinstance(expected, dict) and len(expected) == 1 and next(iter(expected)) in _MATCHERS:
        (word, argument), *_ = expected.items()
        assert _MATCHERS[word](given, argument), f"{where}: {given!r} is not {expected}"
        return
    same = given == expected and isinstance(given, bool) == isinstance(expected, bool)
    assert same, f"{where}: {given!r}, wanted {expected!r}"


def _contains(given: Any, part: Any) -> bool:
    """Whether ``given`` contains ``part``."""
    if isinstance(part, dict) and isinstance(given, dict):
        return all(key in given and _contains(given[key], value) for key, value in part.items())
    return given == part


def _is(given: Any, kind: str) -> bool:
    patterns = {
        "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",
        "offset_time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00",
        "uuid": r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}",
    }
    if kind in patterns:
        return isinstance(given, str) and re.fullmatch(patterns[kind], given) is not None
    if kind == "missing":
        return given is _MISSING
    if kind == "present":
        return given is not _MISSING
    kinds = {"int": int, "string": str, "bool": bool, "list": list, "object": dict}
    return isinstance(given, kinds[kind])


_MATCHERS = {
    "$is": _is,
    "$re": lambda given, pattern: isinstance(given, str) and re.search(pattern, given) is not None,
    "$len": lambda given, count: len(given) == count,
    "$keys": lambda given, keys: isinstance(given, dict) and set(given) == set(keys),
    "$has": lambda given, part: given is not _MISSING and part in given,
    "$some": lambda given, part: not part or any(_contains(each, part) for each in given),
    "$lacks": lambda given, part: given is not _MISSING and part not in given,
    "$in": lambda given, choices: given in choices,
    "$part": _contains,
    "$at_least": lambda given, least: given >= least,
    "$below": lambda given, most: given < most,
    "$set": lambda given, members: sorted(given, key=str) == sorted(members, key=str),
}


def fill(value: Any, values: dict[str, Any]) -> Any:
    """Replace ``${name}`` by values; a text that is only ``${name}`` becomes the value itself."""
    if isinstance(value, list):
        return [fill(each, values) for each in value]
    if isinstance(value, dict):
        return _fill_object(value, values)
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    if whole and whole[1] in values:
        return values[whole[1]]
    return _PLACEHOLDER.sub(
        lambda placeholder: (
            _text(values[placeholder[1]]) if placeholder[1] in values else placeholder[0]
        ),
        value,
    )


def _fill_object(value: dict[str, Any], values: dict[str, Any]) -> Any:
    if "$merge" in value:
        return {key: each for part in fill(value["$merge"], values) for key, each in part.items()}
    if "$repeat" in value:
        part, times = value["$repeat"]
        return (part if isinstance(part, list) else str(part)) * times
    return {fill(key, values): fill(each, values) for key, each in value.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str | UUID) else json.dumps(value)


def _report(
    number: int, step: dict[str, Any], response: httpx.Response, error: AssertionError
) -> str:
    sent = json.dumps(step.get("json", step.get("body")))[:600]
    answer = response.text[:1500]
    return f"step {number}: {step['send']} {sent}\n-> {response.status_code} {answer}\n{error}"
