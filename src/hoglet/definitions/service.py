"""The services of definitions, stored in ``app.state.definitions``."""

import msgspec
from starlette.requests import Request

from hoglet.definitions.event_service import EventDefinitionService
from hoglet.definitions.property_service import PropertyDefinitionService


class DefinitionServices(msgspec.Struct, frozen=True):
    """Services used by the routes of definitions."""

    properties: PropertyDefinitionService
    events: EventDefinitionService


def services_of(request: Request) -> DefinitionServices:
    """The services of the application."""
    services: DefinitionServices = request.app.state.definitions
    return services
