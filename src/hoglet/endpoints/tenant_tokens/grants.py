"""What a tenant token allows: checked when it is created, and enforced on every run."""

from hashlib import blake2b
from typing import Any

import orjson
from msgspec.structs import replace

from hoglet.access.principals import ProjectScope, TenantGrant
from hoglet.access.tenant_tokens.codec import grant_problem
from hoglet.endpoints.container import EndpointServices
from hoglet.endpoints.run.request import known_variables
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.endpoints.tenant_tokens.schemas import TenantTokenBody
from hoglet.kit.clock import new_id
from hoglet.kit.errors import Forbidden, Invalid, NotFound
from hoglet.kit.suggestions import near

_MAX_ID_CHARACTERS = 150  # of a client_query_id; longer ones are stored by their digest
_QUICK = frozenset({"blocking", "force_blocking", "direct", "force_cache"})


async def read_grant(
    services: EndpointServices, scope: ProjectScope, body: TenantTokenBody
) -> TenantGrant:
    """The grant of a token to create.

    Every endpoint must have every variable; runs of one without it would be unrestricted.

    Raises:
        Invalid: an unknown endpoint, a variable that an endpoint does not have, a wrong value.
    """
    problem = grant_problem(body.endpoints, body.variables)
    if problem is not None:
        raise Invalid(problem[1], attr=problem[0])
    for index, name in enumerate(body.endpoints):
        target = await _find(services, scope, name, index)
        known = known_variables(target)
        for variable in body.variables:
            if variable not in known:
                hint = near(variable, known)
                detail = f'The endpoint {name} has no variable "{variable}".{hint}'
                raise Invalid(detail, attr=f"variables__{variable}")
    return TenantGrant.of(body.endpoints, body.variables)


def check_endpoint(grant: TenantGrant, name: str) -> None:
    """Check that a tenant may run the endpoint, before it is looked up.

    Raises:
        Forbidden: the token does not name it.
    """
    if name not in grant.endpoints:
        raise Forbidden("This tenant token does not name this endpoint.")


def restricted(grant: TenantGrant, request: RunRequest) -> RunRequest:
    """The run with the tenant's fixed variables.

    Raises:
        Forbidden: another value for a fixed variable, or an option that could bypass one.
    """
    for name, value in grant.variables.items():
        if name in request.variables and not _equal(request.variables[name], value):
            raise Forbidden(f"The tenant token fixes the variable {name} to another value.")
    if request.query_override is not None or request.debug:
        option = "debug" if request.debug else "query_override"
        raise Forbidden(f"{option} cannot be used with a tenant token.")
    for name in request.filters_override or {}:
        if name in grant.variables:
            raise Forbidden(f"The tenant token fixes {name}; filters_override cannot change it.")
    query_id = request.client_query_id
    if query_id is not None or request.refresh not in _QUICK:
        query_id = tenant_query_id(grant, query_id or str(new_id()))
    variables = {**request.variables, **grant.variables}
    return replace(request, variables=variables, client_query_id=query_id)


def tenant_query_id(grant: TenantGrant, query_id: str) -> str:
    """The id of a background run, with a prefix of the tenant to avoid collisions with others.

    Example:
        ``"page-1"`` becomes ``"tenant-0f3a…-page-1"``; an id with the prefix is unchanged.
    """
    prefix = f"tenant-{grant.fingerprint}-"
    if query_id.startswith(prefix):
        return query_id
    if len(query_id) > _MAX_ID_CHARACTERS:
        query_id = blake2b(query_id.encode(), digest_size=16).hexdigest()
    return prefix + query_id


def _equal(sent: Any, fixed: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return orjson.dumps(sent) == orjson.dumps(fixed)


async def _find(
    services: EndpointServices, scope: ProjectScope, name: str, index: int
) -> RunTarget:
    try:
        return await services.targets.current(scope.project.id, name)
    except NotFound:
        detail = f'There is no active endpoint "{name}".'
        attr = f"endpoints__{index}"
        raise Invalid(detail, code="does_not_exist", attr=attr) from None
