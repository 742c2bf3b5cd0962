"""The README's quick start works: its curl and SDK examples lead to a delivery."""

import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from hoglet.demo.traffic import Receiver
from support.server import KEY, TOKEN, RunningServer

README = (Path(__file__).parents[2] / "README.md").read_text()


@pytest.fixture
def server(tmp_path):
    running = RunningServer(tmp_path).start()
    yield running
    running.stop()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


def shown(pattern: str, **changes: str) -> str:
    found = re.search(pattern, README, re.DOTALL)
    assert found is not None
    text = textwrap.dedent(found.group(0))
    for old, new in changes.items():
        text = text.replace({"key": "phx_…", "token": "phc_…"}.get(old, old), new)
    return text


def test_the_shown_start_ends_in_a_delivery(server, receiver):
    curl = shown(r"    curl -X POST .*?\n    END\n", key=KEY)
    curl = curl.replace("http://localhost:8000", server.url)
    curl = curl.replace("https://example.com/hook", receiver.url)
    sdk = shown(r"    from posthog import .*?shutdown\(\)", token=TOKEN)
    sdk = sdk.replace("http://localhost:8000", server.url)

    event = shown(r"    curl http\S+/capture/.*?}}'\n", token=TOKEN)
    event = event.replace("http://localhost:8000", server.url)

    subprocess.run(["bash", "-c", curl], check=True, timeout=60)
    subprocess.run(["bash", "-c", event], check=True, timeout=60)
    subprocess.run([sys.executable, "-c", sdk], check=True, timeout=60)
    deadline = time.monotonic() + 30
    while len(receiver.deliveries) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)

    assert list(receiver.deliveries.values()) == [{"text": "ada chose pro"}] * 2
