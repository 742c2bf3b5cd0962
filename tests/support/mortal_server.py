"""A server that dies at a step of its work, started by tests."""

import os
import time
from pathlib import Path
from typing import Any

from support.dying_server import VARIABLE
from support.server import RunningServer

DEATH_SECONDS = 240  # until a server reaches a step
_TESTS = Path(__file__).parents[1]


class DyingServer(RunningServer):
    """A server that kills itself, or one of its processes, at a step."""

    module = "support.dying_server"

    def __init__(self, data_dir: Path, **settings: Any) -> None:
        super().__init__(data_dir, **settings)
        paths = [str(_TESTS), self.environment.get("PYTHONPATH", "")]
        self.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))

    def start_until(self, step: str = "", *, call: int = 2, process: int | None = None) -> None:
        """Start the server, which dies at a call of the step; without a step, never."""
        number = f"{step}:{call}" if process is None else f"{step}:{call}:{process}"
        self.environment[VARIABLE] = number if step else ""
        self.start()

    def wait_for_death(self, step: str) -> None:
        """Wait until the server has died at the step."""
        assert self.process is not None
        deadline = time.monotonic() + DEATH_SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"never came to: {step}"
            time.sleep(0.05)
        assert self.process.returncode == -9, self.log()[-3000:]
