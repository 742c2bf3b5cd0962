"""The globals of a test run, from the request.

Source: docs/spec/hog-functions.md#92-invocations-test-run.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hoglet.functions.json_types import (
    EventGlobal,
    Globals,
    PersonGlobal,
    ProjectGlobal,
    SourceGlobal,
)
from hoglet.functions.runtime.globals import EventFields, event_globals, person_globals
from hoglet.kit.clock import iso_z, new_id, parse_instant
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_object, parse_json
from hoglet.web.validation import not_a_dict


def read_globals(
    body: JsonObject,
    *,
    project: ProjectGlobal,
    source: SourceGlobal,
    now: datetime,
    name_properties: list[str] | None,
) -> Globals:
    """The globals of a run: ``{"project", "source", "event", "person"?, "groups"}``.

    Args:
        body: the body of the request; ``clickhouse_event`` wins over ``globals``.
        project: project global, unless the request has one.
        source: function global, unless the request has one.
        now: the time of events without a timestamp.
        name_properties: properties for person names.

    Raises:
        Invalid: no event, or a row, a person, groups or properties that are not objects; the
            response has ``status``.
    """
    sent = body.get("globals")
    given: Globals = sent if is_object(sent) else {}
    for name in ("person", "groups"):
        _object(given.get(name), f"globals__{name}")
    answer: Globals = {"project": project, "source": source, "groups": {}, **given}
    row = _object(body.get("clickhouse_event"), "clickhouse_event")
    url = str(project.get("url"))
    if row:
        answer["event"] = _event_of_row(row, url, now)
        answer["person"] = _person_of_row(row, url, name_properties)
    elif is_object(given.get("event")):
        answer["event"] = _event(given["event"], url, now)
    else:
        raise refused_test_run("The test run needs globals with an event.", attr="globals__event")
    return answer


def refused_test_run(detail: str, *, attr: str | None, code: str | None = None) -> Invalid:
    """An error response with the ``status`` of test runs."""
    return Invalid(detail, code=code, attr=attr, extra={"status": "error"})


def _event(given: JsonObject, url: str, now: datetime) -> EventGlobal:
    properties = _object(given.get("properties"), "globals__event__properties")
    built = event_globals(
        url,
        EventFields(
            uuid=str(given.get("uuid") or new_id()),
            event=str(given.get("event") or ""),
            distinct_id=str(given.get("distinct_id") or ""),
            properties=properties,
            timestamp=str(given.get("timestamp") or iso_z(now)),
        ),
    )
    return {**built, **given, "properties": built["properties"], "uuid": built["uuid"]}


def _event_of_row(row: Mapping[str, Any], url: str, now: datetime) -> EventGlobal:
    return event_globals(
        url,
        EventFields(
            uuid=str(row.get("uuid") or new_id()),
            event=str(row.get("event") or ""),
            distinct_id=str(row.get("distinct_id") or ""),
            properties=_object_of_row(row, "properties"),
            timestamp=_instant(row.get("timestamp"), now),
            elements_chain=str(row.get("elements_chain") or ""),
        ),
    )


def _person_of_row(
    row: Mapping[str, Any], url: str, name_properties: list[str] | None
) -> PersonGlobal | None:
    if not row.get("person_id"):
        return None
    return person_globals(
        project_url=url,
        person_id=str(row["person_id"]),
        properties=_object_of_row(row, "person_properties"),
        distinct_id=str(row.get("distinct_id") or ""),
        name_properties=name_properties,
    )


def _object_of_row(row: Mapping[str, Any], name: str) -> JsonObject:
    """An object, given as such or as JSON text; empty if there is none."""
    value, attr = row.get(name), f"clickhouse_event__{name}"
    if value == "":
        return {}
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError as error:
            raise refused_test_run(f"This is not valid JSON: {error}.", attr=attr) from None
    return _object(value, attr)


def _object(value: Any, attr: str) -> JsonObject:
    if value is not None and not is_object(value):
        raise refused_test_run(not_a_dict(value), attr=attr, code="not_a_dict")
    return value or {}


def _instant(value: Any, now: datetime) -> str:
    moment = parse_instant(value) if isinstance(value, str) else None
    return iso_z(moment or now)
