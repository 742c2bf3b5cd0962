"""kill -9 of a server at each step between an accepted request and a recorded delivery.

While events are sent, a server dies at one step after another and is started again. Whatever the
spool: nothing that was accepted is lost, nothing is stored twice, deliveries are repeated only
under their id, and the events of a distinct id keep their order.
"""

from pathlib import Path
from typing import Any

import pytest

from support.accepted import add_destination
from support.dying_server import AFTER_THE_GROUP, OF_THE_LOG, STEPS
from support.mortal_server import DyingServer
from support.nats_server import NatsServer
from support.ordered_sender import OrderedSender
from support.receiver import Receiver

pytestmark = pytest.mark.slow

SECONDS = 240  # until the broker reaches a step
BROKER_STEPS = ("range fixed", "block inserted", "runs enqueued, not committed", "not trimmed")


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
