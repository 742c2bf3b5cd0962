"""The base URL and prefix under which the client called the API."""

from starlette.requests import Request

from hoglet.access.principals import ProjectScope
from hoglet.endpoints.serializers import EndpointUrls
from hoglet.endpoints.services import services_of
from hoglet.web.pagination import ORIGINAL_PATH

_ENVIRONMENTS = "/api/environments/"


def place_of(request: Request, scope: ProjectScope) -> EndpointUrls:
    """The base URL and prefix for paths and URLs in a response."""
    path: str = request.scope.get(ORIGINAL_PATH, request.url.path)
    prefix = "environments" if path.startswith(_ENVIRONMENTS) else "projects"
    site = services_of(request).site_url or f"{request.url.scheme}://{request.url.netloc}"
    return EndpointUrls(site.rstrip("/"), prefix, scope.project.id)
