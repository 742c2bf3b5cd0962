"""Service managers wait longer than a stop takes: docs/adr/0074-bounded-stop.md."""

import re
from pathlib import Path

import pytest

from hoglet.app.http.stop_limit import LIMIT_SECONDS
from hoglet.app.workers import STOP_SECONDS
from hoglet.pipeline.delivery import executor

ROOT = Path(__file__).parents[2]
UNITS = ["deploy/hoglet.service", "compose.yaml", "compose.cluster.yaml"]


@pytest.mark.parametrize("name", UNITS)
def test_service_managers_wait_for_the_drain_and_the_stop(name: str) -> None:
    text = (ROOT / name).read_text()
    (waits,) = re.findall(r"(?:TimeoutStopSec=|stop_grace_period: )(\d+)", text)
    drain = sum(map(int, re.findall(r'HOGLET_DRAIN_SECONDS: "(\d+)"', text)))

    assert int(waits) >= drain + LIMIT_SECONDS + 5


def test_the_documented_times_are_those_of_the_code() -> None:
    text = (ROOT / "docs/operating.md").read_text()

    assert f"at most {LIMIT_SECONDS:.0f} seconds" in text
    assert f"for {executor.STOP_SECONDS:.0f} seconds" in text
    assert executor.STOP_SECONDS < STOP_SECONDS < LIMIT_SECONDS
