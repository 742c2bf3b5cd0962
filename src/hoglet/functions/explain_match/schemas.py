"""Request and response of ``explain_match``."""

from typing import Any, Literal, TypedDict
from uuid import UUID

from hoglet.functions.explain_match.outline import Kind, Operator
from hoglet.functions.json_types import Globals
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_object
from hoglet.kit.suggestions import near
from hoglet.web.openapi import documented
from hoglet.web.request_body import BODY_KEY
from hoglet.web.validation import NOT_UUID, REQUIRED, not_a_dict

KEYS = (
    "event",
    "event_uuid",
    "person",
    "groups",
    "globals",
    "clickhouse_event",
    "configuration",
    "draft",
)
COUNT_KEYS = ("limit", "configuration", "draft")
MAX_COUNTED_EVENTS = 10_000


@documented
class MatchCondition(TypedDict):
    """A part of a filter; ``parts`` are combined by ``operator``."""

    kind: Kind
    path: str
    matched: bool
    condition: str | None
    reason: str | None
    error: str | None
    operator: Operator | None
    parts: list["MatchCondition"]


@documented
class MatchFailure(TypedDict):
    """Why the event does not run the function, with the path of the part."""

    kind: Kind | Literal["mappings", "inputs", "masking", "enabled", "status"]
    path: str
    reason: str


@documented
class MatchMasking(TypedDict):
    """The masking counter of this event's hash; ``count`` runs since the window began."""

    masked: bool
    count: int
    threshold: int | None
    ttl: int
    expires_at: str | None


@documented
class MatchMapping(TypedDict):
    """A mapping: its own conditions; it runs only if those of the function hold too."""

    index: int
    name: str | None
    disabled: bool
    matched: bool
    conditions: list[MatchCondition]
    masking: MatchMasking | None


@documented
class MatchedEvent(TypedDict):
    """The event that was matched."""

    uuid: str
    event: str
    distinct_id: str
    timestamp: str


@documented
class MatchExplanation(TypedDict):
    """Whether an event matches a function, and each condition with its result.

    ``would_run``: the event would start a run now: it matches, and the function is enabled, its
    inputs can be built, and the run is not masked.
    """

    matched: bool
    would_run: bool
    reason: str | None
    failed: list[MatchFailure]
    conditions: list[MatchCondition]
    mappings: list[MatchMapping] | None
    masking: MatchMasking | None
    event: MatchedEvent
    notes: list[str]


@documented
class MatchCount(TypedDict):
    """How many of the newest stored events match.

    ``examined`` is at most ``limit``. ``complete`` is false if the count ended early because it
    took too long. ``failed``: events whose filter raised. ``error``: why the filter does not
    compile, the first error that it raised, or why the count ended. ``events``: the newest events
    that match, at most 20.
    """

    matched: int
    failed: int
    examined: int
    limit: int
    complete: bool
    newest: str | None
    oldest: str | None
    error: str | None
    events: list[MatchedEvent]


def read_count_limit(body: JsonObject, most: int) -> int:
    """The number of events to examine; also rejects unknown keys.

    Raises:
        Invalid: not a whole number from 1 to ``most``.
    """
    check_keys(body, COUNT_KEYS)
    limit = body.get("limit", most)
    if type(limit) is not int or not 1 <= limit <= most:
        raise Invalid(f"Use a whole number from 1 to {most}.", attr="limit")
    return limit


def check_keys(body: JsonObject, known: tuple[str, ...] = KEYS) -> None:
    """Reject unknown keys.

    Raises:
        Invalid: attr is the key.
    """
    for name in body:
        if name not in known and name != BODY_KEY:
            detail = f'"{name}" is not a known field.{near(name, known)}'
            raise Invalid(detail, attr=name)


def read_event_uuid(body: JsonObject) -> UUID | None:
    """The UUID of a stored event: ``event_uuid``, or ``event`` as a string.

    Raises:
        Invalid: not a UUID, or no event at all.
    """
    attr = "event_uuid" if body.get("event_uuid") is not None else "event"
    requested = body.get(attr)
    if isinstance(requested, str):
        try:
            return UUID(requested)
        except ValueError:
            raise Invalid(NOT_UUID, attr=attr) from None
    if requested is not None and attr == "event_uuid":
        raise Invalid(NOT_UUID, attr=attr)
    if requested is None and not any(body.get(key) for key in ("globals", "clickhouse_event")):
        raise Invalid(REQUIRED, code="required", attr="event")
    return None


def read_inline(body: JsonObject) -> JsonObject:
    """The body of a test run for an event in the request.

    Raises:
        Invalid: the event, person or groups have another shape than globals have.
    """
    if body.get("event") is None:
        given = body.get("globals")
        if given is not None and not is_object(given):
            raise Invalid(not_a_dict(given), code="not_a_dict", attr="globals")
        globals_: Globals = given or {}
        prefix = "globals__"
    else:
        globals_ = {name: body.get(name) for name in ("event", "person", "groups")}
        globals_["groups"] = globals_["groups"] if globals_["groups"] is not None else {}
        prefix = ""
    if globals_:
        _check_globals(globals_, prefix)
    return {"globals": globals_, "clickhouse_event": body.get("clickhouse_event")}


def _check_globals(globals_: Globals, prefix: str) -> None:
    event = _object(globals_.get("event"), f"{prefix}event")
    _object(event.get("properties"), f"{prefix}event__properties")
    if "event" in globals_ and not isinstance(event.get("event"), str):
        raise Invalid(REQUIRED, code="required", attr=f"{prefix}event__event")
    person = _object(globals_.get("person"), f"{prefix}person")
    _object(person.get("properties"), f"{prefix}person__properties")
    for name, group in _object(globals_.get("groups"), f"{prefix}groups").items():
        attr = f"{prefix}groups__{name}"
        _object(_object(group, attr).get("properties"), f"{attr}__properties")


def _object(value: Any, attr: str) -> JsonObject:
    if value is None:
        return {}
    if not is_object(value):
        raise Invalid(not_a_dict(value), code="not_a_dict", attr=attr)
    return value
