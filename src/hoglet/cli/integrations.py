"""``hoglet integrations``: stored credentials of a project, over the API."""

import json
import sys
from typing import Annotated

import typer

from hoglet.cli.output import AsJson, print_json, print_table
from hoglet.cli.server.connection import ServerTyper, connect
from hoglet.kit.errors import HogletError
from hoglet.kit.json import JsonObject

integrations_app = ServerTyper(help="Stored credentials of functions.", no_args_is_help=True)

_PATH = "/integrations/"


class BadConfig(HogletError):
    """The config given on the command line is not a JSON object."""

    code = "bad_config"
    blame = "operator"


@integrations_app.command("list")
def list_integrations(
    kind: Annotated[str, typer.Option(help="Only those of this kind, e.g. slack.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the integrations of a project."""
    filters = {"kind": kind} if kind else {}
    integrations = list(connect().every(_PATH, **filters))
    if as_json:
        print_json(integrations)
        return
    rows = [
        (
            str(integration["id"]),
            integration["kind"],
            integration["display_name"],
            "any" if integration["hosts"] is None else ",".join(integration["hosts"]),
            integration["errors"],
        )
        for integration in integrations
    ]
    print_table(("id", "kind", "name", "hosts", "errors"), rows)


@integrations_app.command("create")
def create(
    kind: Annotated[str, typer.Argument(help="The service, e.g. slack.")],
    name: Annotated[str, typer.Option(help="Display name.")] = "",
    config: Annotated[str, typer.Option(help="Values visible to programs, a JSON object.")] = "{}",
    to: Annotated[
        str, typer.Option(help="Comma-separated hosts that may receive the token; default any.")
    ] = "",
) -> None:
    """Store a credential; prompts for its token, or reads it from standard input."""
    body: JsonObject = {"kind": kind, "config": _object(config)}
    if name:
        body["display_name"] = name
    if to:
        body["hosts"] = [host.strip() for host in to.split(",") if host.strip()]
    client = connect()
    integration = client.call("POST", _PATH, {**body, "access_token": _token()})
    print(f"{integration['display_name']} is integration {integration['id']}.")


@integrations_app.command("delete")
def delete(
    integration: Annotated[int, typer.Argument(help="Id of the integration.")],
) -> None:
    """Delete a credential permanently; functions that use it fail from then on."""
    connect().call("DELETE", f"{_PATH}{integration}/")
    print(f"Integration {integration} is deleted.")


def _token() -> str:
    """Never an argument: those are in the shell history and the process list."""
    if sys.stdin.isatty():
        return typer.prompt("Token", hide_input=True)
    return sys.stdin.read().strip()


def _object(text: str) -> JsonObject:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise BadConfig("--config must be a JSON object.")
    return read
