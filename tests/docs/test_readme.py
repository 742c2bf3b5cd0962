"""The README's quick start works as written: each shell block in order, then the SDK."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hoglet.demo.traffic import Receiver
from support.server import KEY, TOKEN, RunningServer

README = (Path(__file__).parents[2] / "README.md").read_text()
QUICK_START = README[README.index("### Send an event") : README.index("## Demo and tests")]
BLOCKS = [
    textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n)+", QUICK_START, re.MULTILINE)
]
CAPTURE, TAIL, SDK, FUNCTION, LOGS, FILES, TOKENS = BLOCKS


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    yield running
    running.stop()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def run(server, tmp_path):
    environment = os.environ | {
        "HOGLET_URL": server.url,
        "HOGLET_API_KEY": KEY,
        "PROJECT_TOKEN": TOKEN,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }

    def run_block(block: str) -> str:
        done = subprocess.run(
            ["bash", "-e", "-c", block],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run_block


def until(run, block: str, word: str) -> str:
    """Run the block, as a reader would, until its output contains the word."""
    for _ in range(100):
        printed = run(block)
        if word in printed:
            return printed
    raise AssertionError(printed)


@pytest.mark.slow
def test_the_quick_start_ends_with_a_result_for_a_tenant(server, receiver, run):
    assert run(CAPTURE) == '{"status":1}'
    until(run, TAIL, 'plan_chosen ada {"plan": "pro"}')

    run(FUNCTION.replace("https://example.com/hook", receiver.url))
    run(CAPTURE)
    until(run, LOGS, "posted")
    sdk = SDK.replace("phc_…", TOKEN).replace("http://localhost:8000", server.url)
    subprocess.run([sys.executable, "-c", sdk], check=True, timeout=60)
    until(run, f"{LOGS.strip()} | grep -c posted || true", "2")

    assert list(receiver.deliveries.values()) == [{"text": "ada chose pro"}] * 2
    assert "4 passed, 0 failed" in run(FILES)
    assert '["plan_chosen", 3]' in run(TOKENS)
