"""Authentication of callers and authorization of routes.

:class:`AccessService`, built once by the composition root and stored in ``app.state.access``, looks
up keys and projects; look-ups are cached for seconds because every request needs them.

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
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy.exc import OperationalError
from starlette.requests import Request

from hoglet.access import repository
from hoglet.access.activity import ActivityLog
from hoglet.access.hooks import AccessHooks
from hoglet.access.keys import SECRET_PREFIX
from hoglet.access.principals import Principal, Project, ProjectScope
from hoglet.access.rate_limit import MemoryWindows, RateLimiter, RateSettings, SharedWindows
from hoglet.access.tables import PersonalKeyRow, SecretKeyRow
from hoglet.access.tenant_tokens.codec import TENANT_PREFIX
from hoglet.access.tenant_tokens.signing_keys import Encryption, SigningKeys
from hoglet.kit.cache import TTLCache
from hoglet.kit.clock import Clock
from hoglet.kit.errors import (
    Forbidden,
    NotFound,
    Unauthenticated,
    Unreadable,
    UnsupportedMediaType,
)
from hoglet.store.database import Database
from hoglet.web.request_body import BODY_KEY, read_body, read_json

logger = structlog.get_logger(__name__)

CACHE_SECONDS = 3.0  # a key revoked by another process stops working within this time
USE_IS_NOTED_EVERY = timedelta(hours=1)
CURRENT = "@current"
_BEARER = "Bearer "
_ID_DIGITS = 9  # project ids stay below 2**31, the largest integer of a PostgreSQL column


class AccessService:
    """Look-ups of keys and projects, rate limits and the activity log.

    Args:
        database: users, keys and projects.
        clock: source of ``last_used_at``.
        rates: limits; none by default.
        cache_seconds: how long look-ups are cached.
        box: encrypts the signing keys of tenant tokens; without it, these are disabled.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        rates: RateSettings | None = None,
        cache_seconds: float = CACHE_SECONDS,
        box: Encryption | None = None,
    ) -> None:
        self.database = database
        self.clock = clock
        windows = MemoryWindows() if database.is_sqlite else SharedWindows(database)
        self.rates = RateLimiter(rates or RateSettings(), windows)
        self.activity = ActivityLog(clock)
        self.providers = AccessHooks()
        self.signing_keys: SigningKeys | None = None
        if box is not None:
            self.signing_keys = SigningKeys(
                database, box, clock, self.activity, cache_seconds=cache_seconds
            )
        self._principals = TTLCache(self._load_principal, seconds=cache_seconds)
        self._projects = TTLCache(self._load_project, seconds=cache_seconds)
        self._tokens = TTLCache(self._load_token, seconds=cache_seconds)
        self.times_cleared = 0

    async def identify(self, key: str) -> Principal | None:
        """The principal of a personal (``phx_…``) or secret (``phs_…``) key or a tenant token.

        Raises:
            Unauthenticated: a tenant token (``pht_…``) that is not valid.
        """
        if key.startswith(TENANT_PREFIX):
            return await self.signing_keys.identify(key) if self.signing_keys else None
        return await self._principals.get(key)

    async def project(self, project_id: int) -> Project | None:
        """The project with this id."""
        return await self._projects.get(project_id)

    def cached_until(self, key: str, project_id: int) -> float:
        """How long the look-ups of a key and a project are cached, on the monotonic clock.

        0 for tenant tokens, which are verified each time. Compare ``times_cleared``, too.
        """
        return min(self._principals.expires_at(key), self._projects.expires_at(project_id))

    async def project_by_token(self, token: str) -> Project | None:
        """The project with this capture token (``phc_…``)."""
        return None if "\x00" in token else await self._tokens.get(token)

    async def current_project(self, principal: Principal) -> Project | None:
        """The project that ``@current`` means."""
        if principal.project_id is not None:
            return await self.project(principal.project_id)
        current = None if principal.user is None else principal.user.current_project_id
        if current is not None:
            return await self.project(current)
        async with self.database.read() as session:
            return await repository.first_project(session, principal.organizations)

    def forget(self) -> None:
        """Clear the cache; call after changes to keys, users or projects."""
        self.times_cleared += 1
        self._principals.forget()
        self._projects.forget()
        self._tokens.forget()
        if self.signing_keys is not None:
            self.signing_keys.forget()
        for forget in self.providers.forget:
            forget()

    async def _load_principal(self, key: str) -> Principal | None:
        find = repository.find_secret if key.startswith(SECRET_PREFIX) else repository.find_personal
        async with self.database.read() as session:
            row = await find(session, repository.hash_key(key))
            if row is None:
                return None
            principal = await repository.principal_of(session, row)
        await self._note_use(row)
        return principal

    async def _load_project(self, project_id: int) -> Project | None:
        async with self.database.read() as session:
            return await repository.find_project(session, project_id)

    async def _load_token(self, token: str) -> Project | None:
        async with self.database.read() as session:
            return await repository.find_project_by_token(session, token)

    async def _note_use(self, row: PersonalKeyRow | SecretKeyRow) -> None:
        now = self.clock.now()
        before = now - USE_IS_NOTED_EVERY
        if row.last_used_at is not None and row.last_used_at >= before:
            return
        try:
            async with self.database.write() as session:
                await repository.touch(session, type(row), row.id, now, before)
        except OperationalError:  # reads must work while the storage is full or read-only
            logger.warning(
                "last_used_at of a key was not updated", action="key_use_not_noted", key=row.id
            )


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
    project = await find_project(access, principal, project_id)
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
    project = await find_project(access, principal, project_id)
    if project is None:
        raise NotFound
    if project.id != principal.project_id:
        kind = "secret key" if principal.kind == "secret" else "tenant token"
        raise Forbidden(f"This {kind} does not belong to project {project.id}.")
    return project


async def find_project(
    access: AccessService, principal: Principal, project_id: str
) -> Project | None:
    """The project that the segment of a path means, digits or ``@current``, for this caller."""
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


def bearer_key(header: str) -> str | None:
    """The key in an ``Authorization`` header.

    Example:
        >>> bearer_key("Bearer phx_1"), bearer_key("Basic YTpi")
        ('phx_1', None)
    """
    return header[len(_BEARER) :].strip() or None if header.startswith(_BEARER) else None


async def _find_key(request: Request) -> tuple[str | None, str]:
    in_header = bearer_key(request.headers.get("authorization", ""))
    if in_header:
        return in_header, "header"
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
