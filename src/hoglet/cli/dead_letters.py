"""``hoglet functions dead-letters``: runs that failed for good, looked at and run again."""

from typing import Annotated, Any

import typer
from rich.console import Console

from hoglet.cli.api_client import ApiClient, Key, Project
from hoglet.cli.data_folder import print_table
from hoglet.cli.server_address import DEFAULT_URL, Url

letters_app = typer.Typer(help="Runs that failed for good.", no_args_is_help=True)

_CELL = 120

Function = Annotated[str, typer.Argument(help="Id of the function.")]
Classes = Annotated[str, typer.Option("--class", help="Comma list, e.g. fetch,timeout.")]
After = Annotated[str, typer.Option(help="Failed after this ISO time.")]
Before = Annotated[str, typer.Option(help="Failed before this ISO time.")]


@letters_app.command("list")
def list_letters(
    function: Function,
    classes: Classes = "",
    after: After = "",
    before: Before = "",
    url: Url = DEFAULT_URL,
    key: Key = "",
    project: Project = "@current",
) -> None:
    """List a function's dead letters with their reasons, newest first."""
    found = ApiClient(url, key, project).every(
        f"{_path(function)}/", **_wish(classes, after, before)
    )
    columns = ("id", "class", "attempts", "last_failed_at", "redriven_at", "event", "error")
    print_table(columns, [tuple(_cell(one[column]) for column in columns) for one in found])


@letters_app.command("show")
def show(
    function: Function,
    letter: Annotated[str, typer.Argument(help="Id of the letter; see list.")],
    url: Url = DEFAULT_URL,
    key: Key = "",
    project: Project = "@current",
) -> None:
    """Print one letter with its globals as JSON."""
    found = ApiClient(url, key, project).call("GET", f"{_path(function)}/{letter}")
    Console(highlight=False, soft_wrap=True).print_json(data=found)


@letters_app.command("redrive")
def redrive(
    function: Function,
    letters: Annotated[
        list[str] | None, typer.Argument(help="Ids of letters; all that are chosen when none.")
    ] = None,
    classes: Classes = "",
    after: After = "",
    before: Before = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell how many.")] = False,
    url: Url = DEFAULT_URL,
    key: Key = "",
    project: Project = "@current",
) -> None:
    """Run letters again: those named, those of a class or time, or all not yet redriven."""
    wish = _wish(classes, after, before)
    body: dict[str, Any] = {"ids": letters} if letters else wish or {"all": True}
    path = f"{_path(function)}/redrive"
    answer = ApiClient(url, key, project).call("POST", path, {**body, "dry_run": dry_run})
    done = "would be queued" if dry_run else "queued"
    print(f"{answer['queued']} {done}, {answer['skipped']} skipped")


def _path(function: str) -> str:
    return f"/hog_functions/{function}/dead_letters"


def _wish(classes: str, after: str, before: str) -> dict[str, str]:
    pairs = (("class", classes), ("after", after), ("before", before))
    return {name: text for name, text in pairs if text}


def _cell(value: Any) -> str:
    return "" if value is None else str(value)[:_CELL].replace("\n", " ")
