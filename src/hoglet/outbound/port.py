"""What goes out and what comes back; failures are values, because programs see them."""

from dataclasses import dataclass, field

from hoglet.outbound.aws_sigv4 import AwsSigV4

TIMEOUT_S = 3.0
CONNECT_TIMEOUT_S = 3.0
RESPONSE_BYTES = 10 * 1024 * 1024  # a program holds the answer in 64 MiB of memory, parsed


@dataclass(frozen=True, slots=True)
class OutboundRequest:
    """One request; ``headers`` as sent, e.g. ``{"Content-Type": "application/json"}``.

    With ``aws_sigv4`` it is signed as it leaves.
    """

    url: str
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    aws_sigv4: AwsSigV4 | None = None


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """The answer, whatever its status; header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """Not sent, or not worth sending again: the URL, the target or the answer breaks a rule.

    ``name`` is ``InvalidUrl``, ``InvalidRequest``, ``HostNotAllowed`` or ``ResponseTooLarge``.
    """

    name: str
    message: str

    @property
    def text(self) -> str:
        """What a program is given, e.g. ``HostNotAllowed: …``."""
        return f"{self.name}: {self.message}"


@dataclass(frozen=True, slots=True)
class NetworkFailure:
    """The network failed; another attempt may succeed.

    ``name`` is ``TimeoutError``, ``ConnectionError``, ``ResolutionError``, ``TlsError`` or
    ``ProtocolError``.
    """

    name: str
    message: str

    @property
    def text(self) -> str:
        """What a program is given, e.g. ``TimeoutError: …``."""
        return f"{self.name}: {self.message}"


type OutboundResult = OutboundResponse | RequestRefused | NetworkFailure
