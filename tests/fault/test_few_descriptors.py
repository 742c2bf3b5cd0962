"""A server that runs out of file descriptors keeps responding, and recovers."""

import resource
import time
from pathlib import Path

import httpx
import pytest

from support.accepted import SECONDS, Accepted
from support.receiver import Receiver
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.slow

FEW = 64  # fewer than an idle server has open


def test_descriptors_that_run_out(tmp_path: Path, receiver: Receiver) -> None:
    if not hasattr(resource, "prlimit"):
        pytest.skip("the limits of another process can be changed on Linux only")
    server = RunningServer(tmp_path / "data").start()
    assert server.process is not None
    before = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    try:
        accepted = Accepted(server, receiver)
        assert accepted.send() == 200
        with httpx.Client(base_url=server.url, timeout=60) as client:  # a connection that is open
            assert client.get("/_health").status_code == 200
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (FEW, before[1]))
            statuses: list[int] = []
            for number in range(30):
                event_uuid = f"00000000-0000-4000-8000-{number:012}"
                event = {"api_key": TOKEN, "event": "e", "distinct_id": "a", "uuid": event_uuid}
                try:
                    statuses.append(client.post("/i/v0/e/", json=event).status_code)
                except httpx.TransportError:
                    statuses.append(0)
                if statuses[-1] == 200:
                    accepted.answered.add(event_uuid)
            assert set(statuses) <= {0, 200, 503}
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, before)
        assert accepted.send() == 200
        accepted.assert_all_there()
        deadline = time.monotonic() + SECONDS
        while (ready := server.client.get("/_readyz").status_code) != 200:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        assert ready == 200
    finally:
        assert server.stop() == 0
