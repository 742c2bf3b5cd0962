"""The option ``--url`` of commands that call a server, and the check of what it is given."""

import os
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.text import Text

from hoglet.kit.errors import HogletError

DEFAULT_URL = "http://127.0.0.1:8000"
_SCHEMES = ("http://", "https://")


class BadUrl(HogletError):
    """The URL of the server cannot be used."""

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
        raise _unusable(text, "it has to start with http:// or https://")
    if not host or not text.isprintable() or " " in text:
        raise _unusable(text, "it names no host")
    if parts.username is not None or parts.query or parts.fragment:
        raise _unusable(text, "only scheme, host, port and path are allowed; a key goes to --key")
    if port is None and not has_scheme:
        return f"http://{parts.netloc}:8000{parts.path}".rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


def warn_of_old_spelling(words: list[str]) -> None:
    """Print a hint when a command that calls a server is given ``--host``.

    Args:
        words: the command line after ``hoglet``.
    """
    has_host = any(word == "--host" or word.startswith("--host=") for word in words)
    if has_host and words[0] != "serve":
        _hint("--host is now --url here; the old name still works.")


def _from_environment(context: typer.Context, value: str) -> str:
    """``HOGLET_HOST`` once was the URL of the server, too; a URL is never one to listen on."""
    old = os.environ.get("HOGLET_HOST", "")
    source = context.get_parameter_source("url")
    is_default = source is not None and source.name == "DEFAULT"
    if not (is_default and old.startswith(_SCHEMES)):
        return value
    _hint("HOGLET_HOST is the address that hoglet serve listens on; set HOGLET_URL instead.")
    return old


Url = Annotated[
    str,
    typer.Option(
        "--url",
        "--host",
        envvar="HOGLET_URL",
        help="URL of the server.",
        callback=_from_environment,
    ),
]


def _unusable(text: str, reason: str) -> BadUrl:
    return BadUrl(f'The URL of the server (--url or HOGLET_URL) is "{text}": {reason}.')


def _hint(text: str) -> None:
    Console(stderr=True).print(Text(text, style="yellow"), soft_wrap=True)
