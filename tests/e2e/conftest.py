"""A server that modules share, with a project of its own for each.

Modules that kill, stop or configure a server, or ask what it knows of all projects, start one of
their own: their fixture ``server`` hides this one.
"""

from collections.abc import Generator

import pytest

from support.server import RunningServer, ServerProject


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """One for each worker of a test run. Its first project is not empty: two modules use it."""
    running = RunningServer(tmp_path_factory.mktemp("shared") / "data").start()
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="module")
def server(
    shared_server: RunningServer, request: pytest.FixtureRequest
) -> Generator[ServerProject]:
    """A new project of the module on the shared server."""
    project = ServerProject(shared_server, request.module.__name__)
    yield project
    project.client.close()
