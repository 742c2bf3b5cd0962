"""The features over the opened rooms, and what each hands the others."""

from dataclasses import dataclass
from typing import Any

from hoglet.app.endpoints import build_endpoint_rooms
from hoglet.app.events import Events, build_events
from hoglet.app.functions import Functions, build_functions
from hoglet.app.rooms import Rooms
from hoglet.endpoints.rooms import EndpointRooms


@dataclass
class Features:
    """The services of every feature room."""

    events: Events
    functions: Functions
    endpoints: EndpointRooms


def build_features(rooms: Rooms) -> Features:
    """Build the features and plug them into the access room's providers."""
    events = build_events(rooms)
    functions = build_functions(rooms)
    endpoints = build_endpoint_rooms(rooms, events.repository)
    rooms.access.providers.group_types = _group_types(rooms, events)
    return Features(events, functions, endpoints)


def _group_types(rooms: Rooms, events: Events) -> Any:
    async def group_types(project_id: int) -> list[dict[str, Any]]:
        async with rooms.database.read() as session:
            found = await events.repository.group_types(session, project_id)
        return [
            {
                "group_type": name,
                "group_type_index": index,
                "name_singular": None,
                "name_plural": None,
            }
            for name, index in sorted(found.items(), key=lambda item: item[1])
        ]

    return group_types
