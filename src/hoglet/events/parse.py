"""Parses the JSON of capture requests: token, batch, fields of events. Pure.

Used by capture before responding and by the pipeline on the spooled batch, so that both see the
same events.

Source: docs/spec/hog-functions.md#14-capture, rows Body, Token, Event, Time, uuid.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from hoglet.events.errors import (
    InvalidPayload,
    MissingDistinctId,
    MissingEventName,
)
from hoglet.kit.errors import Invalid

MAX_NAME_LENGTH = 200
MAX_DISTINCT_ID_LENGTH = 200
_MIN_MILLISECONDS = 1e11  # as milliseconds the year 1973, as seconds the year 5138
MAX_AHEAD = timedelta(hours=23)  # events further in the future have a wrong clock
_PERSON_KEYS = ("$set", "$set_once", "$unset")


def id_text(value: Any) -> str:
    """An id as text, numbers and booleans as in JSON; ``""`` for anything else.

    Example:
        >>> id_text(12345678)
        '12345678'
    """
    if type(value) is str:
        return sanitize(value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if type(value) is int else ""


def sanitize(text: str) -> str:
    """Remove NUL characters, which PostgreSQL rejects."""
    return text.replace("\0", "�") if "\0" in text else text


class Event(msgspec.Struct, gc=False):
    """An accepted event: names validated, time corrected, person keys inside ``properties``.

    Nothing in it refers to it, so the garbage collector need not visit the events of a group.
    """

    uuid: UUID
    event: str
    distinct_id: str
    properties: dict[str, Any]
    timestamp: datetime


class Batch(msgspec.Struct, frozen=True):
    """A parsed request: raw event objects and the fields of the batch."""

    events: list[Any]
    sent_at: datetime | None
    historical: bool


def token_of(body: Any, query: Mapping[str, str]) -> str | None:
    """The project token, wherever the SDK put it, or None."""
    first = body[0] if isinstance(body, list) and body else body
    if isinstance(body, dict) and isinstance(body.get("batch"), list) and body["batch"]:
        first = body["batch"][0]
    for holder in (body, first):
        if isinstance(holder, dict):
            for key in ("api_key", "token", "$token"):
                if isinstance(holder.get(key), str) and holder[key]:
                    return holder[key]
    properties = first.get("properties") if isinstance(first, dict) else None
    if isinstance(properties, dict) and isinstance(properties.get("token"), str):
        return properties["token"] or query.get("token")
    return query.get("token") or None


def batch_of(body: Any, query: Mapping[str, str]) -> Batch:
    """The events of a body: one object, an array, or an object with ``batch``.

    Raises:
        InvalidPayload: neither of these, or no events.
    """
    events: Any = body
    if isinstance(body, dict):
        events = body.get("batch", [body])
    if not isinstance(events, list):
        raise InvalidPayload(
            "The body must be an event, an array of events, or an object with `batch`."
        )
    if not events:
        raise InvalidPayload("The batch is empty.")
    top: dict[str, Any] = body if isinstance(body, dict) else {}
    return Batch(
        events=events,
        sent_at=read_time(top.get("sent_at")) or _milliseconds(query.get("_")),
        historical=top.get("historical_migration") is True,
    )


def refusal_of(raw: Any) -> Invalid | None:
    """Why an event cannot be accepted, or None; fast, called for every event."""
    if type(raw) is not dict:
        return InvalidPayload("An event must be an object.")
    return _refusal(raw, name_of(raw), distinct_id_of(raw))


def _refusal(raw: dict[str, Any], name: str, distinct_id: str) -> Invalid | None:
    refusal: Invalid | None = None
    if not name:
        refusal = MissingEventName("An event is missing the name `event`.")
    elif not distinct_id:
        refusal = MissingDistinctId("An event is missing `distinct_id`.")
    elif len(name) > MAX_NAME_LENGTH:
        refusal = InvalidPayload(f"An event name is longer than {MAX_NAME_LENGTH} characters.")
    elif len(distinct_id) > MAX_DISTINCT_ID_LENGTH:
        limit = MAX_DISTINCT_ID_LENGTH
        refusal = InvalidPayload(f"A distinct_id is longer than {limit} characters.")
    elif not isinstance(raw.get("properties", {}), dict | None):
        refusal = InvalidPayload("The `properties` of an event must be an object.")
    return refusal


def name_of(raw: dict[str, Any]) -> str:
    """The event's name; ``$identify`` for ``/engage/`` items without one; ``""`` if missing."""
    name = raw.get("event")
    if type(name) is str:
        return sanitize(name.strip())
    sets = (raw.get("$set"), raw.get("$set_once"))
    return "$identify" if name is None and any(isinstance(item, dict) for item in sets) else ""


def distinct_id_of(raw: dict[str, Any]) -> str:
    """The distinct id as text, from the top or the properties; ``""`` if missing."""
    distinct_id = id_text(raw.get("distinct_id")) or id_text(raw.get("$distinct_id"))
    properties = raw.get("properties")
    if distinct_id or not isinstance(properties, dict):
        return distinct_id
    return id_text(properties.get("distinct_id")) or id_text(properties.get("$distinct_id"))


def accept(
    raw: Any, *, sent_at: datetime | None, received_at: datetime, made_up: int
) -> tuple[Event, bool] | None:
    """The event of a raw object; None for one that :func:`refusal_of` refuses.

    Args:
        raw: any JSON value; it is not modified.
        sent_at: the client's time when it sent the batch, if known.
        received_at: the server's time when the request arrived.
        made_up: the UUID, as a number, of an event without a valid one.

    Returns:
        The event, and whether the UUID was the client's.
    """
    if type(raw) is not dict:
        return None
    name, distinct_id = name_of(raw), distinct_id_of(raw)
    if _refusal(raw, name, distinct_id) is not None:
        return None
    own = _uuid_of(raw.get("uuid"))
    properties: dict[str, Any] = dict(raw.get("properties") or {})
    for key in _PERSON_KEYS:
        if raw.get(key):
            properties[key] = _joined(raw[key], properties.get(key))
    timestamp = _timestamp_of(raw, sent_at, received_at)
    return Event(
        own or UUID(int=made_up), name, distinct_id, properties, timestamp
    ), own is not None


def read_time(value: Any) -> datetime | None:
    """ISO 8601 (UTC without offset) or a Unix timestamp as an aware datetime; else None.

    Example:
        >>> [read_time(each).year for each in ("2026-01-05", 1767600000, 1767600000000)]
        [2026, 2026, 2026]
    """
    try:
        if type(value) is str:
            parsed = datetime.fromisoformat(value.strip().upper())  # RFC 3339 allows a lower-case z
        elif type(value) in {int, float}:
            seconds = value / 1000 if value >= _MIN_MILLISECONDS else value
            parsed = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        if parsed.tzinfo is UTC:
            return parsed
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _timestamp_of(raw: dict[str, Any], sent_at: datetime | None, now: datetime) -> datetime:
    reported = read_time(raw.get("timestamp"))
    offset: Any = raw.get("offset")
    try:
        if reported is not None:
            corrected = reported + (now - sent_at) if sent_at else reported
        elif type(offset) in {int, float}:
            corrected = now - timedelta(milliseconds=offset)
        else:
            return now
    except (OverflowError, ValueError):
        return now
    # ClickHouse's DateTime64(6) covers 1900 to 2299; earlier times come from wrong clocks, too.
    return now if corrected - now > MAX_AHEAD or corrected.year < 1970 else corrected


def _milliseconds(value: str | None) -> datetime | None:
    return read_time(int(value) / 1000) if value and value.isdecimal() else None


def _joined(top: Any, inner: Any) -> Any:
    """Merge ``$set`` of the top level and of the properties, which win for each key."""
    if isinstance(top, dict) and isinstance(inner, dict):
        return {**top, **inner}
    return inner or top


def _uuid_of(value: Any) -> UUID | None:
    if type(value) is not str:
        return None
    try:
        return msgspec.convert(value, UUID)  # a third of the time, but of two spellings only
    except msgspec.ValidationError:
        pass
    try:
        return UUID(value)
    except ValueError:
        return None
