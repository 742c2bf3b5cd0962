"""kill -9 during the migration of an old database: it is unchanged, or migrated."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import create_engine

from hoglet.migrations import migrate
from hoglet.migrations.upgrade import alembic_config
from support.accepted import Accepted
from support.faults import kill_while_starting
from support.server import RunningServer

OLD = "0004"
EVERY = 15  # statements between two kills
GROUP_TYPES = [(7, "company", 0), (7, "team", 1)]
# Upgrades copies of a database; the first dies at its first statement, each next one later.
_UPGRADES = """
import os, shutil, signal, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine
from hoglet.migrations import migrate

old, folder, every = sys.argv[1], sys.argv[2], int(sys.argv[3])

def is_killed(path, number):
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = number
    def count(*_arguments):
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    event.listen(Engine, "before_cursor_execute", count)
    migrate(f"sqlite+aiosqlite:///{path}")
    os._exit(0)

number = 0
while True:
    path = f"{folder}/{number:04}.db"
    shutil.copy(old, path)
    if not is_killed(path, number):
        break
    number += every
"""


@pytest.fixture(scope="module")
def old_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of an old version, with a few rows."""
    path = tmp_path_factory.mktemp("old") / "hoglet.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), OLD)
    engine.dispose()
    with sqlite3.connect(path) as database:
        rows = "INSERT INTO group_types (project_id, group_type, group_index) VALUES (?, ?, ?)"
        database.executemany(rows, GROUP_TYPES)
    return path


def schema_of(path: Path) -> dict[str, list[object]]:
    """Columns by table and index; their SQL may name constraints in any order."""
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        entries = database.execute("SELECT type, name FROM sqlite_master").fetchall()
        return {
            name: database.execute(f'PRAGMA {kind}_info("{name}")').fetchall()
            for kind, name in entries
        }


def version_of(path: Path) -> str:
    with sqlite3.connect(path) as database:
        statement = (
            "SELECT project_id, group_type, group_index FROM group_types ORDER BY group_index"
        )
        assert database.execute(statement).fetchall() == GROUP_TYPES
        (version,) = database.execute("SELECT version_num FROM alembic_version").fetchone()
        return version


@pytest.mark.slow
def test_an_upgrade_that_is_killed_at_any_statement(tmp_path: Path, old_database: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", _UPGRADES, str(old_database), str(tmp_path), str(EVERY)], check=True
    )
    *killed, whole = sorted(tmp_path.glob("*.db"))
    assert len(killed) > 5
    newest, schema = version_of(whole), schema_of(whole)
    assert newest > OLD

    for path in killed:
        assert version_of(path) == OLD
        assert schema_of(path) == schema_of(old_database)
    for path in (killed[0], killed[len(killed) // 2], killed[-1]):
        migrate(f"sqlite+aiosqlite:///{path}")
        assert version_of(path) == newest
        assert schema_of(path) == schema


@pytest.mark.slow
def test_a_server_that_is_killed_while_it_upgrades(tmp_path: Path, old_database: Path) -> None:
    server = RunningServer(tmp_path / "data")
    server.data_dir.mkdir()
    path = server.data_dir / "hoglet.db"
    path.write_bytes(old_database.read_bytes())
    kill_while_starting(server, times=8, seed=11)
    server.start()
    try:
        accepted = Accepted(server)
        assert accepted.send() == 200
        accepted.assert_all_there()
        assert version_of(path) > OLD
    finally:
        assert server.stop() == 0
