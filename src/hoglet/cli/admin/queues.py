"""``hoglet admin queues``: jobs that failed permanently; works while a server runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from hoglet.cli.admin.data_folder import (
    DataDir,
    in_transaction,
    with_database,
)
from hoglet.cli.error_handling import BadUsage
from hoglet.cli.output import AsJson, print_json, print_table
from hoglet.kit.clock import SystemClock
from hoglet.kit.suggestions import near

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession

    from hoglet.store.database import Database

queues_app = typer.Typer(help="Jobs that failed permanently.", no_args_is_help=True)


@queues_app.command("failed")
def list_failed(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List jobs that failed permanently, with their errors."""
    from hoglet.queue.dead_letters import failed_jobs

    async def work(session: "AsyncSession") -> list[tuple[str, ...]]:
        return [
            (str(job.id), job.queue, f"{job.buried_at:%Y-%m-%d %H:%M:%S}", job.error or "")
            for job in await failed_jobs(session)
        ]

    rows = in_transaction(data_dir, work)
    if as_json:
        names = ("id", "queue", "given_up_at", "why")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        print_table(("id", "queue", "failed at", "why"), rows)


@queues_app.command("retry")
def retry(
    queue: Annotated[str, typer.Argument(help="Name of the queue, as listed by `failed`.")],
    data_dir: DataDir = None,
) -> None:
    """Queue all failed jobs of a queue again."""
    _check_queue(queue)

    async def work(database: "Database") -> int:
        from hoglet.queue.sql import SqlQueue

        async with database.write() as session:
            jobs = SqlQueue(database, SystemClock(), owner="command-line")
            return await jobs.requeue(session, queue)

    print(f"{with_database(data_dir, work)} queued again")


def _check_queue(name: str) -> None:
    from hoglet.app.queues import QUEUES

    if name not in QUEUES:
        hint = near(name, QUEUES) or f" Queues: {', '.join(QUEUES)}."
        raise BadUsage(f"There is no queue {name}.{hint}")
