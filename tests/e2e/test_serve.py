"""Starting, double-starting and stopping a server."""

import asyncio
import subprocess
import sys
import time

import aiohttp
import pytest

from support.server import KEY, TOKEN, RunningServer


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    yield running
    if running.process.poll() is None:
        running.stop()


def test_health_ready_and_metrics_answer_without_a_key(server):
    for path in ("/_health", "/_readyz", "/metrics"):
        assert server.client.get(path, headers={"Authorization": ""}).status_code == 200


def test_the_first_start_tells_the_address_and_no_key_that_was_given(server):
    log = server.log()

    assert server.url.replace("127.0.0.1", "localhost") in log
    assert TOKEN not in log
    assert KEY not in log


def test_a_second_server_on_the_folder_is_refused_with_a_reason(server):
    command = [sys.executable, "-m", "hoglet", "serve", "--port", "0"]
    second = subprocess.run(
        command, env=server.environment, capture_output=True, text=True, timeout=60, check=False
    )

    assert second.returncode == 2
    assert "in use" in second.stderr


def test_sigterm_stops_it_with_status_0_and_it_starts_again(server):
    assert server.stop() == 0

    server.start()
    assert server.client.get("/api/users/@me/").status_code == 200


async def test_open_pages_are_disconnected_before_it_stops(server):
    if server.process.poll() is not None:
        server.start()
    pages = server.url.replace("http", "ws") + "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"

    async with aiohttp.ClientSession() as session, session.ws_connect(pages) as page:
        await page.receive()
        server.process.terminate()
        while not page.closed:
            await page.receive()

    assert page.close_code == 1000  # without a closing handshake, it is 1006
    assert await asyncio.to_thread(server.process.wait) == 0


def test_a_project_shows_that_events_have_arrived(server):
    if server.process.poll() is not None:
        server.start()
    project = server.client.get("/api/projects/1/").json()
    assert project["ingested_event"] is False

    event = {"api_key": TOKEN, "event": "first", "distinct_id": "ada"}
    assert server.client.post("/e/", json=event).status_code == 200
    for _ in range(100):
        project = server.client.get("/api/projects/1/").json()
        if project["ingested_event"]:
            return
        time.sleep(0.1)
    raise AssertionError("the project still shows no events")


def test_it_drains_before_it_stops(tmp_path):
    running = RunningServer(tmp_path / "data", drain_seconds="60").start()
    try:
        running.process.terminate()
        deadline = time.monotonic() + 30
        while (ready := running.client.get("/_readyz")).status_code == 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert ready.json()["checks"]["drain"] == "the server is stopping"
        event = {"api_key": TOKEN, "event": "late", "distinct_id": "ada"}
        assert running.client.post("/e/", json=event).status_code == 200
        assert running.client.get("/_health").status_code == 200
    finally:
        assert running.stop() == 0  # a second signal does not wait for the minute
