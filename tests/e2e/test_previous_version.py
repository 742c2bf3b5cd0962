"""The version before the last migration keeps working on the schema of this version."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from collections.abc import Generator
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.fernet import Fernet

from support.accepted import Accepted, add_destination
from support.ordered_sender import OrderedSender
from support.receiver import Receiver
from support.server import TOKEN, RunningServer, new_project
from support.waiting import wait_for
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MIGRATIONS = "src/hoglet/migrations/versions"
PEOPLE = 30  # so that requests have entries in nearly all partitions


def _git(*arguments: str) -> bytes:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the history is needed: this is not a git clone")
    ended = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if ended.returncode:
        pytest.skip(f"the history is needed: {ended.stderr.decode().strip()}")
    return ended.stdout.strip()


def _before(migration: str) -> str:
    """The commit before a migration was added; of several, before the last one."""
    if _git("rev-parse", "--is-shallow-repository") == b"true":
        pytest.skip("the history is needed: this is a shallow clone")
    added = _git("log", "-1", "--format=%H", "--diff-filter=A", "--", migration).decode()
    return _git("rev-parse", f"{added}^").decode()


def _previous() -> str:
    """The last release, or the commit before the last migration was added."""
    if tags := _git("tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname").split():
        return tags[0].decode()
    return _before(MIGRATIONS)


@pytest.fixture
def previous_source(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The source folder of the previous version, or of one before the migration of a parameter."""
    migration: str | None = getattr(request, "param", None)
    commit = _before(f"{MIGRATIONS}/{migration}") if migration else _previous()
    archive = _git("archive", commit, "src")
    with tarfile.open(fileobj=BytesIO(archive)) as packed:
        packed.extractall(tmp_path / "previous", filter="data")
    return tmp_path / "previous" / "src"


@pytest.fixture
def warehouse_url(clickhouse_server: str) -> Generator[str]:
    with new_clickhouse_database(clickhouse_server) as url:
        yield url


def _migrations(source: Path) -> set[str]:
    return {file.name for file in (source / "hoglet/migrations/versions").glob("0*.py")}


@pytest.fixture
def previous_python(previous_source: Path) -> Generator[str]:
    """An interpreter that finds hoglet in ``previous_source``.

    Worker processes ignore the environment and may read their own prefix only, so it has the
    dependencies linked into its folder, which is on the same file system therefore.
    """
    folder = Path(tempfile.mkdtemp(prefix="previous-", dir=sys.prefix))
    try:
        venv.create(folder, with_pip=False, symlinks=True)
        packages = sysconfig.get_path("purelib", vars={"base": str(folder)})
        current = sysconfig.get_path("purelib")
        without = shutil.ignore_patterns("*.pth", "hoglet*", "__pycache__")
        shutil.copytree(
            current, packages, copy_function=os.link, ignore=without, dirs_exist_ok=True
        )
        shutil.copytree(previous_source / "hoglet", Path(packages) / "hoglet")
        yield str(folder / "bin/python")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _package(python: str) -> Path:
    """Where an isolated process finds hoglet."""
    where = "import hoglet; print(hoglet.__path__[0])"
    return Path(subprocess.check_output([python, "-I", "-c", where], text=True).strip())


def _previous_server(folder: Path, python: str, **settings: Any) -> RunningServer:
    server = RunningServer(folder, **settings)
    server.python = python
    # python -m hoglet came later
    if not (_package(python) / "__main__.py").exists():
        server.module = "hoglet.cli.main"
    return server


def test_the_previous_version_works_beside_this_one(
    tmp_path: Path,
    previous_source: Path,
    previous_python: str,
    postgres_url: str,
    warehouse_url: str,
) -> None:
    assert _migrations(previous_source) < _migrations(ROOT / "src")
    shared: dict[str, Any] = {
        "database_url": postgres_url,
        "warehouse_url": warehouse_url,
        "secret_keys": Fernet.generate_key().decode(),
    }
    old = _previous_server(tmp_path / "old", previous_python, **shared)
    assert _migrations(_package(previous_python).parent) == _migrations(previous_source)
    new = RunningServer(tmp_path / "new", **shared)
    receiver = Receiver()
    old.start()
    try:
        accepted = Accepted(old, receiver)
        assert accepted.send() == 200
        new.start()  # migrates while the other one works
        for server in (old, new, old):
            accepted.server = server
            assert accepted.send() == 200
        for server in (old, new):
            accepted.server = server
            accepted.assert_all_there()
        path = f"/api/projects/1/hog_functions/{accepted.function}/"
        renamed = old.client.patch(path, json={"name": "renamed by the previous version"})
        assert renamed.status_code == 200, renamed.text
        assert new.client.get(path).json()["name"] == "renamed by the previous version"
        assert new.stop() == 0
        accepted.server = old
        assert accepted.send() == 200  # alone again: it processes what it accepts
        accepted.assert_all_there()
    finally:
        for server in (old, new):
            if server.process is not None:
                server.stop()
        receiver.close()


@pytest.mark.parametrize(
    "previous_source",
    [
        pytest.param("0030_groups_of_partitions.py", marks=pytest.mark.long),
        "0032_groups_of_projects.py",
        "0034_names_of_groups.py",
    ],
    indirect=True,
)
async def test_a_rolling_update_from_smaller_groups(
    tmp_path: Path, previous_python: str, postgres_url: str, warehouse_url: str
) -> None:
    """The version before would repeat a shared group of a killed server in other parts.

    The groups of one had one partition, those of the next one project; the last one would insert
    the blocks again, under the name of the first entry.
    """
    shared: dict[str, Any] = {
        "database_url": postgres_url,
        "warehouse_url": warehouse_url,
        "secret_keys": Fernet.generate_key().decode(),
    }
    old = [_previous_server(tmp_path / f"old{n}", previous_python, **shared) for n in range(2)]
    new = [RunningServer(tmp_path / f"new{n}", **shared) for n in range(2)]
    receiver = Receiver()
    try:
        for server in old:
            server.start()
        servers = [old[0], new[0], old[1], new[1]]
        senders = [
            OrderedSender(servers, distinct_ids=PEOPLE, project=project, token=token)
            for project, token in [(1, TOKEN), await new_project(postgres_url, "second")]
        ]
        for sender in senders:
            url = f"{receiver.url}/{{event.uuid}}"
            add_destination(old[0], url, project=sender.project)
            sender.start()
        for killed, started in zip(old, new, strict=True):
            _wait_for_events(*senders)
            killed.kill()
            started.start()
        _wait_for_events(*senders)
        _forget_silent_servers(postgres_url)
        for server in new:
            _wait_for_events(*senders)
            server.kill()  # in a group of several partitions and projects, perhaps
            _wait_for_events(*senders)
            server.start()
        for sender in senders:
            sender.stop()
        for sender in senders:
            sender.assert_stored(new[0], receiver)
    finally:
        for server in [*old, *new]:
            if server.process is not None:
                server.kill()
        receiver.close()


def _wait_for_events(*senders: OrderedSender) -> None:
    expected = [(sender, len(sender.accepted) + 6 * PEOPLE) for sender in senders]
    wait_for(
        lambda: all(len(sender.accepted) >= number for sender, number in expected), seconds=180
    )


def _forget_silent_servers(url: str) -> None:
    """As if an hour had passed: a killed server of the version before might still come back."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        old = connection.execute("DELETE FROM spool_owners WHERE names_members IS NULL")
        assert old.rowcount == 2
