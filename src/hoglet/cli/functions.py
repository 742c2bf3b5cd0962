"""``hoglet functions``: what operators do with functions.

``list`` and ``redrive`` speak to a server. ``force-state`` is no part of the API, so it works on
the data folder, beside a running server.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from hoglet.cli.api_client import ApiClient, Key, Project
from hoglet.cli.backfills import backfill_app
from hoglet.cli.data_folder import DataDir, print_table, with_database
from hoglet.cli.dead_letters import letters_app
from hoglet.cli.server_address import DEFAULT_URL, Url
from hoglet.kit.clock import SystemClock
from hoglet.kit.errors import HogletError

if TYPE_CHECKING:
    from hoglet.functions.watcher.service import Watcher
    from hoglet.store.database import Database

functions_app = typer.Typer(help="Functions, for operators.", no_args_is_help=True)
functions_app.add_typer(backfill_app, name="backfill")
functions_app.add_typer(letters_app, name="dead-letters")

_STATES = {
    0: "off",
    1: "healthy",
    2: "degraded",
    3: "disabled",
    11: "degraded by an administrator",
    12: "disabled by an administrator",
}


class ForcedState(StrEnum):
    """What an administrator may set."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DISABLED = "disabled"


_FORCED = {ForcedState.HEALTHY: 1, ForcedState.DEGRADED: 11, ForcedState.DISABLED: 12}


class NoFunction(HogletError):
    """There is no function of this id."""

    code = "no_function"
    blame = "operator"


@functions_app.command("list")
def list_functions(url: Url = DEFAULT_URL, key: Key = "", project: Project = "@current") -> None:
    """List the functions of a project with their states."""
    client = ApiClient(url, key, project)
    types = "destination,site_destination,internal_destination,source_webhook,site_app"
    found = client.every("/hog_functions/", types=f"{types},transformation,transformation_log")
    rows = [
        (one["id"], one["type"], _STATES[one["status"]["state"]], one["name"] or "")
        for one in found
    ]
    print_table(("id", "type", "state", "name"), rows)


@functions_app.command("force-state")
def force_state(
    function: Annotated[str, typer.Argument(help="Id of the function.")],
    state: Annotated[ForcedState, typer.Argument(help="healthy releases a forced state.")],
    data_dir: DataDir = None,
) -> None:
    """Set the state of a function, which then changes no more by itself (healthy: does again).

    A disabled function does not run and cannot be enabled; once released, its owner enables it.
    """
    name = with_database(data_dir, lambda database: _force(database, function, _FORCED[state]))
    print(f"{name or function} is {_STATES[_FORCED[state]]}.")


@functions_app.command("redrive")
def redrive(
    function: Annotated[str, typer.Argument(help="Id of the function.")],
    classes: Annotated[str, typer.Option("--class", help="Comma list, e.g. fetch,timeout.")] = "",
    after: Annotated[str, typer.Option(help="Failed after this ISO time.")] = "",
    before: Annotated[str, typer.Option(help="Failed before this ISO time.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would be run again.")
    ] = False,
    url: Url = DEFAULT_URL,
    key: Key = "",
    project: Project = "@current",
) -> None:
    """Run a function's dead letters again, all that were not yet unless narrowed."""
    client, path = ApiClient(url, key, project), f"/hog_functions/{function}/dead_letters"
    pairs = (("class", classes), ("after", after), ("before", before))
    wish = {name: text for name, text in pairs if text}
    if dry_run:
        letters = list(client.every(f"{path}/", redriven="false", **wish))
        columns = ("id", "class", "last_failed_at", "event", "error")
        print_table(columns, [tuple(_cell(one[column]) for column in columns) for one in letters])
        print(f"{len(letters)} would be queued")
        return
    answer = client.call("POST", f"{path}/redrive", wish or {"all": True})
    print(f"{answer['queued']} queued, {answer['skipped']} skipped")


async def _force(database: "Database", function: str, state: int) -> str | None:
    from hoglet.functions import repository

    try:
        function_id = UUID(function)
    except ValueError:
        raise NoFunction(f"{function} is not the id of a function.") from None
    async with database.write() as session:
        row = await repository.find_anywhere(session, function_id)
        if row is None:
            raise NoFunction(f"There is no function {function}.")
        await _watcher(database).force(session, row, state)
        return row.name


def _watcher(database: "Database") -> "Watcher":
    """A watcher whose changes are told to internal destinations, as the server's are."""
    from hoglet.access.activity import ActivityLog
    from hoglet.functions.watcher.service import Watcher
    from hoglet.pipeline.internal_events import InternalEvents
    from hoglet.queue.sql import SqlQueue

    clock = SystemClock()
    internal = InternalEvents(SqlQueue(database, clock, owner="command-line"), clock)
    watcher = Watcher(clock, ActivityLog(clock, [internal.on_activity]))
    watcher.listeners.append(internal.on_state_change)
    return watcher


def _cell(value: Any) -> str:
    return "" if value is None else str(value)[:120].replace("\n", " ")
