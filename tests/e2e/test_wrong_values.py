"""Wrong values in every place of every route of the API document.

None may end in a 500, an answer without the fields of an error, or a wait. The requests are a
sample of all (some 60,000): the same in every run, or others with ``HOGLET_FUZZ_SEED``.
"""

import os
import random
from collections.abc import Generator
from typing import Any

import httpx
import pytest

from support.clients import Post
from support.fuzz_parameters import Json
from support.fuzz_seeds import seed
from support.server import KEY, RunningServer
from support.wrong_values import Request, requests

pytestmark = pytest.mark.slow

SAMPLE = int(os.environ.get("HOGLET_WRONG_VALUES", "3000"))  # a request takes about 10 ms
SEED = int(os.environ.get("HOGLET_FUZZ_SEED", "11"))
ERROR = {"type", "code", "detail", "attr"}
NO_SUCH_METHOD = 405  # without a body
ENDLESS = "logs/stream"
ONE_PROJECT = "/api/projects/1/"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("wrong") / "data").start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def post(server: RunningServer) -> Post:
    def send(noun: str, body: Any) -> Any:
        response = server.client.post(f"{ONE_PROJECT}{noun}/", json=body)
        assert response.status_code == 201, response.text
        return response.json()

    return send


def test_every_wrong_value_is_answered_in_the_form_of_an_error(
    server: RunningServer, post: Post
) -> None:
    seeds = seed(server, post)
    document = server.client.get("/api/schema").json()
    everything = [each for each in requests(document, seeds) if ENDLESS not in each.operation]
    chosen = random.Random(SEED).sample(everything, SAMPLE)  # noqa: S311 (a sample)
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    with httpx.Client(headers=headers, timeout=60) as client:
        failed = [
            (wrong, fault) for each in chosen for wrong, fault in faults(client, server, each)
        ]

    assert failed == []
    assert "Traceback" not in server.log()


def faults(client: httpx.Client, server: RunningServer, wrong: Request) -> list[tuple[str, str]]:
    """What is wrong with the answer, with the beginning of the request."""
    method, path = wrong.operation.split(" ")
    target = f"{wrong.path}?{wrong.query}" if wrong.query else wrong.path
    url = httpx.URL(server.url).copy_with(raw_path=target.replace(" ", "%20").encode())
    answer = client.request(method, url, content=wrong.content_sent, headers=wrong.headers)
    fine = answer.status_code < 400 or answer.status_code == NO_SUCH_METHOD
    if fine or (answer.status_code < 500 and (is_error(answer) or not path.startswith("/api/"))):
        return []
    sent = f"{method} {target[:200]} {(wrong.content_sent or b'')[:200]!r} {wrong.headers}"
    return [(sent, f"{answer.status_code} {answer.text[:200]}")]


def is_error(answer: httpx.Response) -> bool:
    """Whether the body is an error of the API."""
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    body: Json = answer.json() if is_json else {}
    return body.keys() >= ERROR
