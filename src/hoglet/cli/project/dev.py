"""``hoglet dev``: runs a server for a project's files; pushes and tests them on every save."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.error_handling import BadUsage, print_error
from hoglet.cli.project.sync import Folder
from hoglet.cli.project.tests import snapshot
from hoglet.cli.server.api_client import ApiClient
from hoglet.cli.tail import print_event, recent_events
from hoglet.kit.errors import HogletError

_START_SECONDS = 120
_POLL_SECONDS = 0.5
_COLOURS = {"WARN": "yellow", "ERROR": "red", "DEBUG": "dim"}


def dev(
    folder: Folder = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for a free port.")] = 8000,
    no_tests: Annotated[bool, typer.Option("--no-tests", help="Do not run the tests.")] = False,
) -> None:
    """Serve a project from a temporary folder; push and test its files whenever they change.

    Shows events and log lines of functions live. Ctrl-C stops the server and deletes its data.
    """
    from hoglet.project_files.folder import find_project

    project = find_project(folder)
    console = Console(highlight=False, soft_wrap=True)
    with TemporaryDirectory(prefix="hoglet-dev-") as data, _server(Path(data), port) as server:
        console.print(f"hoglet serves {project.resolve().name} at [bold]{server.url}[/]")
        console.print(f"  project token     {server.token}")
        console.print(f"  personal API key  {server.key}")
        with contextlib.suppress(KeyboardInterrupt):
            _Session(project, ApiClient(server.url, server.key), console).run(tests=not no_tests)


class _Server:
    """The server of a session: its address and keys."""

    def __init__(self, port: int) -> None:
        self.port = port or _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.key = f"phx_{secrets.token_hex(20)}"
        self.token = f"phc_{secrets.token_hex(20)}"


@contextlib.contextmanager
def _server(data: Path, port: int) -> Generator[_Server]:
    """Start a server as a child process, on a new data folder with default settings.

    Raises:
        BadUsage: it did not start; the message contains its output.
        StartupFault: the port is in use.
    """
    from hoglet.app.http.listener import check_free

    server = _Server(port)
    check_free("127.0.0.1", server.port)  # another server there would receive the requests
    environment = {
        name: text for name, text in os.environ.items() if not name.startswith("HOGLET_")
    }
    environment |= {
        "HOGLET_BOOTSTRAP_PERSONAL_API_KEY": server.key,
        "HOGLET_BOOTSTRAP_PROJECT_TOKEN": server.token,
    }
    words = ["serve", "--port", str(server.port), "--data-dir", str(data / "data")]
    log = data / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "hoglet", *words],
            env=environment,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C goes to this process, which stops the server
        )
    try:
        if not _is_up(server.url, process):
            raise BadUsage(f"The server did not start: {log.read_text(errors='replace').strip()}")
        yield server
    finally:
        process.terminate()
        process.wait()


def _is_up(url: str, process: "subprocess.Popen[bytes]") -> bool:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/_health", timeout=5).close()  # noqa: S310 (our own)
        except OSError:
            time.sleep(0.1)
        else:
            return True
    return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class _Session:
    """A session until Ctrl-C."""

    def __init__(self, project: Path, client: ApiClient, console: Console) -> None:
        self._project = project
        self._client = client
        self._console = console
        self._events: set[str] = set()
        self._lines: set[tuple[str, str, str]] = set()

    def run(self, *, tests: bool) -> None:
        """Push and test on every change; show events and log lines live."""
        seen: dict[Path, float] | None = None
        while True:
            present = snapshot(self._project)
            if present != seen:
                seen = present
                if self._push() and tests:
                    self._test()
            self._show_events()
            self._show_lines()
            time.sleep(_POLL_SECONDS)

    def _push(self) -> bool:
        """Push the files; errors are printed, and the next save tries again."""
        from hoglet.project_files.error_locations import located
        from hoglet.project_files.folder import read_folder
        from hoglet.project_files.plan import check_code, make_plan, secret_variables
        from hoglet.project_files.push import PushFailed, push
        from hoglet.project_files.server_project import ServerProject

        try:
            files = read_folder(self._project)
            check_code(files)
            for name in secret_variables(files):  # a placeholder, so that the function can run
                os.environ.setdefault(name, name)
            server = ServerProject(self._client)
            plan = make_plan(server.project, files, prune=True)
            try:
                push(server, plan)
            except PushFailed as failed:
                raise located(failed, self._project, files) from None
        except HogletError as error:
            print_error(error.detail)
            return False
        for change in plan.changes:
            self._console.print(Text(f"applied: {change}", style="green"))
        return True

    def _test(self) -> None:
        """Run the tests in a child process: a process can have one embedded warehouse."""
        words = ["test", "-C", str(self._project)]
        process = subprocess.Popen(
            [sys.executable, "-m", "hoglet", *words],
            start_new_session=True,  # else it would get Ctrl-C twice, and stop cleaning up
        )
        try:
            process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.wait()  # it deletes its temporary folder
            raise

    def _show_events(self) -> None:
        for event in recent_events(self._client):
            if event["uuid"] not in self._events:
                self._events.add(event["uuid"])
                print_event(self._console, event)

    def _show_lines(self) -> None:
        for function in self._client.every("/hog_functions/", types="destination,transformation"):
            path = f"/hog_functions/{function['id']}/logs?limit=50"
            for line in reversed(self._client.call("GET", path)["results"]):
                key = (line["timestamp"], line["instance_id"], line["message"])
                if key not in self._lines:
                    self._lines.add(key)
                    text = f"{line['timestamp'][:23]} {function['name']}: {line['message']}"
                    self._console.print(Text(text, style=_COLOURS.get(line["level"], "")))
