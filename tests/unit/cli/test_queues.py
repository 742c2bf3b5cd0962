"""``hoglet admin queues``: lists failed jobs and queues them again."""

import asyncio
from datetime import timedelta
from pathlib import Path

from typer.testing import CliRunner

from hoglet.cli.main import app
from hoglet.kit.clock import SystemClock
from hoglet.migrations import migrate
from hoglet.queue import NewJob
from hoglet.queue.sql import SqlQueue
from hoglet.store.database import Database


async def _fail_a_job(url: str) -> None:
    database = Database(url)
    queue = SqlQueue(database, SystemClock())
    async with database.write() as session:
        await queue.enqueue(session, [NewJob(queue="functions.invoke", payload=b"?")])
    (job,) = await queue.lease("functions.invoke", limit=1, duration=timedelta(seconds=5))
    async with database.write() as session:
        await queue.dead_letter(session, job, "unreadable payload")
    await database.close()


def test_failed_jobs_are_listed_and_queued_again(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/hoglet.db"
    migrate(url)
    asyncio.run(_fail_a_job(url))

    def run(*words: str) -> str:
        ended = CliRunner().invoke(app, ["admin", "queues", *words, "--data-dir", str(tmp_path)])
        assert ended.exit_code == 0, ended.output
        return ended.output

    assert "unreadable payload" in run("failed")
    assert run("retry", "functions.invoke") == "1 queued again\n"
    assert "unreadable payload" not in run("failed")
