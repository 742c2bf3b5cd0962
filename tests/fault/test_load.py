"""Many functions, many events, a receiver that fails one request in ten; then with kills.

Sizes come from the environment; ``make load`` runs 100,000 events, 50 kills.
"""

import json
import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from support.flaky_receiver import FlakyReceiver
from support.load import Killer, LoadFlow
from support.server import RunningServer

FUNCTIONS = 200
MATCHING = 20
EVENTS = int(os.environ.get("LOAD_EVENTS", "2000"))
KILLS = int(os.environ.get("LOAD_KILLS", "6"))
STANDSTILL_S = 120  # a receiver's Retry-After and backoff are far shorter

pytestmark = pytest.mark.slow


@pytest.fixture
def flow(tmp_path: Path) -> Generator[LoadFlow]:
    receiver = FlakyReceiver(tmp_path / "arrivals.txt")
    server = RunningServer(tmp_path / "data").start()
    try:
        yield LoadFlow(server, receiver, functions=FUNCTIONS, matching=MATCHING, events=EVENTS)
    finally:
        server.stop()
        receiver.close()


def _print_figures(flow: LoadFlow, began: float, **more: object) -> None:
    """Figures of the run; seen with ``pytest -s``."""
    outcomes = dict(flow.receiver.arrivals().outcomes)
    seconds = round(time.monotonic() - began, 1)
    print(json.dumps({"events": EVENTS, "seconds": seconds, "receiver": outcomes, **more}))  # noqa: T201


def test_every_matching_event_is_delivered(flow: LoadFlow):
    began = time.monotonic()
    flow.send()
    flow.wait(STANDSTILL_S)
    failed = sum(flow.receiver.arrivals().outcomes.values()) - len(flow.uuids)
    _print_figures(flow, began, retried=flow.counted("retried"))
    flow.check()
    # A slow machine may give up a request (3 s) that the receiver had just answered.
    assert abs(flow.counted("retried") - failed) <= failed * 0.01


def test_every_matching_event_is_delivered_whatever_is_killed(flow: LoadFlow):
    killer = Killer(flow.server, kills=KILLS, longest_pause=max(3.0, EVENTS / 5000))
    began = time.monotonic()
    killer.start()
    flow.send()
    killer.join()
    flow.wait(STANDSTILL_S)
    _print_figures(flow, began, kills=killer.done)
    flow.check()
