"""``hoglet functions logs -f`` on a real server: new lines, Ctrl-C, shutdown without delay."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.server import KEY, TOKEN, RunningServer, ServerProject

FUNCTION = {
    "type": "destination",
    "name": "Say",
    "enabled": True,
    "hog": "print('saw', event.distinct_id)",
    "filters": {"events": [{"id": "seen", "type": "events"}]},
}


def capture(server: RunningServer, distinct_id: str) -> None:
    event = {"event": "seen", "distinct_id": distinct_id}
    body = {"api_key": TOKEN, "batch": [event]}
    assert server.client.post("/batch/", json=body).status_code == 200


def _can_be_interrupted() -> None:
    """Shells that run the tests in the background make their children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def follow(server: RunningServer, function_id: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "hoglet", "functions", "logs", "-f", function_id],
        env=os.environ | {"HOGLET_URL": server.url, "HOGLET_API_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_can_be_interrupted,  # noqa: PLW1509 (nothing else runs in this process)
    )


def wait_for_line(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"{text} never came: {process.stderr and process.stderr.read()}")


@pytest.mark.slow
def test_lines_are_followed_and_stopping_does_not_wait(tmp_path: Path) -> None:
    server = RunningServer(tmp_path).start()
    following: subprocess.Popen[str] | None = None
    try:
        created: Any = server.client.post("/api/projects/1/hog_functions/", json=FUNCTION).json()
        path = f"/api/projects/1/hog_functions/{created['id']}/logs"
        capture(server, "ada")
        following = follow(server, created["id"])  # its line may be on its way just now
        wait_for_line(following, "saw, ada")
        capture(server, "grace")
        wait_for_line(following, "saw, grace")

        with server.client.stream("GET", path + "/stream") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert server.stop() == 0  # gives up after a minute; the stream alone would not end

        server.start()
        capture(server, "lin")
        wait_for_line(following, "saw, lin")
        following.send_signal(signal.SIGINT)
        assert following.wait(timeout=10) == 0
        assert following.stderr is not None
        assert following.stderr.read() == ""
    finally:
        if following is not None:
            following.kill()
        server.stop()


def test_a_new_line_reaches_whoever_follows(server: ServerProject) -> None:
    functions = "/api/projects/@current/hog_functions/"
    created: Any = server.client.post(functions, json=FUNCTION).json()
    event = {"event": "seen", "distinct_id": "ada"}
    with server.client.stream("GET", f"{functions}{created['id']}/logs/stream") as stream:
        batch = {"api_key": server.token, "batch": [event]}
        assert server.client.post("/batch/", json=batch).status_code == 200
        assert next(line for line in stream.iter_lines() if "saw, ada" in line)


def test_a_stream_is_refused_like_any_other_request(server: ServerProject) -> None:
    functions = "/api/projects/@current/hog_functions/"
    some_id = "01890000-0000-7000-8000-000000000000"
    unknown = server.client.get(f"{functions}{some_id}/logs/stream")
    created: Any = server.client.post(functions, json=FUNCTION).json()
    path = f"{functions}{created['id']}/logs/stream"
    bad_id = server.client.get(path, headers={"Last-Event-ID": "x"})

    assert unknown.status_code == 404
    assert (bad_id.status_code, bad_id.json()["attr"]) == (400, "Last-Event-ID")
