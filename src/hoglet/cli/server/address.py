"""Parses URLs of servers."""

from urllib.parse import urlsplit

from hoglet.kit.errors import HogletError

DEFAULT_URL = "http://127.0.0.1:8000"


class BadUrl(HogletError):
    """The URL of the server is not valid."""

    code = "bad_setting"
    blame = "operator"


def server_url(text: str) -> str:
    """A server's base URL without a trailing slash.

    Args:
        text: a URL, or ``host`` or ``host:port``, which means plain HTTP; the port is then 8000
            unless given.

    Raises:
        BadUrl: it is not the URL of a web server.

    Example:
        >>> server_url("127.0.0.1:9000"), server_url("https://hoglet.example.com/")
        ('http://127.0.0.1:9000', 'https://hoglet.example.com')
    """
    has_scheme = "://" in text
    try:
        parts = urlsplit(text if has_scheme else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _unusable(text, str(error)) from None
    if parts.scheme not in ("http", "https"):
        raise _unusable(text, "it must start with http:// or https://")
    if not host or not text.isprintable() or " " in text:
        raise _unusable(text, "it has no host")
    if not host.isascii():
        raise _unusable(text, f"write its host as {_in_ascii(host)}")
    if not text.isascii():
        raise _unusable(text, "its path must be percent-encoded")
    if parts.username is not None or parts.query or parts.fragment:
        raise _unusable(text, "only scheme, host, port and path are allowed; use --key for a key")
    if port is None and not has_scheme:
        return f"http://{parts.netloc}:8000{parts.path}".rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


def _in_ascii(host: str) -> str:
    """The form of an international name that requests carry."""
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return "letters, digits and hyphens"


def _unusable(text: str, reason: str) -> BadUrl:
    return BadUrl(f'The URL of the server (--url or HOGLET_URL) is "{text}": {reason}.')
