"""Mutated programs do no harm; ``make fuzz`` searches longer."""

import subprocess
import sys
from pathlib import Path

import pytest


def _search(count: int, seed: int) -> None:
    command = [sys.executable, "-m", "fuzz.hog", "--count", str(count), "--seed", str(seed)]
    done = subprocess.run(
        command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " finished" in done.stdout.splitlines()[-1]
    assert done.stdout.endswith(" 0 faults\n")


def test_damaged_programs_do_no_harm() -> None:
    _search(150, seed=1)


@pytest.mark.long
def test_many_damaged_programs_do_no_harm() -> None:
    _search(5000, seed=2)
