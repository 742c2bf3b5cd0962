"""Backup of a server under load, and a server on the restored data."""

import socket
import struct
import subprocess
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Self

import httpx
import pytest

from support.hoglet_process import HogletProcess, run_hoglet
from support.receiver import Receiver
from support.server import KEY, TOKEN, RunningServer
from support.small_disk import small_disk
from support.waiting import wait_for

SECONDS = 120
_QUERY = "/api/projects/1/query/"


def hoglet(server: RunningServer, *words: str) -> subprocess.CompletedProcess[str]:
    return run_hoglet(*words, env=server.environment, timeout=SECONDS)


def start(server: RunningServer, *words: str) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return HogletProcess(words, env=server.environment, **pipes)


class Sender:
    """Sends events until it is stopped, and knows which were accepted, and when."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.accepted: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        with httpx.Client(timeout=30) as client:
            while not self._stopping.is_set():
                ids = [str(uuid.uuid4()) for _ in range(50)]
                batch = [
                    {"event": "sent", "distinct_id": f"u{index}", "uuid": id_,
                     "properties": {"$set": {"last": id_}}}
                    for index, id_ in enumerate(ids)
                ]  # fmt: skip
                answer = client.post(self._url + "/batch/", json={"api_key": TOKEN, "batch": batch})
                if answer.status_code == 200:
                    self.accepted.extend(ids)
                self._stopping.wait(
                    0.1
                )  # a request after the other costs seconds of processor time


def stored(server: RunningServer) -> list[str]:
    sql = "SELECT toString(uuid) FROM events WHERE event = 'sent' LIMIT 50000"
    query = {"kind": "HogQLQuery", "query": sql}
    answer = server.client.post(_QUERY, json={"query": query, "refresh": "force_blocking"})
    return [row[0] for row in answer.raise_for_status().json()["results"]]


def wait_until_stored(server: RunningServer, ids: set[str]) -> list[str]:
    deadline = time.monotonic() + SECONDS
    while not ids <= set(uuids := stored(server)) and time.monotonic() < deadline:
        time.sleep(0.3)
    return uuids


@pytest.fixture(scope="module")
def receiver():
    opened = Receiver()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory, receiver: Receiver):
    running = RunningServer(tmp_path_factory.mktemp("first") / "data").start()
    running.client.post(
        "/api/projects/1/hog_functions/",
        json={
            "type": "destination",
            "enabled": True,
            "filters": {"events": [{"id": "restored", "type": "events"}]},
            "hog": f"fetch('{receiver.url}/' || inputs.token)",
            "inputs_schema": [{"key": "token", "type": "string", "secret": True}],
            "inputs": {"token": {"value": "decrypted"}},
        },
    ).raise_for_status()
    yield running
    running.stop()


@pytest.mark.slow
def test_a_backup_under_load_is_the_state_of_one_moment(
    server: RunningServer, receiver: Receiver, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    with Sender(server.url) as sender:
        while len(sender.accepted) < 300:
            time.sleep(0.05)
        before = set(sender.accepted)
        done = hoglet(server, "backup", str(copy))
        assert done.returncode == 0, done.stderr
        while not set(sender.accepted) - before:  # it went on serving
            time.sleep(0.05)
    assert not list(server.data_dir.glob("backup-*"))
    restored = hoglet(server, "restore", str(copy), "--data-dir", str(tmp_path / "new"))
    assert restored.returncode == 0, restored.stderr

    second = RunningServer(tmp_path / "new").start()
    try:
        stored = wait_until_stored(second, before)
        assert before <= set(stored)
        assert len(stored) == len(set(stored))
        assert set(stored) <= set(sender.accepted)
        event = {"api_key": TOKEN, "event": "restored", "distinct_id": "ada"}
        second.client.post("/e/", json=event).raise_for_status()
        deadline = time.monotonic() + SECONDS
        while "decrypted" not in receiver.arrivals and time.monotonic() < deadline:
            time.sleep(0.2)
        assert "decrypted" in receiver.arrivals
    finally:
        second.stop()
    assert set(sender.accepted) <= set(wait_until_stored(server, set(sender.accepted)))


def test_a_staff_key_may_take_one_from_elsewhere_without_the_secret_key(
    server: RunningServer, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"

    done = hoglet(server, "backup", str(copy), "--url", server.url, "--key", KEY)

    assert done.returncode == 0, done.stderr
    assert "secret.key" in done.stdout
    assert {path.name for path in copy.iterdir()} == {"hoglet.db", "warehouse", "backup.json"}
    restored = hoglet(server, "restore", str(copy), "--data-dir", str(tmp_path / "new"))
    assert "secret.key" in restored.stdout


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer phx_wrong"},
                                     {"X-Hoglet-Local-Token": "wrong"}])  # fmt: skip
def test_nobody_else_gets_one(server: RunningServer, headers: dict[str, str]) -> None:
    assert httpx.post(server.url + "/_backup", headers=headers).status_code == 401


def test_a_key_with_fewer_rights_gets_none(server: RunningServer) -> None:
    body = {"label": "narrow", "scopes": ["*"], "scoped_teams": [1]}
    key = server.client.post("/api/personal_api_keys/", json=body).json()["value"]

    answer = httpx.post(server.url + "/_backup", headers={"Authorization": f"Bearer {key}"})

    assert answer.status_code == 403


def test_copies_are_closed_to_other_users(server: RunningServer, tmp_path: Path) -> None:
    copy, new = tmp_path / "copy", tmp_path / "new"
    assert hoglet(server, "backup", str(copy)).returncode == 0
    assert hoglet(server, "restore", str(copy), "--data-dir", str(new)).returncode == 0

    everything = [copy, new, *copy.rglob("*"), *new.rglob("*")]
    assert [path for path in everything if path.stat().st_mode & 0o077] == []


def test_a_folder_that_cannot_be_made_is_named(server: RunningServer, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    done = hoglet(server, "backup", str(file / "copy"))

    assert (done.returncode, done.stdout) == (1, "")
    assert f"{file / 'copy'} cannot be written (Not a directory)" in done.stderr


def test_a_disk_without_room_for_the_restored_folder_is_one_sentence(
    large: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "small").mkdir()
    copy = tmp_path / "copy"
    assert hoglet(large, "backup", str(copy)).returncode == 0

    with small_disk(tmp_path / "small") as disk:
        disk.fill(leaving=1024**2)
        new = disk.folder / "new"
        done = hoglet(large, "restore", str(copy), "--data-dir", str(new))
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert f"{new} cannot be written (No space left on device); it is" in done.stderr
        assert not new.exists()


def test_what_is_there_is_never_overwritten(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for folder in (tmp_path, tmp_path / "file"):
        refused = hoglet(server, "backup", str(folder))
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    refused = hoglet(server, "restore", str(tmp_path), "--data-dir", str(tmp_path / "new"))
    assert "is not a complete backup" in refused.stderr


def test_without_a_server_it_says_so(server: RunningServer, tmp_path: Path) -> None:
    refused = hoglet(server, "backup", str(tmp_path / "copy"), "--data-dir", str(tmp_path))

    assert refused.returncode == 2
    assert "No server is running on" in refused.stderr
    assert not (tmp_path / "copy").exists()


def test_an_archive_that_ends_early_is_no_backup(server: RunningServer, tmp_path: Path) -> None:
    with httpx.stream("POST", server.url + "/_backup", headers={"Authorization": f"Bearer {KEY}"}):
        pass  # the client goes away at once

    done = hoglet(server, "backup", str(tmp_path / "copy"))
    assert done.returncode == 0, done.stderr  # and the next one is not held up


@pytest.fixture
def large(server: RunningServer):
    """The data of the server is larger than what waits between it and a client."""
    filler = server.data_dir / "warehouse" / "filler"
    filler.write_bytes(bytes(64 * 1024**2))
    yield server
    filler.unlink()


def test_a_client_that_leaves_in_the_middle_holds_up_no_other(
    large: RunningServer, tmp_path: Path
) -> None:
    for _ in range(2):
        with _asked_for_a_backup(large) as connection:
            received = 0
            while received < 1024**2:
                received += len(connection.recv(65_536))
        wait_for(lambda: not list(large.data_dir.glob("backup-*")))

    done = hoglet(large, "backup", str(tmp_path / "copy"))
    assert done.returncode == 0, done.stderr


def test_two_commands_do_not_write_to_one_folder(large: RunningServer, tmp_path: Path) -> None:
    partial = tmp_path / "copy.partial"
    with _asked_for_a_backup(large) as connection:
        proxy = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        words = ("backup", str(tmp_path / "copy"), "--url", url, "--key", KEY)
        first = start(large, *words)
        answered, _ = proxy.accept()
        answered.sendall(connection.recv(1024**2))
        wait_for(partial.exists)
        second = start(large, *words)
        other, _ = proxy.accept()
        other.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        refused = second.communicate(timeout=SECONDS)[1]
        assert second.returncode == 2, refused
        assert refused.count("\n") == 1
        assert "Another command is writing to" in refused
        assert partial.exists()
        answered.close()
        first.communicate(timeout=SECONDS)

    done = hoglet(large, "backup", str(tmp_path / "copy"))
    assert done.returncode == 0, done.stderr
    assert not partial.exists()


@pytest.mark.parametrize("seconds", [None, 0], ids=["closed", "reset"])
def test_a_server_that_is_killed_meanwhile_is_one_sentence(
    server: RunningServer, tmp_path: Path, seconds: int | None
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as killed:
        url = f"http://127.0.0.1:{killed.getsockname()[1]}"
        words = ("backup", str(tmp_path / "copy"), "--url", url, "--key", KEY)
        command = start(server, *words)
        connection, _ = killed.accept()
        with connection:
            while not connection.recv(65_536).endswith(b"\r\n\r\n"):
                """Unread bytes would reset the connection in either case."""
            if seconds is not None:
                linger = struct.pack("ii", 1, seconds)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n" + bytes(512)
            )
        errors = command.communicate(timeout=SECONDS)[1]

    assert (command.returncode, errors.count("\n")) == (1, 1), errors
    assert "The backup ended early (the server closed the connection)" in errors
    assert not (tmp_path / "copy").exists()


def test_a_client_that_leaves_before_the_response_leaves_nothing(
    server: RunningServer, tmp_path: Path
) -> None:
    for _ in range(3):
        with _asked_for_a_backup(server):
            wait_for(lambda: list(server.data_dir.glob("backup-*")))
        wait_for(lambda: not list(server.data_dir.glob("backup-*")))

    done = hoglet(server, "backup", str(tmp_path / "copy"))
    assert done.returncode == 0, done.stderr


def _asked_for_a_backup(server: RunningServer) -> socket.socket:
    request = f"POST /_backup HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.sendall(request.encode())
    return connection
