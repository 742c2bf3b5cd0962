"""Shell completion of names from the server; silent on errors."""

import contextlib
import os
from collections.abc import Callable

from hoglet.cli.server.api_client import ApiClient
from hoglet.cli.server.connection import Given, resolve

_SECONDS = 2.0  # a shell that hangs on Tab is worse than no completion

type Pairs = list[tuple[str, str]]


def complete(names: Callable[[ApiClient], Pairs]) -> Pairs:
    """Names with help texts, read by ``names`` from the configured server."""
    given = Given(
        url=os.environ.get("HOGLET_URL") or None,
        key=os.environ.get("HOGLET_API_KEY") or None,
        project=os.environ.get("HOGLET_PROJECT") or "@current",
        profile=os.environ.get("HOGLET_PROFILE") or None,
    )
    with contextlib.suppress(Exception):
        connection = resolve(given)
        return names(
            ApiClient(connection.url, connection.key, connection.project, timeout_s=_SECONDS)
        )
    return []
