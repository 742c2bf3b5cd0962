"""Routes of personal API keys and project secret keys.

Source: docs/spec/data-and-queries.md#5-keys.
"""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.api_keys.personal import PersonalKeys
from hoglet.access.api_keys.schemas import (
    KeyObject,
    PersonalKeyChanges,
    PersonalKeyFields,
    SecretKeyChanges,
    SecretKeyFields,
    SecretKeyObject,
)
from hoglet.access.api_keys.secret import SecretKeys
from hoglet.access.auth import access_of, requires, requires_key
from hoglet.access.principals import Principal, ProjectScope
from hoglet.access.repository import users_by_id
from hoglet.access.serializers import key_object, secret_key_object
from hoglet.access.tables import SecretKeyRow
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, Page, describe
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import validate

router = Router()
project_router = Router()

type Caller = Annotated[Principal, Depends(requires_key())]
type Reader = Annotated[ProjectScope, Depends(requires("project:read"))]
type Writer = Annotated[ProjectScope, Depends(requires("project:write"))]

_PERSONAL = "/api/personal_api_keys"
_SECRET = "/project_secret_api_keys"  # noqa: S105 (a path, not a secret)


@router.get(_PERSONAL)
@describe({200: {"type": "array", "items": {"type": "object"}}})
async def list_personal_keys(request: Request, caller: Caller) -> Response:
    """List the caller's personal keys, newest first, without their values."""
    rows = await PersonalKeys(access_of(request), caller).all()
    return JsonResponse([key_object(row) for row in rows])


@router.post(_PERSONAL)
@describe({201: KeyObject}, body=PersonalKeyFields)
async def create_personal_key(request: Request, caller: Caller) -> Response:
    """Create a personal key; only this response contains its value."""
    keys = PersonalKeys(access_of(request), caller)
    row, value = await keys.create(validate(PersonalKeyFields, await read_object(request)))
    return JsonResponse(key_object(row, value), status_code=201)


@router.get(_PERSONAL + "/{key_id}")
@describe({200: KeyObject})
async def read_personal_key(request: Request, key_id: str, caller: Caller) -> Response:
    """Get a personal key, without its value."""
    return JsonResponse(key_object(await PersonalKeys(access_of(request), caller).get(key_id)))


@router.api_route(_PERSONAL + "/{key_id}", methods=["PATCH", "PUT"])
@describe({200: KeyObject}, body=PersonalKeyChanges)
async def update_personal_key(request: Request, key_id: str, caller: Caller) -> Response:
    """Change the label, scopes or restrictions of a personal key."""
    keys = PersonalKeys(access_of(request), caller)
    changes = validate(PersonalKeyChanges, await read_object(request))
    return JsonResponse(key_object(await keys.change(key_id, changes)))


@router.delete(_PERSONAL + "/{key_id}")
@describe({204: None})
async def delete_personal_key(request: Request, key_id: str, caller: Caller) -> Response:
    """Delete a personal key, except the last one with every scope."""
    await PersonalKeys(access_of(request), caller).delete(key_id)
    return Response(status_code=204)


@router.post(_PERSONAL + "/{key_id}/roll")
@describe({200: KeyObject})
async def roll_personal_key(request: Request, key_id: str, caller: Caller) -> Response:
    """Replace the value of a personal key; the old value stops working at once."""
    row, value = await PersonalKeys(access_of(request), caller).roll(key_id)
    return JsonResponse(key_object(row, value))


@project_router.get(_SECRET)
@describe({200: Page[SecretKeyObject]}, query=PAGE)
async def list_secret_keys(request: Request, scope: Reader) -> Response:
    """List the project's secret keys, newest first, without their values."""
    page = parse_page(request.query_params)
    rows = await SecretKeys(access_of(request), scope).all()
    visible = rows[page.offset :][: page.limit]
    results = [await _secret_key(request, row) for row in visible]
    return JsonResponse(envelope(request, page, len(rows), results))


@project_router.post(_SECRET)
@describe({201: SecretKeyObject}, body=SecretKeyFields)
async def create_secret_key(request: Request, scope: Writer) -> Response:
    """Create a project secret key; only this response contains its value."""
    keys = SecretKeys(access_of(request), scope)
    row, value = await keys.create(validate(SecretKeyFields, await read_object(request)))
    return JsonResponse(await _secret_key(request, row, value), status_code=201)


@project_router.get(_SECRET + "/{key_id}")
@describe({200: SecretKeyObject})
async def read_secret_key(request: Request, key_id: str, scope: Reader) -> Response:
    """Get a project secret key, without its value."""
    row = await SecretKeys(access_of(request), scope).get(key_id)
    return JsonResponse(await _secret_key(request, row))


@project_router.api_route(_SECRET + "/{key_id}", methods=["PATCH", "PUT"])
@describe({200: SecretKeyObject}, body=SecretKeyChanges)
async def update_secret_key(request: Request, key_id: str, scope: Writer) -> Response:
    """Change the label or scopes of a project secret key."""
    changes = validate(SecretKeyChanges, await read_object(request))
    row = await SecretKeys(access_of(request), scope).change(key_id, changes)
    return JsonResponse(await _secret_key(request, row))


@project_router.delete(_SECRET + "/{key_id}")
@describe({204: None})
async def delete_secret_key(request: Request, key_id: str, scope: Writer) -> Response:
    """Delete a project secret key."""
    await SecretKeys(access_of(request), scope).delete(key_id)
    return Response(status_code=204)


@project_router.post(_SECRET + "/{key_id}/roll")
@describe({200: SecretKeyObject})
async def roll_secret_key(request: Request, key_id: str, scope: Writer) -> Response:
    """Replace the value of a project secret key; the old value stops working at once."""
    row, value = await SecretKeys(access_of(request), scope).roll(key_id)
    return JsonResponse(await _secret_key(request, row, value))


async def _secret_key(
    request: Request, row: SecretKeyRow, value: str | None = None
) -> SecretKeyObject:
    ids = [] if row.created_by_id is None else [row.created_by_id]
    async with access_of(request).database.read() as session:
        users = await users_by_id(session, ids)
    return secret_key_object(row, users.get(row.created_by_id or 0), value)
