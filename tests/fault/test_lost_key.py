"""Secrets that cannot be decrypted: deliveries become dead letters."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from support.receiver import Receiver
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"
SCHEMA = [{"type": "string", "key": "token", "secret": True}]


def _make(server: RunningServer, receiver: Receiver, name: str, **more: Any) -> str:
    deliver = f"fetch(f'{receiver.url}/{name}-{{event.uuid}}-{{inputs.token}}', {{}})"
    body: dict[str, Any] = {
        "type": "destination", "name": name, "enabled": True, "hog": deliver,
        "inputs_schema": SCHEMA, "inputs": {"token": {"value": f"s3cret-{name}"}},
        "filters": {"events": [{"id": "e", "type": "events"}]}, **more,
    }  # fmt: skip
    answer = server.client.post(FUNCTIONS, json=body)
    answer.raise_for_status()
    return answer.json()["id"]


def _encrypt_with(key: str, other: str, server: RunningServer, functions: list[str]) -> None:
    """As if the functions had been saved by a server with the key ``other``."""
    with sqlite3.connect(server.data_dir / "hoglet.db") as database:
        for function in functions:
            parameters = (function.replace("-", ""),)
            (text,) = database.execute(
                "SELECT secrets FROM hog_functions WHERE id = ?", parameters
            ).fetchone()
            changed = Fernet(other).encrypt(Fernet(key).decrypt(text)).decode()
            database.execute(
                "UPDATE hog_functions SET secrets = ? WHERE id = ?", (changed, *parameters)
            )


def _wait_for(happened: Callable[[], bool], server: RunningServer) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, server.log()[-3000:]
        time.sleep(0.2)


def _refuses_test_runs(server: RunningServer, function: str) -> None:
    """A test run would send a request without its secret; one that brings all secrets may run."""
    event = {"event": "e", "uuid": "0193e8c6-0000-7000-8000-000000000002", "distinct_id": "u"}
    body: dict[str, Any] = {"globals": {"event": event}, "mock_async_functions": False}
    for changes in ({}, {"configuration": {"name": "x"}}):
        answer = server.client.post(f"{FUNCTIONS}{function}/invocations", json=body | changes)
        assert answer.json()["status"] == "error", answer.text
        assert "encrypted with a key that is not configured" in str(answer.json()["errors"])
    given = {"configuration": {"inputs": {"token": {"value": "new"}}}, "mock_async_functions": True}
    answer = server.client.post(f"{FUNCTIONS}{function}/invocations", json=body | given)
    assert answer.json()["status"] == "success", answer.text


def test_deliveries_without_a_key_become_dead_letters_and_go_once_it_is_back(tmp_path: Path):
    known, lost = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    receiver = Receiver()
    server = RunningServer(tmp_path / "data", secret_keys=known).start()
    try:
        readable = _make(server, receiver, "readable")
        unreadable = _make(server, receiver, "unreadable")
        masked = _make(
            server, receiver, "masked", masking={"ttl": 60, "hash": "{event.distinct_id}"}
        )
        program = "let e := event; e.properties.seen := inputs.token; return e"
        transformation = _make(
            server, receiver, "transformation", type="transformation", hog=program
        )
        server.stop()
        _encrypt_with(known, lost, server, [unreadable, masked, transformation])
        server.start()
        uuid = "0193e8c6-0000-7000-8000-000000000001"
        batch = [{"event": "e", "distinct_id": "u", "uuid": uuid}]
        body = {"api_key": TOKEN, "batch": batch}
        assert server.client.post("/batch/", json=body).status_code == 200

        def dead_letters(function: str) -> list[dict[str, Any]]:
            return server.client.get(f"{FUNCTIONS}{function}/dead_letters").json()["results"]

        def totals(function: str) -> dict[str, int]:
            path = f"{FUNCTIONS}{function}/metrics/totals?breakdown_by=name"
            return server.client.get(path).json()["totals"]

        def errors(function: str) -> list[str]:
            response = server.client.get(f"{FUNCTIONS}{function}/logs?level=error").json()[
                "results"
            ]
            return [line["message"] for line in response]

        _wait_for(lambda: len(receiver.arrivals) == 1, server)
        assert list(receiver.arrivals) == [f"readable-{uuid}-s3cret-readable"]
        assert dead_letters(readable) == []
        for function in (unreadable, masked):
            _wait_for(lambda value=function: len(errors(value)) == 1, server)
            (letter,) = dead_letters(function)
            assert (letter["class"], letter["event_uuid"]) == ("inputs", uuid)
            assert "encrypted with a key that is not configured" in letter["error"]
            assert "encrypted with a key that is not configured" in errors(function)[0]
            assert totals(function) == {"inputs_failed": 1, "dead_lettered": 1}
        assert "encrypted with a key that is not configured" in errors(transformation)[0]
        for function in (unreadable, masked, transformation):
            _refuses_test_runs(server, function)
        assert len(receiver.arrivals) == 1
        assert "secrets_unreadable" in server.log()

        server.stop()
        server.environment["HOGLET_SECRET_KEYS"] = f"{known},{lost}"
        server.start()
        for function in (unreadable, masked):
            redrive = f"{FUNCTIONS}{function}/dead_letters/redrive"
            assert server.client.post(redrive, json={"all": True}).json()["queued"] == 1
        _wait_for(lambda: len(receiver.arrivals) == 3, server)
        assert set(receiver.arrivals) == {
            f"{name}-{uuid}-s3cret-{name}" for name in ("readable", "unreadable", "masked")
        }
    finally:
        server.stop()
        receiver.close()
