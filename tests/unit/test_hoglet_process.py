"""A command that is forked from the template behaves like one that is started."""

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.hoglet_process import HogletProcess, run_hoglet

pytestmark = pytest.mark.engine


def test_streams_variables_and_exit_status_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.hog").write_text("print('é')\n")

    ran = run_hoglet("hog", "run", "a.hog", cwd=tmp_path)
    wrong = run_hoglet("key", "list", env=os.environ | {"HOGLET_PORT": "x"})
    piped = run_hoglet("hog", "run", "-", input="print('from a pipe')")

    assert (ran.returncode, ran.stdout) == (0, "é\n")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith('HOGLET_PORT is "x"')
    assert (piped.returncode, piped.stdout) == (0, "from a pipe\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_signals_reach_it_and_end_it(number: int) -> None:
    pipe = subprocess.PIPE
    with HogletProcess(["hog", "run", "-"], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.poll() is None

        process.send_signal(number)

        assert process.wait(timeout=60) == -number
        assert process.poll() == -number


def test_threads_can_start_commands_at_the_same_time() -> None:
    large = os.environ | {"LARGE": "x" * 500_000}  # so that requests are sent in several parts

    def run(number: int) -> str:
        return run_hoglet("hog", "run", "-", input=f"print('{number}')", env=large).stdout

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(run, range(16))) == [f"{number}\n" for number in range(16)]
