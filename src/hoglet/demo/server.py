"""The demo's server: ``hoglet serve`` in its own process."""

import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from hoglet.app.http.listener import check_free
from hoglet.kit.errors import HogletError

START_SECONDS = 60


class ServerFailed(HogletError):
    """The demo's server did not start; see its log."""

    code = "demo_server_failed"
    blame = "operator"


class DemoServer:
    """``hoglet serve`` on a data folder, stopped with SIGTERM at the end."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self.data_dir = data_dir
        self.port = port or _free_port()
        check_free("127.0.0.1", self.port)  # another hoglet on the port would answer in its place
        self.url = f"http://127.0.0.1:{self.port}"
        self.key = "phx_" + secrets.token_urlsafe(24)
        self.token = "phc_demo" + secrets.token_hex(16)
        self.seconds_to_ready = 0.0
        self._log = (data_dir / "server.log").open("ab")
        self.environment = os.environ | {
            "HOGLET_BOOTSTRAP_PERSONAL_API_KEY": self.key,
            "HOGLET_BOOTSTRAP_PROJECT_TOKEN": self.token,
            "HOGLET_ALLOW_HOSTS": "127.0.0.1",
            "HOGLET_DATA_DIR": str(data_dir),
        }
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "hoglet", "serve", "--port", str(self.port)]
        return subprocess.Popen(
            [*command, "--data-dir", str(self.data_dir)],
            env=self.environment,
            stdout=self._log,
            stderr=self._log,
        )

    def wait_until_ready(self) -> None:
        """Wait for ``GET /_health``.

        Raises:
            ServerFailed: it exited, or took more than a minute.
        """
        started = time.monotonic()
        while time.monotonic() - started < START_SECONDS:
            if self._process.poll() is not None:
                break
            if _answers(self.url + "/_health"):
                self.seconds_to_ready = time.monotonic() - started
                return
            time.sleep(0.05)
        tail = (self.data_dir / "server.log").read_text(errors="replace")[-2000:]
        raise ServerFailed(f"hoglet serve did not become ready:\n{tail}")

    def stop(self) -> None:
        """Send SIGTERM and wait for the process to end."""
        self._process.terminate()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._log.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:  # noqa: S310 (our own server)
            return response.status == 200
    except OSError:
        return False
