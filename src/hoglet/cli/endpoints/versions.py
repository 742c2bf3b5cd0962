"""``hoglet endpoints alias|compare|openapi|usage``."""

import json
from http import HTTPStatus
from typing import Annotated, cast
from urllib.parse import quote

import typer
from rich.text import Text

from hoglet.cli.error_handling import exit_with_two
from hoglet.cli.output import AsJson, print_json, print_table, wide_console
from hoglet.cli.server.api_client import ApiClient
from hoglet.cli.server.api_errors import ApiRefused
from hoglet.cli.server.completion import complete
from hoglet.cli.server.connection import ServerTyper, connect
from hoglet.cli.server.responses import UsageLine
from hoglet.kit.errors import HogletError

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _names(client: ApiClient) -> list[tuple[str, str]]:
    endpoints = client.every("/endpoints/")
    return [(each["name"], each["description"].partition("\n")[0]) for each in endpoints]


def complete_endpoints(incomplete: str) -> list[tuple[str, str]]:
    """Names with descriptions, for shell completion."""
    return [pair for pair in complete(_names) if pair[0].startswith(incomplete)]


Name = Annotated[str, typer.Argument(help="The endpoint.", autocompletion=complete_endpoints)]
Alias = Annotated[str, typer.Argument(help="A movable name for a version, e.g. prod.")]
Version = Annotated[str, typer.Argument(help="A version number or an alias.")]

alias_app = ServerTyper(no_args_is_help=True, help="Movable names for versions.")


class NoAlias(HogletError):
    """The endpoint has no alias of this name."""

    code = "no_alias"
    blame = "operator"


@alias_app.command("list")
def list_aliases(name: Name, as_json: AsJson = False) -> None:
    """List the aliases of an endpoint."""
    listing = connect().call("GET", f"/endpoints/{quote(name)}/aliases")
    if as_json:
        print_json(listing["results"])
        return
    rows = [
        [each["alias"], str(each["version"]), each["updated_at"]] for each in listing["results"]
    ]
    print_table(["alias", "version", "moved at"], rows)


@alias_app.command("set")
def set_alias(
    name: Name,
    alias: Alias,
    version: Version,
) -> None:
    """Create an alias, or move it to another version."""
    body = {"version": version_of(version)}
    record = connect().call("PUT", _alias_path(name, alias), body)
    print(f"{name}: {alias} is version {record['version']}")


@alias_app.command("delete")
def delete_alias(
    name: Name,
    alias: Alias,
) -> None:
    """Delete an alias; its version remains."""
    client = connect()
    try:
        client.call("DELETE", _alias_path(name, alias))
    except ApiRefused as refusal:
        if refusal.status != HTTPStatus.NOT_FOUND:
            raise
        client.call("GET", f"/endpoints/{quote(name)}/aliases")  # the endpoint may be missing
        raise NoAlias(
            f"There is no alias {alias}. See hoglet endpoints alias list {name}."
        ) from None
    print(f"{name}: {alias} is deleted")


def compare(name: Name, a: Version, b: Version, as_json: AsJson = False) -> None:
    """Compare two versions; exits with 1 if they differ, 2 for errors."""
    path = f"/endpoints/{quote(name)}/versions/{quote(a)}/diff/{quote(b)}"
    with exit_with_two():
        comparison = connect().call("GET", path)
    if as_json:
        print_json(comparison)
        raise typer.Exit(1 if comparison["query_diff"] or comparison["changes"] else 0)
    console = wide_console()
    for line in comparison["query_diff"].splitlines():
        console.print(Text(line, style=COLOURS.get(line[:1], "")), soft_wrap=True)
    for change in comparison["changes"]:
        before, after = (json.dumps(change[side], ensure_ascii=False) for side in ("a", "b"))
        console.print(Text(f"{change['field']}: {before} -> {after}"), soft_wrap=True)
    raise typer.Exit(1 if comparison["query_diff"] or comparison["changes"] else 0)


def openapi(
    name: Annotated[
        str | None, typer.Argument(help="The endpoint; all active ones by default.")
    ] = None,
    version: Annotated[str | None, typer.Option(help="A version number or an alias.")] = None,
) -> None:
    """Print the OpenAPI document of an endpoint, or of all endpoints of the project."""
    path = "/endpoints/openapi.json" if name is None else f"/endpoints/{quote(name)}/openapi.json"
    asked = f"?version={quote(version)}" if version and name else ""
    document = connect().call("GET", path + asked)
    print(json.dumps(document, indent=2, ensure_ascii=False))


def usage(
    name: Name,
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days, including today.")] = 7,
    version: Annotated[str | None, typer.Option(help="Only this version number or alias.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show runs, errors, durations and cache hits by day."""
    asked = f"?days={days}" + (f"&version={quote(version)}" if version else "")
    report = connect().call("GET", f"/endpoints/{quote(name)}/usage{asked}")
    if as_json:
        print_json(report)
        return
    lines = cast("list[UsageLine]", [*report["days"], {**report, "day": "all"}])
    print_table(["day", "runs", "errors", "p50 ms", "p95 ms", "from cache"], map(_usage, lines))


def version_of(text: str) -> int | str:
    """A number as the API takes it; anything else is an alias."""
    return int(text) if text.isascii() and text.isdecimal() else text


def _usage(line: UsageLine) -> list[str]:
    share = line["cache_hit_share"]
    durations = ["" if line[name] is None else str(line[name]) for name in ("p50_ms", "p95_ms")]
    cached = "" if share is None else f"{share:.0%}"
    return [line["day"], str(line["count"]), str(line["errors"]), *durations, cached]


def _alias_path(name: str, alias: str) -> str:
    return f"/endpoints/{quote(name)}/aliases/{quote(alias)}"
