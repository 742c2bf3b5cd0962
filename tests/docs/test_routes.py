"""Requests cross no more files than ARCHITECTURE.md says.

Source: docs/adr/0052-files-that-a-route-crosses.md.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAX_FILES = {"endpoint": 35, "function": 35, "delivery": 55}

pytestmark = pytest.mark.slow


ATTEMPTS = 8
"""On a busy machine, what the requests before have read can expire before the traced one."""


@pytest.mark.parametrize("route", MAX_FILES)
def test_a_route_crosses_few_files(route: str) -> None:
    counts: list[int] = []
    while len(counts) < ATTEMPTS and min(counts, default=1000) > MAX_FILES[route]:
        counts.append(_files_of(route))

    assert min(counts) <= MAX_FILES[route], "see tools/trace_routes.py --files"


def _files_of(route: str) -> int:
    command = [sys.executable, "tools/trace_routes.py", route]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (files,) = re.findall(rf"{route}: (\d+) files", printed)
    return int(files)
