"""Servers whose spool is on NATS."""

import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet

from support.accepted import Accepted
from support.nats_server import NatsServer, nats_server
from support.server import RunningServer, free_port

SECRET_KEY = Fernet.generate_key().decode()
"""All servers on a database have the same."""


@pytest.mark.slow
def test_events_wait_on_nats_and_survive_the_broker(
    tmp_path: Path, postgres_url: str, own_nats: NatsServer
) -> None:
    server = RunningServer(
        tmp_path / "data",
        database_url=postgres_url,
        spool_url=own_nats.url(),
        secret_keys=SECRET_KEY,
    )
    server.start()
    try:
        accepted = Accepted(server)
        for _ in range(4):
            assert accepted.send(40) == 200
        own_nats.kill()
        assert accepted.send(40) == 503
        own_nats.start()
        deadline = time.monotonic() + 120
        while accepted.send(40) != 200:
            assert time.monotonic() < deadline
        server.kill()
        server.start()
        assert accepted.send(40) == 200
        accepted.assert_all_there()
        assert httpx.get(server.url + "/_readyz").status_code == 200
    finally:
        server.stop()


@pytest.mark.slow
def test_a_broker_that_cannot_be_the_spool_stops_the_start(
    tmp_path: Path, postgres_url: str
) -> None:
    away = f"nats://127.0.0.1:{free_port()}/hoglet"
    with nats_server(jetstream=False) as plain:
        reasons = {
            url: _refused(tmp_path, postgres_url, url) for url in (away, plain.url(), "redis://a")
        }

    assert "check HOGLET_SPOOL_URL" in reasons[away]
    assert "no JetStream" in reasons[plain.url()]
    assert "HOGLET_SPOOL_URL" in reasons["redis://a"]


def test_sqlite_has_no_spool_on_nats(tmp_path: Path) -> None:
    assert "HOGLET_DATABASE_URL" in _refused(tmp_path, None, "nats://127.0.0.1:1/hoglet")


def _refused(folder: Path, database_url: str | None, spool_url: str) -> str:
    """The one line with which a start ends."""
    environment = os.environ | {
        "HOGLET_DATA_DIR": str(folder / "data"),
        "HOGLET_SPOOL_URL": spool_url,
        "HOGLET_SECRET_KEYS": SECRET_KEY,
    }
    if database_url is not None:
        environment["HOGLET_DATABASE_URL"] = database_url
    command = [sys.executable, "-m", "hoglet", "serve", "--port", str(free_port())]
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    return ended.stderr
