"""``tools/setup.sh`` where it cannot succeed, or was interrupted."""

import shutil
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "tools" / "setup.sh"
NEEDED = ("bash", "dirname", "ln", "chmod", "rm", "mkdir", "touch")
# Python 3.6 with a pip that has no uv to install.
OLD_PYTHON = """#!/bin/sh
case "$*" in
--version) echo Python 3.6.15 ;;
-c*) exit 1 ;;
*--without-pip*) exit 0 ;;
"-m venv"*) exit 1 ;;
*) echo "No matching distribution found for uv" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in a folder with a space, and programs in ``bin`` that are all there is."""
    root = tmp_path / "my projects"
    (root / "tools").mkdir(parents=True)
    (root / "bin").mkdir()
    shutil.copy(SETUP, root / "tools")
    for name in NEEDED:
        (root / "bin" / name).symlink_to(shutil.which(name) or name)
    (root / "bin" / "python3").write_text(OLD_PYTHON)
    (root / "bin" / "python3").chmod(0o755)
    return root


def test_a_python_too_old_for_uv_is_named(checkout: Path) -> None:
    environment = {"PATH": str(checkout / "bin"), "HOME": str(checkout)}
    command = ["bash", "tools/setup.sh", "run"]
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "python3 (Python 3.6.15)" in done.stderr
    assert "needs Python 3.8" in done.stderr
    assert not (checkout / ".venv").exists()


# Creates environments, and installs nothing; the second installation is interrupted as by Ctrl-C.
UV = """#!/bin/bash
echo "$1 $2" >>calls
case "$*" in
venv*)
    rm -rf .venv
    mkdir -p .venv/bin
    printf '#!/bin/sh\\nexit 0' >.venv/bin/python
    chmod +x .venv/bin/python
    touch .venv/pyvenv.cfg
    ;;
*requirements*) [ ! -e interrupt ] || kill -INT $PPID ;;
esac
"""


def _set_up(checkout: Path) -> int:
    environment = {"PATH": str(checkout / "bin"), "HOME": str(checkout)}
    # Background jobs of a script inherit that SIGINT is ignored.
    command = ["/usr/bin/env", "--default-signal=INT", "bash", "tools/setup.sh"]
    return subprocess.run(command, cwd=checkout, env=environment, check=False).returncode


def _created(checkout: Path) -> int:
    """How often an environment was created."""
    return (checkout / "calls").read_text().count("venv ")


def test_an_interrupted_installation_is_not_taken_for_a_complete_one(checkout: Path) -> None:
    (checkout / "bin" / "uv").write_text(UV)
    (checkout / "bin" / "uv").chmod(0o755)
    assert _set_up(checkout) == 0

    (checkout / "interrupt").touch()
    assert _set_up(checkout) == 130
    assert _created(checkout) == 1

    (checkout / "interrupt").unlink()
    assert _set_up(checkout) == 0
    assert _created(checkout) == 2

    assert _set_up(checkout) == 0
    assert _created(checkout) == 2
