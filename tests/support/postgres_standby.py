"""A standby of a PostgreSQL server, and an address that moves from one to the other."""

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.engine import make_url

from support.postgres_server import START_SECONDS, PostgresServer


class ReplicatedPostgres:
    """A primary and its standby, which streams from it; ``url`` leads to one of them.

    The address is a link to the folder of the sockets.
    """

    def __init__(self, primary: PostgresServer, folder: Path) -> None:
        self._primary = primary
        self._sockets = Path(str(make_url(primary.url).query["host"]))
        self._command = shlex.split((self._sockets / "postmaster.opts").read_text())
        self._owner = self._sockets.stat().st_uid if os.geteuid() == 0 else None
        self._standby = folder / "standby"
        self._process: subprocess.Popen[bytes] | None = None
        self._link = folder / "current"
        self._link.symlink_to(self._sockets)
        self.url = primary.url.replace(str(self._sockets), str(self._link))
        self._run("pg_basebackup", "-h", self._sockets, "-U", "postgres", "-R", "-c", "fast")
        for lock in self._standby.glob(".s.PGSQL.*.lock"):
            lock.unlink()  # of the primary's socket, which is in the copied folder

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [Path(self._command[0]).with_name(program), "-D", self._standby, *arguments]
        subprocess.run(command, user=self._owner, check=True, capture_output=True)

    def start_standby(self) -> None:
        """Start it and wait until it answers reads."""
        folders = {str(self._sockets): str(self._standby)}
        command = [folders.get(word, word) for word in self._command]
        with (self._standby / "standby.log").open("ab") as log:
            self._process = subprocess.Popen(command, user=self._owner, stdout=log, stderr=log)
        url = self.url.replace(str(self._link), str(self._standby))
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(url).close()
                return
            time.sleep(0.1)
        raise AssertionError((self._standby / "standby.log").read_text())

    def wait_for_commits(self) -> None:
        """Let commits of the primary wait for the standby, which must be running."""
        with psycopg.connect(self._primary.url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
            query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
            deadline = time.monotonic() + START_SECONDS
            while connection.execute(query).fetchall() != [(1,)]:
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def fail_over(self) -> None:
        """Kill the primary, promote the standby, and move the address."""
        self._primary.kill()
        if self._process is None or self._process.poll() is not None:
            self.start_standby()
        self._run("pg_ctl", "promote", "-w")
        moved = self._link.with_suffix(".new")
        moved.symlink_to(self._standby)
        moved.rename(self._link)

    def stop_standby(self) -> None:
        """Stop it: what the primary commits from now on does not reach it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()


@pytest.fixture
def replicated_postgres(own_postgres: PostgresServer) -> Generator[ReplicatedPostgres]:
    """A primary with a running standby, which commits do not wait for."""
    with tempfile.TemporaryDirectory(prefix="hoglet-postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        standby = folder / "standby"
        standby.mkdir(mode=0o700)
        if os.geteuid() == 0:
            sockets = Path(str(make_url(own_postgres.url).query["host"]))
            os.chown(standby, sockets.stat().st_uid, sockets.stat().st_gid)
        opened = ReplicatedPostgres(own_postgres, folder)
        try:
            opened.start_standby()
            yield opened
        finally:
            opened.stop_standby()
