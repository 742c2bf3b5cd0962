"""Routes of function templates (docs/spec/hog-functions.md#11-templates).

``router`` is below a project; ``public_router`` needs no key and also serves icons.
"""

from collections.abc import Mapping
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from hoglet.functions import repository, types
from hoglet.functions.api import Reads, service_of
from hoglet.functions.response_schemas import TemplateObject
from hoglet.functions.service import FunctionService
from hoglet.functions.templates.registry import (
    DEPRECATED,
    HIDDEN,
    PREFIX,
    Template,
)
from hoglet.kit.errors import NotFound
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, Page, describe, text
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.router import Router

router = Router()
public_router = Router()

_ICON_SECONDS = 24 * 3600
_TEMPLATE_QUERY = (*PAGE, text("type"), text("types"), text("template_id"))


@router.get("/hog_function_templates")
@describe({200: Page[TemplateObject]}, query=_TEMPLATE_QUERY)
async def list_templates(request: Request, scope: Reads) -> Response:  # noqa: ARG001 (the guard)
    """List the templates of a type, most used first."""
    return await _list(request, unlisted={DEPRECATED})


@router.get("/hog_function_templates/{template_id}")
@describe({200: TemplateObject})
async def get_template(request: Request, template_id: str, scope: Reads) -> Response:  # noqa: ARG001 (the guard)
    """Get a template, including deprecated and hidden ones."""
    return JsonResponse(_find(request, template_id).as_json())


@public_router.get("/api/public_hog_function_templates")
@describe({200: Page[TemplateObject]}, query=_TEMPLATE_QUERY)
async def list_public_templates(request: Request) -> Response:
    """List public templates."""
    return await _list(request, unlisted={DEPRECATED, HIDDEN})


@public_router.get("/api/public_hog_function_templates/{template_id}")
@describe({200: TemplateObject})
async def get_public_template(request: Request, template_id: str) -> Response:
    """Get a public template."""
    template = _find(request, template_id)
    if template.status == HIDDEN:
        raise NotFound
    return JsonResponse(template.as_json())


@public_router.get("/static/services/{name}.svg")
@describe({200: "image/svg+xml"})
async def get_template_icon(request: Request, name: str) -> Response:
    """Get the icon of a template."""
    template = _find(request, PREFIX + name)
    folder = files("hoglet.functions.templates").joinpath(template.id.removeprefix(PREFIX))
    return Response(
        folder.joinpath("icon.svg").read_bytes(),
        media_type="image/svg+xml",
        headers={"Cache-Control": f"public, max-age={_ICON_SECONDS}"},
    )


def _find(request: Request, template_id: str) -> Template:
    template = service_of(request).templates.find(template_id)
    if template is None:
        raise NotFound
    return template


async def _list(request: Request, *, unlisted: set[str]) -> Response:
    query, page = request.query_params, parse_page(request.query_params)
    matching = _matching(service_of(request), query, unlisted)
    used = await _uses(service_of(request))
    matching.sort(key=lambda template: (-used.get(template.id, 0), template.name))
    end = None if page.limit is None else page.offset + page.limit
    visible = [item.as_json() for item in matching[page.offset : end]]
    return JsonResponse(envelope(request, page, len(matching), visible))


def _matching(
    service: FunctionService, query: Mapping[str, str], unlisted: set[str]
) -> list[Template]:
    several = [part.strip() for part in (query.get("types") or "").split(",") if part.strip()]
    kinds = several or [query.get("type") or types.DESTINATION]
    template_id = query.get("template_id")
    return [
        item
        for item in service.templates.all.values()
        if item.type in kinds and item.status not in unlisted and template_id in (None, "", item.id)
    ]


async def _uses(service: FunctionService) -> dict[str, int]:
    async with service.database.read() as session:
        return await repository.count_by_template(session, None)
