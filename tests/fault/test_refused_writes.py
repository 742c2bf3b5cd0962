"""Files that cannot grow, as on a full disk, without permission to mount one.

The processes of a running server are given a limit on the size of files (``ulimit -f``): every
write beyond it fails, whichever file it is. The log is such a file, too.
"""

import resource
from pathlib import Path

import pytest

from support.accepted import Accepted
from support.receiver import Receiver
from support.server import RunningServer

FEW_BYTES = 4096  # every database, log and part is larger


def started(folder: Path) -> RunningServer:
    """A server that writes no bytecode: a cut-off file of it would break later starts."""
    server = RunningServer(folder)
    server.environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return server.start()


def processes_of(server: RunningServer) -> list[int]:
    """The server and its workers."""
    assert server.process is not None
    parents = {
        int(path.parent.name): int(path.read_text().rpartition(")")[2].split()[1])
        for path in Path("/proc").glob("[0-9]*/stat")
    }
    pids = [server.process.pid]
    for pid in pids:
        pids += [child for child, parent in parents.items() if parent == pid]
    return pids


def limit_files(server: RunningServer, size: int) -> None:
    """Let files of the server grow to so many bytes; workers may write none anyway."""
    for pid in processes_of(server):
        _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        if hard == resource.RLIM_INFINITY:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


@pytest.mark.slow
def test_files_that_cannot_grow_lose_nothing(tmp_path: Path, receiver: Receiver) -> None:
    server = started(tmp_path / "data")
    try:
        accepted = Accepted(server, receiver)
        for _ in range(5):
            assert accepted.send() == 200
        limit_files(server, FEW_BYTES)
        assert {accepted.send(padding=2000) for _ in range(20)} == {503}
        assert server.client.get("/_health").status_code == 200
        assert server.client.get("/_readyz").status_code == 503
        limit_files(server, resource.RLIM_INFINITY)
        assert accepted.send() == 200
        accepted.assert_all_there()
        assert server.client.get("/_readyz").status_code == 200
    finally:
        assert server.stop() == 0


@pytest.mark.slow
def test_a_server_killed_while_files_cannot_grow(tmp_path: Path, receiver: Receiver) -> None:
    server = started(tmp_path / "data")
    try:
        accepted = Accepted(server, receiver)
        for _ in range(20):
            assert accepted.send() == 200
        # With an insert under way, the kill would leave a broken part: the server drops it only
        # once there is space, and a start with one is refused.
        accepted.assert_all_there()
        limit_files(server, FEW_BYTES)
        for _ in range(5):
            accepted.send(padding=2000)
        server.kill()
        server.start()
        assert accepted.send() == 200
        accepted.assert_all_there()
    finally:
        assert server.stop() == 0
