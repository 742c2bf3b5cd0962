"""kill -9 of a server at each step between an accepted request and a recorded delivery.

While events are sent, a server dies at one step after another and is started again. Whatever the
spool: nothing that was accepted is lost, nothing is stored twice, deliveries are repeated only
under their id, and the events of a distinct id keep their order.
"""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from support.accepted import add_destination
from support.dying_server import AFTER_THE_GROUP, OF_THE_LOG, STEPS, VARIABLE
from support.nats_server import NatsServer
from support.ordered_sender import OrderedSender
from support.receiver import Receiver
from support.server import RunningServer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SECONDS = 240  # until a server reaches a step
BROKER_STEPS = ("range fixed", "block inserted", "runs enqueued, not committed", "not trimmed")


class DyingServer(RunningServer):
    """A server that kills itself, or one of its processes, at a step."""

    module = "support.dying_server"

    def __init__(self, data_dir: Path, **settings: str) -> None:
        super().__init__(data_dir, **settings)
        paths = [str(ROOT), self.environment.get("PYTHONPATH", "")]
        self.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))

    def start_until(self, step: str = "", *, process: int | None = None) -> None:
        """Start the server, which dies at the second call of the step; without a step, never."""
        number = f"{step}:2" if process is None else f"{step}:2:{process}"
        self.environment[VARIABLE] = number if step else ""
        self.start()

    def wait_for_death(self, step: str) -> None:
        """Wait until the server has died at the step."""
        assert self.process is not None
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"never came to: {step}"
            time.sleep(0.05)
        assert self.process.returncode == -9, self.log()[-3000:]


def _die_at_each(server: DyingServer, steps: list[str]) -> None:
    for step in steps:
        server.start_until(step)
        server.wait_for_death(step)


def test_one_server_on_sqlite(tmp_path: Path, receiver: Receiver) -> None:
    server = DyingServer(tmp_path / "data")
    server.start_until()
    add_destination(server, f"{receiver.url}/{{event.uuid}}")
    server.stop()
    sender = OrderedSender([server])
    sender.start()
    try:
        _die_at_each(server, [step for step in STEPS if step not in OF_THE_LOG])
        server.start_until()
        sender.stop()
        sender.assert_stored(server, receiver)
    finally:
        server.stop()


def _kill_one_of_two(
    folder: Path, shared: dict[str, Any], receiver: Receiver, steps: list[str]
) -> None:
    mortal, other = (DyingServer(folder / name, **shared) for name in ("mortal", "other"))
    other.start_until()
    try:
        add_destination(other, f"{receiver.url}/{{event.uuid}}")
        sender = OrderedSender([mortal, other])
        sender.start()
        _die_at_each(mortal, steps)
        sender.stop()
        sender.assert_stored(other, receiver)
    finally:
        other.stop()


def test_two_servers_on_postgres(
    tmp_path: Path, shared: dict[str, Any], receiver: Receiver
) -> None:
    _kill_one_of_two(tmp_path, shared, receiver, list(STEPS))


def test_two_servers_on_nats(
    tmp_path: Path, shared: dict[str, Any], receiver: Receiver, own_nats: NatsServer
) -> None:
    steps = [step for step in STEPS if step not in AFTER_THE_GROUP]
    _kill_one_of_two(
        tmp_path, shared | {"spool_url": own_nats.url() + "?keep_seconds=0"}, receiver, steps
    )


def test_the_broker_dies_at_the_steps_that_need_it(
    tmp_path: Path, shared: dict[str, Any], receiver: Receiver, own_nats: NatsServer
) -> None:
    shared["spool_url"] = own_nats.url() + "?keep_seconds=0"  # trims are among the steps
    mortal, other = (DyingServer(tmp_path / name, **shared) for name in ("mortal", "other"))
    other.start_until()
    try:
        add_destination(other, f"{receiver.url}/{{event.uuid}}")
        sender = OrderedSender([mortal, other])
        sender.start()
        for step in BROKER_STEPS:
            mortal.start_until(step, process=own_nats.process_id)
            own_nats.wait_for_death(SECONDS)
            own_nats.start()
            mortal.kill()
        sender.stop()
        sender.assert_stored(other, receiver)
    finally:
        other.stop()
