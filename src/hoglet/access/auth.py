"""Authentication and authorization of routes.

Order of checks: authenticate, project or organization restriction of the key, scope, membership,
rate. Features check the object itself (an object of another project is 404).

    @router.get("/endpoints")
    async def list_endpoints(
        request: Request, scope: Annotated[Scope, Depends(requires("endpoint:read"))]
    ) -> Response: ...

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits;
docs/spec/query-endpoints.md#6-errors-keys-limits.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request

from hoglet.access.keys import SECRET_PREFIX
from hoglet.access.principals import Principal, Project, ProjectScope
from hoglet.access.service import AccessService
from hoglet.access.tenant_tokens.codec import TENANT_PREFIX
from hoglet.kit.errors import (
    Forbidden,
    NotFound,
    Unauthenticated,
    Unreadable,
    UnsupportedMediaType,
)
from hoglet.web.request_body import BODY_KEY, read_body, read_json

CURRENT = "@current"
_BEARER = "Bearer "
_ID_DIGITS = 9  # project ids stay below 2**31, the largest integer of a PostgreSQL column


def requires(
    scope: str, *, allow_secret_key: bool = False
) -> Callable[[Request], Awaitable[ProjectScope]]:
    """A dependency of routes below a project.

    Args:
        scope: the scope that the key must have, e.g. ``hog_function:write``.
        allow_secret_key: whether a project secret key may be used on this route.
    """

    async def guard(request: Request) -> ProjectScope:
        project_id: str = request.path_params["project_id"]
        return await authorize(request, project_id, scope, allow_secret_key=allow_secret_key)

    return guard


def requires_key(scope: str | None = None) -> Callable[[Request], Awaitable[Principal]]:
    """A dependency of routes outside of projects; ``None`` accepts any personal key."""

    async def guard(request: Request) -> Principal:
        principal = await authenticate(request)
        if principal.kind != "personal":
            raise _wrong_kind(principal)
        if scope is not None:
            _check_scope(principal, scope)
        await access_of(request).rates.check_key(principal)
        return principal

    return guard


async def authorize(
    request: Request,
    project_id: str,
    scope: str,
    *,
    allow_secret_key: bool = False,
    allow_tenant_token: bool = False,
    throttle: bool = True,
) -> ProjectScope:
    """Authorize a request for a project, or raise; also used by plain Starlette routes.

    Args:
        request: carries the key; it is checked by ``request.app.state.access``.
        project_id: the segment of the path: digits or ``@current``.
        scope: the scope that the key must have.
        allow_secret_key: whether a project secret key may be used here.
        allow_tenant_token: whether a tenant token may be used; the caller checks what it grants.
        throttle: count the request against the ordinary rate limits.

    Raises:
        Unauthenticated: no key, or an unknown one.
        Forbidden: the key does not reach the project, lacks the scope, or is of the wrong kind.
        NotFound: there is no such project.
        Throttled: a rate limit is exceeded.
    """
    access = access_of(request)
    principal = await authenticate(request)
    if principal.tenant is not None and not allow_tenant_token:
        raise _wrong_kind(principal)
    if principal.kind == "personal":
        project = await _project_of_personal_key(access, principal, project_id, scope)
    else:
        project = await _project_of_secret_key(access, principal, project_id)
        if principal.kind == "secret" and not allow_secret_key:
            raise _wrong_kind(principal)
        _check_scope(principal, scope)
    granted = ProjectScope(project, principal)
    if throttle:
        await access.rates.check(granted)
    return granted


async def authenticate(request: Request) -> Principal:
    """Authenticate the caller by the first key in the headers, body or query string.

    Raises:
        Unauthenticated: there is no key, or it is not valid.
    """
    key, source = await _find_key(request)
    if key is None:
        raise Unauthenticated("Authentication credentials were not provided.")
    usable = source == "header" or not key.startswith((SECRET_PREFIX, TENANT_PREFIX))
    principal = await access_of(request).identify(key) if usable else None
    if principal is None:
        raise Unauthenticated(
            f"The API key found in the request's {source} is not valid.",
            code="authentication_failed",
        )
    return principal


def access_of(request: Request) -> AccessService:
    """The access service of the application."""
    access: AccessService = request.app.state.access
    return access


def check_reach(principal: Principal, project: Project) -> None:
    """Check that the restrictions of the key include the project.

    Raises:
        Forbidden: they exclude it.
    """
    if principal.scoped_teams and project.id not in principal.scoped_teams:
        raise Forbidden(f"This key does not have access to project {project.id}.")
    allowed = principal.scoped_organizations
    if allowed and project.organization_id not in allowed:
        raise Forbidden(
            f"This key does not have access to the organization of project {project.id}."
        )


def reaches(principal: Principal, project: Project) -> bool:
    """Whether a personal key has access to the project, by restriction and membership."""
    teams, organizations = principal.scoped_teams, principal.scoped_organizations
    return (
        (not teams or project.id in teams)
        and (not organizations or project.organization_id in organizations)
        and project.organization_id in principal.organizations
    )


async def _project_of_personal_key(
    access: AccessService, principal: Principal, project_id: str, scope: str
) -> Project:
    project = await _find_project(access, principal, project_id)
    if project is not None:
        check_reach(principal, project)
    elif principal.scoped_teams or principal.scoped_organizations:
        raise NotFound
    _check_scope(principal, scope)
    if project is None:
        raise NotFound
    if project.organization_id not in principal.organizations:
        raise Forbidden(f"The owner of this key is not a member of project {project.id}.")
    return project


async def _project_of_secret_key(
    access: AccessService, principal: Principal, project_id: str
) -> Project:
    project = await _find_project(access, principal, project_id)
    if project is None:
        raise NotFound
    if project.id != principal.project_id:
        kind = "secret key" if principal.kind == "secret" else "tenant token"
        raise Forbidden(f"This {kind} does not belong to project {project.id}.")
    return project


async def _find_project(
    access: AccessService, principal: Principal, project_id: str
) -> Project | None:
    if project_id == CURRENT:
        return await access.current_project(principal)
    if not (project_id.isascii() and project_id.isdecimal() and len(project_id) <= _ID_DIGITS):
        return None
    return await access.project(int(project_id))


def _check_scope(principal: Principal, scope: str) -> None:
    if not principal.may(scope):
        raise Forbidden(f"This key is missing the required scope '{scope}'.")


def _wrong_kind(principal: Principal) -> Forbidden:
    if principal.tenant is not None:
        return Forbidden("Tenant tokens can only run the endpoints that they name.")
    return Forbidden("Project secret keys are not supported for this action.")


async def _find_key(request: Request) -> tuple[str | None, str]:
    header = request.headers.get("authorization", "")
    if header.startswith(_BEARER) and header[len(_BEARER) :].strip():
        return header[len(_BEARER) :].strip(), "header"
    in_body = await _key_in_body(request)
    if in_body:
        return in_body, "body"
    return request.query_params.get(BODY_KEY) or None, "query string"


async def _key_in_body(request: Request) -> str | None:
    """The key in a JSON body; None if the body cannot be parsed.

    The body is parsed only if it contains the name of the key's field: it may be 20 MB large.
    """
    if BODY_KEY.encode() not in await read_body(request):
        return None
    try:
        body: Any = await read_json(request)
    except (Unreadable, UnsupportedMediaType):
        return None
    key = body.get(BODY_KEY) if isinstance(body, dict) else None
    return key.strip() or None if isinstance(key, str) else None
