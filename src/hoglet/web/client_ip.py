"""The client's address: the peer of the connection, or the address reported by a trusted proxy.

Source: docs/spec/hog-functions.md#137-source_webhook and docs/spec/hog-functions.md#14-capture.
"""

import ipaddress

from starlette.requests import Request


def client_ip(request: Request) -> str:
    """The client's address, ``""`` if unknown.

    ``X-Forwarded-For`` is only used with the setting ``trust_proxy`` (in ``app.state``), because
    any client can send it. The first valid address in it is used.
    """
    peer = request.client.host if request.client else ""
    if not getattr(request.app.state, "trust_proxy", False):
        return peer
    return _address(request.headers.get("x-forwarded-for", "").partition(",")[0]) or peer


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
