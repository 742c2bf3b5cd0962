"""Placeholders for tokens in everything that programs, logs and stored runs can see. Pure.

They are random, so nobody can obtain a token by guessing. They need no escaping anywhere, so they
are found in whatever text a program puts them.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from hoglet.outbound.port import OutboundRequest, OutboundResponse, OutboundResult

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
    return {found for text in texts for found in _PLACEHOLDER.findall(text)}


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
