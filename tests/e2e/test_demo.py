"""The demo on some of the flights: every figure is equal, exit status 0."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def test_the_demo_agrees_with_the_csv(tmp_path):
    command = [sys.executable, "-m", "hoglet", "demo", "--once", "--limit", "10000"]
    demo = subprocess.run(
        [*command, "--data-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert "Everything agrees." in demo.stdout
