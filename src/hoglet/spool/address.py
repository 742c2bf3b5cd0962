"""The address of a NATS spool: ``nats://user:password@one:4222,nats://two:4222/hoglet?replicas=3``.

The path of the first server names the stream; the query has options: ``replicas``, and
``keep_seconds``, for which stored entries are kept.
"""

import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

import msgspec

DEFAULT_STREAM = "hoglet"
_KEEP_SECONDS = 60
_STREAM = re.compile(r"[A-Za-z0-9_-]{1,64}")
_EXAMPLE = "nats://user:password@host:4222/hoglet"


class NatsAddress(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed address.

    Args:
        servers: URLs of any servers of the cluster, credentials included.
        stream: name of the stream, and the first part of its subjects.
        replicas: copies of each message: 1, 3 or 5.
        keep_seconds: for so long, entries are kept after they were stored.
    """

    servers: list[str]
    stream: str = DEFAULT_STREAM
    replicas: int = 1
    keep_seconds: int = _KEEP_SECONDS

    @property
    def public(self) -> str:
        """The servers without credentials, for messages."""
        return ",".join(_without_credentials(server) for server in self.servers)


def nats_address(text: str) -> NatsAddress:
    """Parse an address.

    Raises:
        ValueError: the text is not a valid address; the message completes a sentence.
    """
    parts = [_server(part.strip()) for part in text.split(",")]
    named = {part.path.strip("/") for part in parts} - {""}
    stream = named.pop() if len(named) == 1 else DEFAULT_STREAM
    if named or not _STREAM.fullmatch(stream):
        raise ValueError("its path is one stream, of ASCII letters, digits, - and _")
    replicas, keep_seconds = _options("&".join(part.query for part in parts if part.query))
    return NatsAddress(
        servers=[f"{part.scheme}://{part.netloc}" for part in parts],
        stream=stream,
        replicas=replicas,
        keep_seconds=keep_seconds,
    )


def _server(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
        parts = urlsplit("")
    if not is_complete or parts.scheme not in {"nats", "tls"} or parts.fragment:
        raise ValueError(f"each server is a URL such as {_EXAMPLE}")
    return parts


def _options(query: str) -> tuple[int, int]:
    """The replicas, and the seconds for which stored entries are kept."""
    given = dict(parse_qsl(query, keep_blank_values=True))
    replicas = given.pop("replicas", "1")
    seconds = given.pop("keep_seconds", str(_KEEP_SECONDS))
    if given:
        raise ValueError(f"it has no option {min(given)}; there are replicas and keep_seconds")
    if replicas not in {"1", "3", "5"}:
        raise ValueError("replicas must be 1, 3 or 5")
    if not re.fullmatch(r"[0-9]{1,6}", seconds):
        raise ValueError("keep_seconds must be a number of seconds, at most 999999")
    return int(replicas), int(seconds)


def _without_credentials(server: str) -> str:
    scheme, _, rest = server.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
