"""The client's address behind a trusted reverse proxy.

Source: docs/spec/hog-functions.md#137-source_webhook and docs/spec/hog-functions.md#14-capture.
"""

import ipaddress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send


class TrustedProxy:
    """ASGI middleware: the client is the first address in ``X-Forwarded-For``, if it is valid.

    Any client can send the header, so use it only behind a proxy that sets it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http":
            forwarded = Headers(scope=scope).get("x-forwarded-for", "")
            address = _address(forwarded.partition(",")[0])
            if address is not None:
                scope["client"] = (address, 0)
        await self._app(scope, receive, send)


def _address(text: str) -> str | None:
    """Strip the port from an address: ``203.0.113.7:4711``, ``[2001:db8::1]:4711``."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
