"""Parses request URLs according to the WHATWG URL standard, like browsers and Node.

The client and all checks of a URL (the guard, the hosts of an integration, limits per host) must
agree on its host, so all of them use :func:`parse_url`. As in the standard, ``%2F``, ``%7E``,
``%c3`` and ``%zz`` are sent as written.

Source: docs/spec/hog-functions.md#133-functions; https://url.spec.whatwg.org.
"""

import base64
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

import ada_url

from hoglet.kit.json import replace_surrogates

URL_CHARACTERS = 16_384
_PORTS = {"http": 80, "https": 443}


class InvalidUrl(ValueError):
    """The text is not an http or https URL."""


class Target(NamedTuple):
    """The target of a request.

    Attributes:
        scheme: ``http`` or ``https``.
        host: lower-case ASCII; an IPv6 address has no brackets.
        port: the port; the scheme's default if the URL has none.
        origin_form: path and query as sent, ``/a%2Fb?c=d``.
        userinfo: ``user:password``, decoded; empty if there is none.
    """

    scheme: str
    host: str
    port: int
    origin_form: str
    userinfo: bytes = b""

    @property
    def authority(self) -> str:
        """Host and port, as in ``Host``: ``example.com``, ``[::1]:8080``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def basic_authorization(self) -> str | None:
        """The ``Authorization`` header for the user and password in the URL."""
        if not self.userinfo:
            return None
        return f"Basic {base64.b64encode(self.userinfo).decode()}"


@lru_cache(512)  # most requests go to the same few URLs, each parsed twice
def parse_url(text: str) -> Target:
    """Parse the URL of a request.

    Raises:
        InvalidUrl: it is malformed, too long, or not http or https.

    Example:
        >>> parse_url("HTTP://Example.COM:80/a%2Fb/../c?x=%7E#top")
        Target(scheme='http', host='example.com', port=80, origin_form='/c?x=%7E', userinfo=b'')
    """
    if len(text) > URL_CHARACTERS:
        raise InvalidUrl(f"the URL is longer than {URL_CHARACTERS} characters")
    try:
        url = ada_url.URL(replace_surrogates(text))
    except ValueError:
        raise InvalidUrl("the URL is malformed; it must be http://… or https://…") from None
    scheme = url.protocol.rstrip(":")
    if scheme not in _PORTS or not url.hostname:
        raise InvalidUrl("only http:// and https:// URLs are supported")
    return Target(
        scheme=scheme,
        host=url.hostname.strip("[]"),
        port=int(url.port or _PORTS[scheme]),
        origin_form=url.pathname + _query(url),
        userinfo=_userinfo(url.username, url.password),
    )


def _query(url: ada_url.URL) -> str:
    """The query including ``?``, even if empty: signatures cover it."""
    before_fragment = url.href.partition("#")[0]
    return url.search or ("?" if before_fragment.endswith("?") else "")


def _userinfo(username: str, password: str) -> bytes:
    if not username and not password:
        return b""
    return unquote_to_bytes(username) + b":" + unquote_to_bytes(password)
