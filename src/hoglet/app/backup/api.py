"""``POST /_backup``: streams a backup as a tar archive. Not part of the project API.

Requires the token in ``server.json``, i.e. read access to the data folder, or the personal key of a
staff user with the scope ``*`` and no restriction. ``secret.key`` is not part of the response; it
can only be read from the folder.

Source: docs/adr/0020-online-backup.md.
"""

import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from hoglet.access.auth import authenticate
from hoglet.access.principals import ANY_SCOPE, Principal
from hoglet.app.backup.archive import tar_stream
from hoglet.app.backup.server_file import TOKEN_HEADER
from hoglet.app.backup.service import BackupService
from hoglet.kit.errors import Forbidden

PATH = "/_backup"


def backup_route(service: BackupService, local_token: str) -> Route:
    """The route; ``local_token`` is the token in ``server.json``."""

    async def backup(request: Request) -> Response:
        given = request.headers.get(TOKEN_HEADER, "")
        if not secrets.compare_digest(given.encode(), local_token.encode()):
            _check_staff(await authenticate(request))
        stack = AsyncExitStack()
        folder = await stack.enter_async_context(service.backup())

        async def content() -> AsyncGenerator[bytes]:
            async with stack:
                async for chunk in tar_stream(folder):
                    yield chunk

        return StreamingResponse(content(), media_type="application/x-tar")

    return Route(PATH, backup, methods=["POST"])


def _check_staff(principal: Principal) -> None:
    is_restricted = principal.scoped_teams or principal.scoped_organizations
    is_staff = principal.user is not None and principal.user.is_staff
    if not is_staff or is_restricted or ANY_SCOPE not in principal.scopes:
        raise Forbidden(
            "A backup contains all projects: it requires the personal API key of a "
            "staff user with the scope * and no restriction to projects or "
            "organizations."
        )
