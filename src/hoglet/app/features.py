"""The features over the opened rooms, and what each hands the others."""

from dataclasses import dataclass

from hoglet.app.container import Rooms
from hoglet.app.endpoints import build_endpoint_rooms
from hoglet.app.events import Events, build_events
from hoglet.app.functions import Functions, build_functions
from hoglet.app.hooks import connect_providers
from hoglet.endpoints.services import EndpointRooms


@dataclass
class Features:
    """The services of every feature room."""

    events: Events
    functions: Functions
    endpoints: EndpointRooms


def build_features(rooms: Rooms) -> Features:
    """Build the features and plug them into the access room's providers."""
    events = build_events(rooms)
    functions = build_functions(rooms, events.repository.property_types)
    endpoints = build_endpoint_rooms(rooms, events.repository)
    connect_providers(rooms, events)
    return Features(events, functions, endpoints)
