"""The server as an operator meets it: start, second start, stop."""

import subprocess
import sys

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


def test_the_first_start_tells_address_token_and_key(server):
    log = server.log()

    assert server.url.replace("127.0.0.1", "localhost") in log
    assert TOKEN in log
    assert KEY in log


def test_a_second_server_on_the_folder_is_refused_with_a_reason(server):
    command = [sys.executable, "-m", "hoglet.cli.main", "serve", "--port", "0"]
    second = subprocess.run(
        command, env=server.environment, capture_output=True, text=True, timeout=60, check=False
    )

    assert second.returncode == 1
    assert "in use" in second.stderr


def test_sigterm_stops_it_with_status_0_and_it_starts_again(server):
    assert server.stop() == 0

    server.start()
    assert server.client.get("/api/users/@me/").status_code == 200
