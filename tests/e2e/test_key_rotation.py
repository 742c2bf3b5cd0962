"""Rotating encryption keys, from the command to runs with older secrets."""

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet, InvalidToken
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.recorder import Recorder
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"
CODE = """
fetch(inputs.url, {'headers': {'X-Secret': inputs.secret, 'X-Token': inputs.service.access_token}})
"""


def command(data_dir: Path, *words: str, exit_code: int = 0, **environment: str) -> str:
    ran = CliRunner().invoke(
        app, ["admin", "secrets", *words, "--data-dir", str(data_dir)], env=environment or None
    )
    assert ran.exit_code == exit_code, ran.output or ran.exception
    return ran.output


def make(server: RunningServer, url: str) -> None:
    token = {"kind": "x", "access_token": "token-1"}
    integration = server.client.post("/api/projects/1/integrations/", json=token).json()
    body: dict[str, Any] = {
        "type": "destination",
        "enabled": True,
        "hog": CODE,
        "inputs_schema": [
            {"key": "url", "type": "string"},
            {"key": "secret", "type": "string", "secret": True},
            {"key": "service", "type": "integration"},
        ],
        "inputs": {
            "url": {"value": url},
            "secret": {"value": "secret-1"},
            "service": {"value": integration["id"]},
        },
        "filters": {"events": [{"id": "go", "type": "events"}]},
    }
    assert server.client.post(FUNCTIONS, json=body).status_code == 201


def delivered(server: RunningServer, receiver: Recorder, count: int) -> tuple[str, str]:
    body = {"api_key": TOKEN, "event": "go", "distinct_id": "a"}
    assert server.client.post("/capture/", json=body).status_code == 200
    deadline = time.monotonic() + 30
    while len(receiver.requests) < count and time.monotonic() < deadline:
        time.sleep(0.05)
    headers = receiver.requests[count - 1].headers
    return headers["x-secret"], headers["x-token"]


def encrypted_texts(data_dir: Path) -> list[str]:
    with sqlite3.connect(data_dir / "hoglet.db") as database:
        rows = database.execute(
            "SELECT secrets FROM hog_functions UNION ALL SELECT secrets FROM integrations"
        ).fetchall()
    return [row[0] for row in rows]


def opens(key: str, texts: list[str]) -> list[bool]:
    def is_open(text: str) -> bool:
        try:
            Fernet(key).decrypt(text)
        except InvalidToken:
            return False
        return True

    return [is_open(text) for text in texts]


def test_keys_are_rotated_without_losing_a_secret(tmp_path: Path) -> None:
    receiver = Recorder()
    server = RunningServer(tmp_path).start()
    make(server, receiver.url)
    assert delivered(server, receiver, 1) == ("secret-1", "token-1")
    key_file = tmp_path / "secret.key"
    old = key_file.read_text().strip()

    command(tmp_path, "rotate")  # beside the running server
    new, former = key_file.read_text().split()
    assert (former, key_file.stat().st_mode & 0o777) == (old, 0o600)
    assert delivered(server, receiver, 2) == ("secret-1", "token-1")
    server.stop()

    server.start()
    assert opens(new, encrypted_texts(tmp_path)) == [True, True]
    assert opens(old, encrypted_texts(tmp_path)) == [False, False]
    assert delivered(server, receiver, 3) == ("secret-1", "token-1")
    server.stop()

    key_file.write_text(new + "\n")
    server.start()
    assert delivered(server, receiver, 4) == ("secret-1", "token-1")
    server.stop()
    receiver.close()


def test_configured_keys_are_rotated_by_reencrypting(tmp_path: Path) -> None:
    receiver = Recorder()
    old, new, foreign = (Fernet.generate_key().decode() for _ in range(3))
    server = RunningServer(tmp_path, secret_keys=old).start()
    make(server, receiver.url)
    server.stop()

    command(tmp_path, "rotate", exit_code=2, HOGLET_SECRET_KEYS=old)
    said = command(tmp_path, "reencrypt", HOGLET_SECRET_KEYS=f"{new},{old}")
    assert said == "2 encrypted with the newest key.\n"
    assert opens(new, encrypted_texts(tmp_path)) == [True, True]
    said = command(tmp_path, "reencrypt", exit_code=1, HOGLET_SECRET_KEYS=foreign)
    assert "2 cannot be decrypted" in said
    assert opens(new, encrypted_texts(tmp_path)) == [True, True]
    assert (
        len(Fernet.generate_key())
        == len(CliRunner().invoke(app, ["admin", "secrets", "key"]).output) - 1
    )
    receiver.close()
