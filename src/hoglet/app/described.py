"""What all rooms tell about their routes."""

from hoglet.access import described as access
from hoglet.app.openapi import PATH
from hoglet.cohorts import described as cohorts
from hoglet.definitions import described as definitions
from hoglet.endpoints import described as endpoints
from hoglet.events import described as events
from hoglet.events.persons import described as persons
from hoglet.functions import described as functions
from hoglet.pipeline.persons import described as person_changes
from hoglet.queries import described as queries
from hoglet.queries import described_lists
from hoglet.web.openapi import RouteDoc

_OWN: dict[tuple[str, str], RouteDoc] = {
    ("GET", PATH): RouteDoc({200: {"type": "object"}}),
    ("GET", "/_health"): RouteDoc({200: {"type": "object"}}),
    ("GET", "/_readyz"): RouteDoc({200: {"type": "object"}, 503: {"type": "object"}}),
    ("GET", "/metrics"): RouteDoc({200: "text/plain"}),
}
ABOUT: dict[tuple[str, str], RouteDoc] = (
    access.ABOUT
    | definitions.ABOUT
    | events.ABOUT
    | functions.ABOUT
    | endpoints.ABOUT
    | queries.ABOUT
    | persons.ABOUT
    | person_changes.ABOUT
    | described_lists.ABOUT
    | cohorts.ABOUT
    | _OWN
)
