"""A test run goes on when a worker ends in the middle of a test."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PASSES = "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_passes(n): pass\n"
CRASHES = (
    "import os\ndef test_before(): pass\ndef test_ends(): os._exit(3)\ndef test_after(): pass\n"
)

pytestmark = pytest.mark.slow


def test_all_other_tests_run(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        (tmp_path / f"test_{name}.py").write_text(PASSES)
    (tmp_path / "test_e.py").write_text(CRASHES)
    options = ["-n", "2", "--dist", "loadfile", "-p", "support.xdist_workers", "-c", "/dev/null"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", tmp_path, tmp_path],
        cwd=tmp_path,
        env={"PYTHONPATH": str(TESTS), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert "1 failed, 18 passed" in ran.stdout, ran.stdout
    assert "test_e.py::test_ends" in ran.stdout
