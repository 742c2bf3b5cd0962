"""A full disk: nothing is accepted that cannot be stored, and nothing accepted is lost.

The log is on the same disk, as with ``hoglet serve 2> data/server.log``: a line that cannot be
written must not end what it is about.
"""

import time

import pytest

from support.accepted import Accepted
from support.receiver import Receiver
from support.server import RunningServer
from support.small_disk import SmallDisk

pytestmark = pytest.mark.slow


def ready_status(server: RunningServer) -> int:
    return server.client.get("/_readyz").status_code


def test_a_disk_that_is_full_at_once(disk: SmallDisk, receiver: Receiver) -> None:
    server = RunningServer(disk.folder / "data").start()
    try:
        accepted = Accepted(server, receiver)
        for _ in range(10):
            assert accepted.send() == 200
        disk.fill()
        assert {accepted.send(padding=2000) for _ in range(50)} == {503}
        assert server.client.get("/_health").status_code == 200
        assert ready_status(server) == 503
        disk.free()
        assert accepted.send() == 200
        accepted.assert_all_there()
        assert ready_status(server) == 200
    finally:
        assert server.stop() == 0


@pytest.mark.slow
def test_a_disk_that_fills_up_under_load(disk: SmallDisk, receiver: Receiver) -> None:
    """Some batches are accepted that the warehouse cannot take yet."""
    server = RunningServer(disk.folder / "data").start()
    try:
        accepted = Accepted(server, receiver)
        assert accepted.send() == 200
        disk.fill(leaving=4 * 1024**2)
        while accepted.send(padding=2000) == 200:
            assert accepted.statuses[200] < 1000
        for _ in range(20):
            accepted.send(padding=2000)
        assert accepted.statuses.keys() <= {200, 503}
        time.sleep(5)  # the workers fail, and are started again, more than once
        disk.free()
        accepted.assert_all_there()
    finally:
        assert server.stop() == 0


@pytest.mark.slow
def test_a_disk_that_is_full_in_the_middle_of_inserts(disk: SmallDisk) -> None:
    """The engine does not report it, so that groups are inserted again; see ``disk_space``."""
    server = RunningServer(disk.folder / "data").start()
    try:
        accepted = Accepted(server)
        for _ in range(3):
            assert {accepted.send(padding=2000) for _ in range(20)} == {200}
            disk.fill()
            while accepted.send(padding=2000) == 200:
                pass
            disk.free()
        accepted.assert_all_there()
    finally:
        assert server.stop() == 0
    server.start()
    try:
        accepted.assert_all_there()
    finally:
        assert server.stop() == 0


@pytest.mark.slow
def test_a_server_killed_on_a_full_disk(disk: SmallDisk, receiver: Receiver) -> None:
    server = RunningServer(disk.folder / "data").start()
    accepted = Accepted(server, receiver)
    disk.fill(leaving=4 * 1024**2)
    while accepted.send(padding=2000) == 200:
        assert accepted.statuses[200] < 1000
    server.kill()
    disk.free()
    server.start()
    try:
        assert accepted.send() == 200
        accepted.assert_all_there()
    finally:
        assert server.stop() == 0
