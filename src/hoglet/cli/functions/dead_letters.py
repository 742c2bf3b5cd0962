"""``hoglet functions dead-letters``: inspects and redrives runs that failed permanently."""

from typing import Annotated
from urllib.parse import quote

import typer

from hoglet.cli.functions.reference import Function, find_id
from hoglet.cli.output import AsJson, cell, print_json, print_table
from hoglet.cli.server.api_client import ApiClient
from hoglet.cli.server.connection import ServerTyper, connect

dead_letters_app = ServerTyper(help="Runs that failed permanently.", no_args_is_help=True)

Classes = Annotated[str, typer.Option("--class", help="Comma-separated, e.g. fetch,timeout.")]
After = Annotated[str, typer.Option(help="Failed after this ISO time.")]
Before = Annotated[str, typer.Option(help="Failed before this ISO time.")]


@dead_letters_app.command("list")
def list_dead_letters(
    function: Function,
    classes: Classes = "",
    after: After = "",
    before: Before = "",
    as_json: AsJson = False,
) -> None:
    """List a function's dead letters with their reasons, newest first."""
    client = connect()
    dead_letters = list(
        client.every(f"{_path(client, function)}/", **_filters(classes, after, before))
    )
    if as_json:
        print_json(dead_letters)
        return
    columns = ("id", "class", "attempts", "last_failed_at", "redriven_at", "event", "error")
    print_table(columns, [tuple(cell(row[column]) for column in columns) for row in dead_letters])


@dead_letters_app.command("show")
def show(
    function: Function,
    dead_letter: Annotated[str, typer.Argument(help="Id of the dead letter; see list.")],
    _as_json: AsJson = False,
) -> None:
    """Print a dead letter with its globals as JSON."""
    client = connect()
    print_json(client.call("GET", f"{_path(client, function)}/{quote(dead_letter, safe='')}"))


@dead_letters_app.command("redrive")
def redrive(
    function: Function,
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids of dead letters; by default all selected ones.")
    ] = None,
    classes: Classes = "",
    after: After = "",
    before: Before = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the count.")] = False,
) -> None:
    """Redrive dead letters: by id, class or time, or all that have not been redriven yet."""
    filters = _filters(classes, after, before)
    body = {"ids": ids} if ids else filters or {"all": True}
    client = connect()
    path = f"{_path(client, function)}/redrive"
    answer = client.call("POST", path, {**body, "dry_run": dry_run})
    done = "would be queued" if dry_run else "queued"
    print(f"{answer['queued']} {done}, {answer['skipped']} skipped")


def _path(client: ApiClient, function: str) -> str:
    return f"/hog_functions/{find_id(client, function)}/dead_letters"


def _filters(classes: str, after: str, before: str) -> dict[str, str]:
    pairs = (("class", classes), ("after", after), ("before", before))
    return {name: text for name, text in pairs if text}
