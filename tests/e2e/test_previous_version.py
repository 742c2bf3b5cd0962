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

import pytest
from cryptography.fernet import Fernet

from support.accepted import Accepted
from support.receiver import Receiver
from support.server import RunningServer
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MIGRATIONS = "src/hoglet/migrations/versions"


def _git(*arguments: str) -> bytes:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the history is needed: this is not a git clone")
    ended = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False)
    if ended.returncode:
        pytest.skip(f"the history is needed: {ended.stderr.decode().strip()}")
    return ended.stdout.strip()


def _previous() -> str:
    """The last release, or the commit before the last migration was added."""
    if tags := _git("tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname").split():
        return tags[0].decode()
    if _git("rev-parse", "--is-shallow-repository") == b"true":
        pytest.skip("the history is needed: this is a shallow clone")
    added = _git("log", "-1", "--format=%H", "--diff-filter=A", "--", MIGRATIONS).decode()
    return _git("rev-parse", f"{added}^").decode()


@pytest.fixture
def previous_source(tmp_path: Path) -> Path:
    """The source folder of the previous version."""
    archive = _git("archive", _previous(), "src")
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


def test_the_previous_version_works_beside_this_one(
    tmp_path: Path,
    previous_source: Path,
    previous_python: str,
    postgres_url: str,
    warehouse_url: str,
) -> None:
    assert _migrations(previous_source) < _migrations(ROOT / "src")
    shared = {
        "database_url": postgres_url,
        "warehouse_url": warehouse_url,
        "secret_keys": Fernet.generate_key().decode(),
    }
    old = RunningServer(tmp_path / "old", **shared)
    old.python = previous_python
    # python -m hoglet came later
    if not (_package(previous_python) / "__main__.py").exists():
        old.module = "hoglet.cli.main"
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
