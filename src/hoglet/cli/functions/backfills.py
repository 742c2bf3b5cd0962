"""``hoglet functions backfill``: run a function on stored events."""

import time
from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hoglet.cli.confirmation import confirm_extent
from hoglet.cli.functions.reference import Function, find_id
from hoglet.cli.output import AsJson, cell, print_json, print_table
from hoglet.cli.server.api_client import ApiClient
from hoglet.cli.server.connection import ServerTyper, connect
from hoglet.cli.server.responses import BackfillProgress
from hoglet.kit.errors import HogletError

backfill_app = ServerTyper(help="Run a function on stored events.", no_args_is_help=True)

ENDED = ("Completed", "Cancelled", "Failed")
_LOOK_SECONDS = 0.5
_ALL_EVENTS = "The function would run on all stored events, of any time."

Backfill = Annotated[str, typer.Argument(help="Id of the backfill; see list.")]


class NoBackfills(HogletError):
    """The function has never had a backfill."""

    code = "no_backfills"
    blame = "operator"


@backfill_app.command("start")
def start(
    function: Function,
    start_at: Annotated[str, typer.Option("--start", help="Events from this ISO time on.")] = "",
    end_at: Annotated[str, typer.Option("--end", help="Events before this ISO time.")] = "",
    with_filters: Annotated[
        bool,
        typer.Option(
            "--with-filters", help="Replay: only events that match the function's filters."
        ),
    ] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for it to end.")] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", help="Do not ask for confirmation when no times are given; for scripts."
        ),
    ] = False,
) -> None:
    """Start a backfill and follow it; it continues on the server if you stop following.

    Without --start and --end it is a backfill of all stored events, after confirmation.
    """
    client = connect()
    function = find_id(client, function)
    if not start_at and not end_at:
        confirm_extent(_ALL_EVENTS, "--start and --end", yes=yes)
    path = _path(client, function, enable=True)
    pairs = (("start_at", start_at), ("end_at", end_at))
    window = {name: text for name, text in pairs if text}
    created = client.call("POST", path, {**window, "with_filters": with_filters})
    print(f"Backfill {created['id']}")
    if not detach:
        _follow(lambda: client.call("GET", f"{path}/{created['id']}"), function)


@backfill_app.command("list")
def list_backfills(function: Function, as_json: AsJson = False) -> None:
    """List the backfills of a function, newest first."""
    client = connect()
    columns = (
        "id", "status", "start_at", "end_at", "events_total", "events_queued", "runs_succeeded",
        "runs_failed",
    )  # fmt: skip
    try:
        backfills = list(client.every(_path(client, function)))
    except NoBackfills:
        backfills = []
    if as_json:
        print_json(backfills)
        return
    print_table(columns, [tuple(cell(row[column]) for column in columns) for row in backfills])


@backfill_app.command("watch")
def watch(
    function: Function,
    backfill: Backfill,
) -> None:
    """Follow a running backfill."""
    client = connect()
    path = f"{_path(client, function)}/{quote(backfill, safe='')}"
    _follow(lambda: client.call("GET", path), function)


@backfill_app.command("pause")
def pause(
    function: Function,
    backfill: Backfill,
) -> None:
    """Pause a backfill; up to 1,000 queued runs still finish."""
    _control(connect(), function, backfill, "pause")


@backfill_app.command("resume")
def resume(
    function: Function,
    backfill: Backfill,
) -> None:
    """Resume a paused backfill."""
    _control(connect(), function, backfill, "resume")


@backfill_app.command("cancel")
def cancel(
    function: Function,
    backfill: Backfill,
) -> None:
    """Cancel a backfill; queued runs are dropped, deliveries are not undone."""
    _control(connect(), function, backfill, "cancel")


def _control(client: ApiClient, function: str, backfill: str, verb: str) -> None:
    changed = client.call("POST", f"{_path(client, function)}/{quote(backfill, safe='')}/{verb}")
    print(changed["status"])


def _path(client: ApiClient, function: str, *, enable: bool = False) -> str:
    """The path of a function's backfills; enables them if necessary."""
    function = find_id(client, function)
    backfill_id = client.call("GET", f"/hog_functions/{function}/")["batch_export_id"]
    if backfill_id is None and not enable:
        raise NoBackfills(f"The function {function} has never had a backfill.")
    if backfill_id is None:
        enabled = client.call("POST", f"/hog_functions/{function}/enable_backfills")
        backfill_id = enabled["batch_export_id"]
    return f"/batch_exports/{backfill_id}/backfills"


def _follow(poll: Callable[[], BackfillProgress], function: str) -> None:
    """Show a progress bar until the end; Ctrl-C closes the bar, not the backfill."""
    progress = poll()
    try:
        with _bar() as bar:
            task = bar.add_task("events", total=None)
            while progress["status"] not in ENDED:
                done = progress["runs_succeeded"] + progress["runs_failed"]
                failed = f", {progress['runs_failed']} failed" if progress["runs_failed"] else ""
                text = progress["status"] + failed
                bar.update(task, total=progress["events_total"], completed=done, description=text)
                time.sleep(_LOOK_SECONDS)
                progress = poll()
    except KeyboardInterrupt:
        print(
            f"The backfill continues. To watch it: hoglet functions backfill watch {function} "
            f"{progress['id']}; to cancel it: … cancel {function} {progress['id']}"
        )
        raise typer.Exit(130) from None
    counts = f"{progress['runs_succeeded']} succeeded, {progress['runs_failed']} failed"
    print(f"{progress['status']}: {counts}")
    raise typer.Exit(int(progress["status"] != "Completed"))


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
