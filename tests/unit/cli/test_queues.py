"""``hoglet admin queues``: lists failed jobs and queues them again."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

import hoglet
from hoglet.app.queues import QUEUES
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


def test_an_unknown_queue_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    migrate(f"sqlite+aiosqlite:///{tmp_path}/hoglet.db")

    def run(queue: str) -> Result:
        words = ["admin", "queues", "retry", queue, "--data-dir", str(tmp_path)]
        return CliRunner().invoke(app, words)

    misspelt = run("spol")
    assert misspelt.exit_code == 2
    assert misspelt.output == "There is no queue spol. Did you mean 'spool'?\n"
    assert "Queues: spool, functions.invoke, " in run("x" * 30).output
    for queue in QUEUES:
        assert run(queue).output == "0 queued again\n"


def test_the_names_of_queues_are_complete() -> None:
    folder = Path(hoglet.__file__).parent
    source = "".join(path.read_text() for path in folder.rglob("*.py"))
    enqueued = set(re.findall(r"NewJob\(\s*queue=([A-Z_]+)", source))
    assert len(enqueued) > 5
    constants = dict(re.findall(r'^([A-Z_]+) = "(.+)"$', source, re.MULTILINE))
    assert {constants[name] for name in enqueued} == set(QUEUES)
