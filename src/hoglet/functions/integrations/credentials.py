"""Placeholders of integration tokens, and their replacement in outbound requests.

Programs, logs and stored runs only see placeholders. They are random, so nobody can obtain a token
by guessing. They need no escaping anywhere, so they are found in whatever text a program puts them.
Tokens are read and decrypted per request, so changes apply at once and no process caches tokens.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from msgspec.structs import replace

from hoglet.functions.integrations import repository
from hoglet.functions.secrets.box import SecretBox, SecretsUnreadable
from hoglet.functions.tables import IntegrationRow
from hoglet.outbound.client import Outbound
from hoglet.outbound.port import OutboundRequest, OutboundResponse, OutboundResult, RequestRefused
from hoglet.outbound.targets import InvalidUrl, normalize_host, parse_url
from hoglet.store.database import Database

_PLACEHOLDER = re.compile(r"hoglet-integration-[0-9a-f]{32}")
_BASIC = re.compile(r"(?i)basic\s+([A-Za-z0-9+/=_-]+)\s*")

type Tokens = Mapping[str, str]
"""Placeholder to token."""


def make_placeholder(nonce: str) -> str:
    """The placeholder of an integration; ``nonce`` is 32 random hexadecimal digits."""
    return f"hoglet-integration-{nonce}"


def placeholders_in(request: OutboundRequest) -> set[str]:
    """Placeholders where tokens are allowed: in the query, header values and the body.

    The rest of the URL is not searched, because receivers and proxies log it.
    """
    texts = [_query(request.url), (request.body or b"").decode("utf-8", "replace")]
    for value in request.headers.values():
        texts += [value, _basic(value) or ""]
    return {placeholder for text in texts for placeholder in _PLACEHOLDER.findall(text)}


def fill(request: OutboundRequest, tokens: Tokens) -> OutboundRequest:
    """The request with placeholders replaced by tokens, escaped for their context."""
    address, mark, query = request.url.partition("?")
    quoted = {name: quote(token, safe="") for name, token in tokens.items()}
    kind = next((v for k, v in request.headers.items() if k.lower() == "content-type"), "")
    in_body = tokens
    if "json" in kind.lower():
        in_body = {name: json.dumps(token)[1:-1] for name, token in tokens.items()}
    elif "urlencoded" in kind.lower():
        in_body = quoted
    body = request.body
    return replace(
        request,
        url=address + mark + _replaced(query, quoted),
        headers={name: _in_header(value, tokens) for name, value in request.headers.items()},
        body=None if body is None else _replaced_bytes(body, in_body),
    )


def hide(result: OutboundResult, tokens: Tokens) -> OutboundResult:
    """The response with tokens replaced by placeholders.

    Receivers may echo requests, and responses are logged.
    """
    visible = {
        form: name
        for name, token in tokens.items()
        for form in (token, json.dumps(token)[1:-1], quote(token, safe=""))
    }
    if isinstance(result, OutboundResponse):
        return replace(result, body=_replaced_bytes(result.body, visible))
    return replace(result, message=_replaced(result.message, visible))


def _query(url: str) -> str:
    return url.partition("?")[2]


def _in_header(value: str, tokens: Tokens) -> str:
    inside = _basic(value)
    if inside is None or not _PLACEHOLDER.search(inside):
        return _replaced(value, tokens)
    return f"Basic {base64.b64encode(_replaced(inside, tokens).encode()).decode()}"


def _basic(value: str) -> str | None:
    """The decoded content of a ``Basic`` authorization, ``user:password``."""
    match = _BASIC.fullmatch(value)
    if match is None:
        return None
    try:
        return base64.b64decode(match[1] + "==").decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _replaced(text: str, pairs: Tokens) -> str:
    for old, new in pairs.items():
        text = text.replace(old, new)
    return text


def _replaced_bytes(body: bytes, pairs: Tokens) -> bytes:
    for old, new in pairs.items():
        body = body.replace(old.encode(), new.encode())
    return body


_REFUSAL = "CredentialRefused"


class Credentials:
    """Sends requests with the tokens of a project's integrations.

    Args:
        outbound: the HTTP client, behind the guard.
        database: stores integrations.
        box: decrypts tokens.
    """

    def __init__(self, outbound: Outbound, database: Database, box: SecretBox) -> None:
        self._outbound = outbound
        self._database = database
        self._box = box

    async def fetch(self, project_id: int, request: OutboundRequest) -> OutboundResult:
        """Make one attempt for a function of the project.

        Returns:
            Like ``Outbound.fetch``; also ``RequestRefused`` if an integration was deleted, cannot
            be decrypted, or is not allowed for this host. Tokens in the response become
            placeholders.
        """
        placeholders = placeholders_in(request)
        if not placeholders:
            return await self._outbound.fetch(request)
        async with self._database.read() as session:
            rows = await repository.by_placeholders(session, project_id, placeholders)
        tokens = self._tokens(rows, placeholders, request)
        if isinstance(tokens, RequestRefused):
            return tokens
        return hide(await self._outbound.fetch(fill(request, tokens)), tokens)

    def _tokens(
        self, rows: Sequence[IntegrationRow], placeholders: set[str], request: OutboundRequest
    ) -> Tokens | RequestRefused:
        if len(rows) < len(placeholders):
            return RequestRefused(_REFUSAL, "the integration of this token was deleted")
        tokens: dict[str, str] = {}
        for row in rows:
            if not may_go_to(request.url, row.hosts):
                return RequestRefused(
                    _REFUSAL, f"the token of integration {row.id} is not allowed for this host"
                )
            try:
                tokens[row.placeholder] = self._box.open(row.secrets)["access_token"]
            except SecretsUnreadable:
                return RequestRefused(
                    _REFUSAL, f"the token of integration {row.id} was encrypted with a lost key"
                )
        return tokens


def may_go_to(url: str, hosts: list[str] | None) -> bool:
    """Whether a URL's host is among ``hosts``; None allows all.

    Example:
        >>> may_go_to("https://api.slack.com/x", ["*.slack.com"]), may_go_to("https://a", [])
        (True, False)
    """
    if hosts is None:
        return True
    try:
        target = parse_url(url)
    except InvalidUrl:
        return False  # the client rejects it too
    host = normalize_host(target.host)
    return any(_fits(normalize_host(entry), host, target.port) for entry in hosts)


def _fits(entry: str, host: str, port: int) -> bool:
    if entry.startswith("*."):
        return host.endswith(entry[1:])
    return entry in (host, f"{host}:{port}")
