"""The shapes of test cases in files, and of the results that are compared.

Source: docs/testing.md.
"""

from collections.abc import Mapping
from typing import Any, Literal, Required, TypedDict

from hoglet.kit.json import JsonObject, Properties


class CaseEvent(TypedDict, total=False):
    """An event of a case; for functions, missing keys such as ``uuid`` are filled in."""

    event: str
    distinct_id: str
    timestamp: str
    uuid: str
    properties: Properties


class CasePerson(TypedDict, total=False):
    """The person of a case; keys set here replace derived ones."""

    id: str
    name: str
    properties: Properties | None


class CaseGroup(TypedDict, total=False):
    """A group of a case; ``id`` is an alias of ``key``."""

    key: str
    id: str
    properties: Properties | None


class ScriptedAnswer(TypedDict, total=False):
    """A response to ``fetch``; ``error`` is a network failure, ``times`` how often it is used."""

    status: int
    body: Any
    headers: dict[str, str] | None
    error: str
    times: int


class SentRequest(TypedDict):
    """A request that a function sent; a JSON body is parsed."""

    method: str
    url: str
    headers: dict[str, str]
    body: Any


type RunStatus = Literal["success", "failed", "skipped", "filtered"]


class Results(TypedDict, total=False):
    """The expected results of a case, or all results of a run; the last two are for endpoints."""

    matched: bool
    status: RunStatus
    requests: list[SentRequest]
    logs: list[str]
    result: Any
    event: JsonObject | None
    record: JsonObject | None
    error: str | None
    captures: list[JsonObject]
    emails: list[JsonObject]
    columns: list[str] | None
    rows: list[Any] | None


class CaseBody(TypedDict, total=False):
    """A case in a file: common keys, those of functions, then those of endpoints."""

    name: Required[str]
    now: str
    expect: Required[Results]
    event: CaseEvent
    person: CasePerson
    groups: dict[str, CaseGroup]
    request: JsonObject
    record: JsonObject
    inputs: Mapping[str, Any]
    fetch: list[ScriptedAnswer]
    events: list[CaseEvent] | str
    variables: Mapping[str, Any]
    timezone: str
