"""Routes of tenant tokens and their signing keys."""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.access.scopes import check_grant
from hoglet.access.tenant_tokens.signing_keys import SigningKeys
from hoglet.endpoints.container import services_of
from hoglet.endpoints.tenant_tokens.grants import read_grant
from hoglet.endpoints.tenant_tokens.schemas import (
    NewSigningKey,
    RotateBody,
    SigningKeyObject,
    TenantToken,
    TenantTokenBody,
    signing_key_object,
)
from hoglet.kit.clock import iso_z
from hoglet.kit.errors import NotFound
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, Page, describe
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import validate

router = Router()

_TOKENS = "/tenant_tokens"
_GRANTED = ("endpoint:read",)

type Runner = Annotated[ProjectScope, Depends(requires("endpoint:read", allow_secret_key=True))]
type Reader = Annotated[ProjectScope, Depends(requires("project:read"))]
type Writer = Annotated[ProjectScope, Depends(requires("project:write"))]


@router.post(_TOKENS)
@describe({201: TenantToken}, body=TenantTokenBody)
async def create_tenant_token(request: Request, scope: Runner) -> Response:
    """Create a token that may run some endpoints with fixed variables; it is not stored."""
    body = validate(TenantTokenBody, await read_object(request))
    grant = await read_grant(services_of(request), scope, body)
    token, expires_at = await _keys(request).sign(scope, grant, body.expires_in)
    return JsonResponse({"token": token, "expires_at": iso_z(expires_at)}, status_code=201)


@router.get(_TOKENS + "/keys")
@describe({200: Page[SigningKeyObject]}, query=PAGE)
async def list_signing_keys(request: Request, scope: Reader) -> Response:
    """List the signing keys whose tokens are accepted, newest first, without their secrets."""
    page = parse_page(request.query_params)
    rows = await _keys(request).all(scope.project.id)
    visible = [signing_key_object(row) for row in rows[page.offset :][: page.limit]]
    return JsonResponse(envelope(request, page, len(rows), visible))


@router.delete(_TOKENS + "/keys/{key_id}")
@describe({204: None})
async def revoke_signing_key(request: Request, key_id: str, scope: Writer) -> Response:
    """Revoke a signing key; all its tokens stop working immediately."""
    await _keys(request).revoke(scope, key_id)
    return Response(status_code=204)


@router.post(_TOKENS + "/rotate")
@describe({201: NewSigningKey}, body=RotateBody)
async def rotate_signing_key(request: Request, scope: Writer) -> Response:
    """Create a signing key; only this response contains its secret.

    Tokens of earlier keys stop working immediately, or after ``grace_seconds``.
    """
    check_grant(scope.principal, _GRANTED)
    body = validate(RotateBody, await read_object(request))
    row, secret = await _keys(request).rotate(scope, body.grace_seconds)
    return JsonResponse(signing_key_object(row) | {"secret": secret}, status_code=201)


def _keys(request: Request) -> SigningKeys:
    keys = services_of(request).access.signing_keys
    if keys is None:
        raise NotFound
    return keys
