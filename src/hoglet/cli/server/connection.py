"""Which server, key and project a command uses: options, environment variables, profiles.

The options are the same on every command that calls a server, so :class:`ServerTyper` adds them;
a command gets its client from :func:`connect`. In order of precedence:

1. ``--url`` and ``--key``
2. ``--profile``
3. ``HOGLET_URL`` and ``HOGLET_API_KEY``
4. ``HOGLET_PROFILE``, else the profile of the last ``hoglet login``

A profile's key is only ever sent to the profile's own URL.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, override

import msgspec
import typer
from typer.core import TyperCommand

from hoglet.cli.error_handling import print_hint
from hoglet.cli.server.address import DEFAULT_URL, server_url
from hoglet.cli.server.api_client import ApiClient, ApiUnreachable, not_hoglet
from hoglet.cli.server.profiles import BadProfile, Profile, load_profiles

_PANEL = "Server"
_SCHEMES = ("http://", "https://")


class ServerConnection(msgspec.Struct, frozen=True):
    """A server's URL without a trailing slash, a key (may be empty) and a project."""

    url: str
    key: str
    project: str


class Given(msgspec.Struct, frozen=True):
    """The values of the four options; ``explicit`` names those of the command line."""

    url: str | None = None
    key: str | None = None
    project: str = "@current"
    profile: str | None = None
    explicit: frozenset[str] = frozenset()


_given: ContextVar[Given] = ContextVar("given", default=Given())  # noqa: B039 (frozen)


def connection_options(
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            "--host",
            envvar="HOGLET_URL",
            help=f"URL of the server; {DEFAULT_URL} without a profile.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", envvar="HOGLET_API_KEY", help="A personal API key.", rich_help_panel=_PANEL
        ),
    ] = None,
    project: Annotated[
        str,
        typer.Option(
            "--project",
            envvar="HOGLET_PROJECT",
            help="Project id; @current is the current project of the key's user.",
            rich_help_panel=_PANEL,
        ),
    ] = "@current",
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            envvar="HOGLET_PROFILE",
            help="Profile created by hoglet login.",
            rich_help_panel=_PANEL,
        ),
    ] = None,
) -> None:
    """Declare the options of commands that call a server."""


def _declared() -> list[Any]:
    declaring = typer.Typer(add_completion=False)
    declaring.command()(connection_options)
    return [option for option in typer.main.get_command(declaring).params if option.name != "help"]


_OPTIONS = _declared()
_NAMES = ("url", "key", "project", "profile")


class ServerCommand(TyperCommand):
    """A command with the connection's options, which :func:`connect` reads."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.params.extend(_OPTIONS)

    @override
    def invoke(self, ctx: Any) -> Any:
        explicit = {
            name
            for name in _NAMES
            if (source := ctx.get_parameter_source(name)) and source.name == "COMMANDLINE"
        }
        values = {name: ctx.params.pop(name) for name in _NAMES}
        given = Given(**values, explicit=frozenset(explicit))
        token = _given.set(given)
        try:
            with _foreign_answers():
                return super().invoke(ctx)
        finally:
            _given.reset(token)


class ServerTyper(typer.Typer):
    """A group whose commands call a server."""

    @override
    def command(self, name: str | None = None, **options: Any) -> Any:
        options.setdefault("cls", ServerCommand)
        return super().command(name, **options)


@contextmanager
def _foreign_answers() -> Generator[None]:
    """Report that the server is not hoglet instead of failing with a traceback."""
    try:
        yield
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        if not _is_foreign():
            raise  # a bug in hoglet
        raise not_hoglet(current_connection().url) from error


def _is_foreign() -> bool:
    connection = current_connection()
    try:
        return not ApiClient(connection.url, connection.key, connection.project).is_hoglet()
    except ApiUnreachable:
        return False


def connect() -> ApiClient:
    """A client for the running command.

    Raises:
        ApiUnreachable: there is no key.
        BadProfile, BadUrl: an option or variable cannot be used.
    """
    connection = current_connection()
    if not connection.key:
        raise ApiUnreachable(
            f"There is no key for {connection.url}. Run hoglet login --url {connection.url}, or "
            "give an API key with --key or HOGLET_API_KEY."
        )
    return ApiClient(connection.url, connection.key, connection.project)


def current_connection() -> ServerConnection:
    """The server, key and project of the running command; the key may be empty."""
    return resolve(_given.get())


def resolve(given: Given) -> ServerConnection:
    """Apply the order of precedence of this module.

    Raises:
        BadProfile: the named profile does not exist, or ``--url`` and ``--profile`` name
            different servers.
        BadUrl: the URL is not one of a web server.
    """
    profile = _profile(given)
    is_named = "profile" in given.explicit and profile is not None
    if is_named and profile is not None and "url" in given.explicit:
        _check_same_server(given, profile)
    variable_url, variable_key = given.url, given.key
    if is_named:  # stronger than the variables
        variable_url = given.url if "url" in given.explicit else None
        variable_key = given.key if "key" in given.explicit else None
    own_url = server_url(profile.url) if profile else None
    text = variable_url or own_url or _old_variable() or DEFAULT_URL
    url = server_url(text if variable_url != "" else "")
    key = variable_key
    if key is None and profile is not None and own_url == url:
        key = profile.key
    return ServerConnection(url, key or "", given.project)


def _profile(given: Given) -> Profile | None:
    profiles = load_profiles()
    name = given.profile or profiles.current
    if given.profile is not None:
        return profiles.get(given.profile)
    return profiles.by_name.get(name) if name else None


def _check_same_server(given: Given, profile: Profile) -> None:
    if server_url(given.url or "") != server_url(profile.url):
        raise BadProfile(
            f"--url is {given.url}, but the profile {given.profile} is for {profile.url}: use "
            "only one of them."
        )


def _old_variable() -> str | None:
    """``HOGLET_HOST`` used to hold the server's URL, too; a listening address is never a URL."""
    old = os.environ.get("HOGLET_HOST", "")
    if not old.startswith(_SCHEMES):
        return None
    print_hint("HOGLET_HOST is the address that hoglet serve listens on; set HOGLET_URL instead.")
    return old
