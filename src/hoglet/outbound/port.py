"""Outbound requests and their results. Failures are values, because programs see them."""

import msgspec

from hoglet.outbound.aws_sigv4 import AwsSigV4

TIMEOUT_S = 3.0
CONNECT_TIMEOUT_S = 3.0
RESPONSE_BYTES = 10 * 1024 * 1024  # a program holds the parsed response in 64 MiB of memory


class OutboundRequest(msgspec.Struct, frozen=True):
    """One request with its headers, e.g. ``{"Content-Type": "application/json"}``.

    With ``aws_sigv4``, the request is signed when it is sent.
    """

    url: str
    method: str = "GET"
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    body: bytes | None = None
    aws_sigv4: AwsSigV4 | None = None


class OutboundResponse(msgspec.Struct, frozen=True):
    """A response with any status; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class RequestRefused(msgspec.Struct, frozen=True):
    """The URL, the target or the response violates a rule; a retry would fail again.

    ``name`` is ``InvalidUrl``, ``InvalidRequest``, ``HostNotAllowed`` or ``ResponseTooLarge``.
    """

    name: str
    message: str

    @property
    def text(self) -> str:
        """The error text for programs, e.g. ``HostNotAllowed: …``."""
        return f"{self.name}: {self.message}"


class NetworkFailure(msgspec.Struct, frozen=True):
    """The network failed; a retry may succeed.

    ``name`` is ``TimeoutError``, ``ConnectionError``, ``ResolutionError``, ``TlsError`` or
    ``ProtocolError``.
    """

    name: str
    message: str

    @property
    def text(self) -> str:
        """The error text for programs, e.g. ``TimeoutError: …``."""
        return f"{self.name}: {self.message}"


type OutboundResult = OutboundResponse | RequestRefused | NetworkFailure


def host_not_allowed(host: str) -> RequestRefused:
    """The result for a target that is not public."""
    return RequestRefused(
        "HostNotAllowed",
        f"the host {host} is not allowed: it is not on the public internet. "
        "HOGLET_ALLOW_HOSTS lists exceptions.",
    )
