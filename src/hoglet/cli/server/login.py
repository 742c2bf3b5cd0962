"""``hoglet login``, ``hoglet logout`` and ``hoglet profiles``: saved servers and keys."""

import sys
from typing import Annotated

import typer

from hoglet.cli.error_handling import BadUsage
from hoglet.cli.output import AsJson, print_json, print_table
from hoglet.cli.server.address import DEFAULT_URL, server_url
from hoglet.cli.server.api_client import ApiClient, not_hoglet
from hoglet.cli.server.profiles import FIRST, BadProfile, Profile, load_profiles, save_profiles

profiles_app = typer.Typer(help="Servers and keys saved by hoglet login.", no_args_is_help=True)

ProfileName = Annotated[str, typer.Argument(help="The profile; see list.")]


def login(
    url: Annotated[
        str, typer.Option("--url", envvar="HOGLET_URL", help="URL of the server.")
    ] = DEFAULT_URL,
    profile: Annotated[
        str, typer.Option("--profile", envvar="HOGLET_PROFILE", help="Name of the profile.")
    ] = FIRST,
    key: Annotated[
        str | None,
        typer.Option("--key", envvar="HOGLET_API_KEY", help="The key; prompted for if omitted."),
    ] = None,
) -> None:
    """Verify and save a personal API key; later commands use it without options."""
    address = server_url(url)
    if not profile.strip():
        raise BadUsage("--profile is empty: give the profile a name.")
    value = (key if key is not None else _ask()).strip()
    if not value:
        raise BadUsage("No key was given. Create one in the console, or with hoglet admin keys.")
    identity = ApiClient(address, value).site.call("GET", "/personal_api_keys/@current")
    if not isinstance(identity, dict) or not isinstance(label := identity.get("label"), str):
        raise not_hoglet(address)
    profiles = load_profiles()
    profiles.by_name[profile] = Profile(address, value)
    profiles.current = profile
    path = save_profiles(profiles)
    print(f"Logged in to {address} with the key {label}; profile {profile} in {path}.")


def logout(
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="Name of the profile; defaults to the current one."),
    ] = None,
) -> None:
    """Remove a profile and its key from this machine; the key itself stays valid."""
    profiles = load_profiles()
    name = profiles.current if profile is None else profile
    if name is None:
        raise BadProfile("There is no profile to remove.")
    profiles.get(name)
    del profiles.by_name[name]
    if profiles.current == name:
        profiles.current = next(iter(sorted(profiles.by_name)), None)
    save_profiles(profiles)
    print(f"Removed the profile {name}.")


@profiles_app.command("list")
def list_profiles(as_json: AsJson = False) -> None:
    """List the profiles, without their keys."""
    profiles = load_profiles()
    listing = [
        {"name": name, "url": each.url, "current": name == profiles.current}
        for name, each in sorted(profiles.by_name.items())
    ]
    if as_json:
        print_json(listing)
        return
    rows = [
        (str(each["name"]), str(each["url"]), "yes" * bool(each["current"])) for each in listing
    ]
    print_table(("name", "url", "current"), rows)


@profiles_app.command("use")
def use(name: ProfileName) -> None:
    """Select the profile that commands use."""
    profiles = load_profiles()
    profiles.get(name)
    profiles.current = name
    save_profiles(profiles)
    print(f"Commands use the profile {name}.")


def _ask() -> str:
    """Prompt for the key, because arguments end up in the shell's history."""
    if sys.stdin.isatty():
        return typer.prompt("Personal API key", hide_input=True)
    return sys.stdin.read()
