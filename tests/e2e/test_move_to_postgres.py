"""``hoglet admin database copy``: a server moves from SQLite to PostgreSQL and loses nothing."""

import subprocess
from pathlib import Path

import pytest

from support.accepted import Accepted
from support.hoglet_process import run_hoglet
from support.receiver import Receiver
from support.server import RunningServer

SECONDS = 120
FUNCTIONS = "/api/projects/1/hog_functions/"
ACTIONS = "/api/projects/1/actions/"
BATCH = 20


def _copy(url: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    words = ["admin", "database", "copy", url, "--data-dir", str(data_dir)]
    return run_hoglet(*words, timeout=120)


@pytest.mark.slow
def test_nothing_is_lost_by_moving_to_postgresql(tmp_path: Path, postgres_url: str) -> None:
    receiver = Receiver()
    server = RunningServer(tmp_path / "data").start()
    moved = RunningServer(tmp_path / "data", port=server.port, database_url=postgres_url)
    try:
        accepted = Accepted(server, receiver)
        first = server.client.post(ACTIONS, json={"name": "First", "steps": [{"event": "e"}]})
        assert accepted.send(BATCH) == 200
        accepted.assert_all_there()

        assert "in use by another hoglet server" in _copy(postgres_url, server.data_dir).stderr
        assert accepted.send(BATCH) == 200
        server.kill()  # the second batch is in some stage of its way
        copied = _copy(postgres_url, server.data_dir)
        assert copied.returncode == 0, copied.stderr
        assert "Start the server with HOGLET_DATABASE_URL" in copied.stdout
        again = _copy(postgres_url, server.data_dir)
        assert again.returncode == 1
        assert "The target already has rows" in again.stderr

        accepted.server = moved.start()
        assert accepted.send(BATCH) == 200
        accepted.assert_all_there()
        second = moved.client.post(ACTIONS, json={"name": "Second", "steps": [{"event": "e"}]})
        assert second.status_code == 201, second.text
        assert second.json()["id"] > first.json()["id"]
        assert moved.client.get(FUNCTIONS).json()["count"] == 1
    finally:
        for process in (server, moved):
            if process.process is not None:
                process.stop()
        receiver.close()


def test_the_target_is_a_postgresql_database(tmp_path: Path) -> None:
    wrong = _copy("postgres://db/hoglet", tmp_path)
    missing = _copy("postgresql+psycopg://db/hoglet", tmp_path)

    assert (wrong.returncode, missing.returncode) == (2, 2)
    assert "postgresql+psycopg://user@host:5432/name" in wrong.stderr
    assert "There is no database" in missing.stderr
