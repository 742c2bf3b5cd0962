"""Paths of the public clients installed for ``tests/clients``, and a runner for them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent / "clients"
TOOLS = HERE / "tools" / ".venv" / "bin"
ARCADE = HERE / "arcade" / ".venv" / "bin" / "python"
MODULES = HERE / "node_modules"

type Post = Callable[[str, Any], Any]
"""Creates an object of the project: (noun, body)."""


def run(command: list[str | Path], *, seconds: float = 300, **more: Any) -> str:
    """What a program printed; it must succeed."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False, **more
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def run_json(command: list[str | Path], **more: Any) -> Any:
    """The last line that a program printed, as JSON."""
    return json.loads(run(command, **more).strip().splitlines()[-1])
