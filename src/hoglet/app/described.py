"""What all rooms tell about their routes."""

from hoglet.access import described as access
from hoglet.app.openapi import PATH
from hoglet.endpoints import described as endpoints
from hoglet.events import described as events
from hoglet.functions import described as functions
from hoglet.web.openapi import About

_OWN: dict[tuple[str, str], About] = {
    ("GET", PATH): About({200: {"type": "object"}}),
    ("GET", "/_health"): About({200: {"type": "object"}}),
    ("GET", "/_readyz"): About({200: {"type": "object"}, 503: {"type": "object"}}),
    ("GET", "/metrics"): About({200: "text/plain"}),
}
ABOUT: dict[tuple[str, str], About] = (
    access.ABOUT | events.ABOUT | functions.ABOUT | endpoints.ABOUT | _OWN
)
