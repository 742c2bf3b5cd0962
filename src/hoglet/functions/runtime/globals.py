"""The globals of a run: project, source, event, person, groups.

Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from hoglet.functions.json_types import (
    EventGlobal,
    Globals,
    GroupGlobal,
    PersonGlobal,
    ProjectGlobal,
    SourceGlobal,
)

ALWAYS_THERE: Globals = {"person": None, "groups": {}, "variables": {}}
"""Globals that programs and templates can read for any event, even without a person."""

DEFAULT_NAME_PROPERTIES = ("email", "name", "username")


def project_globals(*, project_id: int, name: str, site_url: str) -> ProjectGlobal:
    """The global ``project``."""
    return {"id": project_id, "name": name, "url": f"{site_url.rstrip('/')}/project/{project_id}"}


def source_globals(*, project_url: str, function_id: str, name: str | None) -> SourceGlobal:
    """``source`` names the function that runs."""
    url = f"{project_url}/pipeline/destinations/hog-{function_id}/configuration"
    return {"name": name or "Unnamed", "url": url}


class EventFields(msgspec.Struct, frozen=True, kw_only=True):
    """What a run sees of an event; ``timestamp`` and ``captured_at`` are ISO strings in UTC."""

    uuid: str
    event: str
    distinct_id: str
    properties: Mapping[str, Any]
    timestamp: str
    captured_at: str | None = None
    elements_chain: str = ""


def event_globals(project_url: str, event: EventFields) -> EventGlobal:
    """The event with its link; ``captured_at`` defaults to ``timestamp``."""
    properties, timestamp = event.properties, event.timestamp
    return {
        "uuid": event.uuid,
        "event": event.event,
        "distinct_id": event.distinct_id,
        "properties": dict(properties),
        "elements_chain": event.elements_chain or str(properties.get("$elements_chain") or ""),
        "timestamp": timestamp,
        "captured_at": event.captured_at or timestamp,
        "url": f"{project_url}/events/{quote(event.uuid, safe='')}/{quote(timestamp, safe='')}",
    }


def person_globals(
    *,
    project_url: str,
    person_id: str,
    properties: Mapping[str, Any],
    distinct_id: str,
    name_properties: Sequence[str] | None = None,
) -> PersonGlobal:
    """The person; named by the first property in ``name_properties`` that is set."""
    names = name_properties or DEFAULT_NAME_PROPERTIES
    name = next((str(properties[key]) for key in names if properties.get(key)), distinct_id)
    return {
        "id": person_id,
        "name": name,
        "url": _person_url(project_url, person_id, distinct_id),
        "properties": dict(properties),
        "distinct_id": distinct_id,
    }


def _person_url(project_url: str, person_id: str, distinct_id: str) -> str:
    """The link by distinct id, or by id for ``.`` and ``..``, which browsers would resolve."""
    if distinct_id in {".", ".."}:
        return f"{project_url}/persons/{person_id}"
    return f"{project_url}/person/{quote(distinct_id, safe='')}"


def group_globals(
    *, project_url: str, group_type: str, index: int, key: str, properties: Mapping[str, Any]
) -> GroupGlobal:
    """One member of ``groups``."""
    return {
        "id": key,
        "type": group_type,
        "index": index,
        "url": f"{project_url}/groups/{index}/{quote(key, safe='')}",
        "properties": dict(properties),
    }
