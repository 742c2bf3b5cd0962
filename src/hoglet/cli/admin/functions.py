"""``hoglet admin functions``: operations on functions that only operators may do.

``force-state`` is not part of the API, so it works on the data folder; the server may be running.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hoglet.cli.admin.data_folder import DataDir, with_database
from hoglet.cli.functions.reference import NoFunction
from hoglet.kit.clock import SystemClock

if TYPE_CHECKING:
    from hoglet.functions.watcher.service import Watcher
    from hoglet.store.database import Database

admin_functions_app = typer.Typer(help="Forced states of functions.", no_args_is_help=True)


class ForcedState(StrEnum):
    """States that an administrator can set."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DISABLED = "disabled"


_FORCED = {ForcedState.HEALTHY: 1, ForcedState.DEGRADED: 11, ForcedState.DISABLED: 12}
_NAMES = {1: "healthy", 11: "degraded by an administrator", 12: "disabled by an administrator"}


@admin_functions_app.command("force-state")
def force_state(
    function: Annotated[str, typer.Argument(help="Id of the function.")],
    state: Annotated[ForcedState, typer.Argument(help="healthy releases a forced state.")],
    data_dir: DataDir = None,
) -> None:
    """Pin a function to a state that the watcher does not change (healthy: release it).

    A disabled function does not run and cannot be enabled; once released, its owner enables it.
    """
    name = with_database(data_dir, lambda database: _force(database, function, _FORCED[state]))
    print(f"{name or function} is {_NAMES[_FORCED[state]]}.")


async def _force(database: "Database", function: str, state: int) -> str | None:
    from hoglet.functions import repository

    try:
        function_id = UUID(function)
    except ValueError:
        raise NoFunction(f"{function} is not a function id.") from None
    async with database.write() as session:
        row = await repository.find_anywhere(session, function_id)
        if row is None:
            raise NoFunction(f"There is no function with the id {function}.")
        await _watcher(database).force(session, row, state)
        return row.name


def _watcher(database: "Database") -> "Watcher":
    """A watcher that notifies internal destinations like the server's."""
    from hoglet.access.activity import ActivityLog
    from hoglet.functions.watcher.service import Watcher
    from hoglet.pipeline.internal_events import InternalEvents
    from hoglet.queue.sql import SqlQueue

    clock = SystemClock()
    internal = InternalEvents(SqlQueue(database, clock, owner="command-line"), clock)
    watcher = Watcher(clock, ActivityLog(clock, [internal.on_activity]))
    watcher.listeners.append(internal.on_state_change)
    return watcher
