"""schemathesis on hoglet's OpenAPI document: no 500, no undocumented response.

The same requests every time: with the defaults some 5,600, in about two minutes of an idle
machine with two cores. Two clients share them, since one alone waits for the server half the time.
``make fuzz-api`` sends more (``HOGLET_FUZZ_EXAMPLES``) and others (``HOGLET_FUZZ_SEED``).
"""

import dataclasses
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.clients import HERE, TOOLS, Post, run
from support.fuzz_parameters import P
from support.fuzz_seeds import seed
from support.server import KEY, RunningServer

pytestmark = pytest.mark.clients

EXAMPLES = os.environ.get("HOGLET_FUZZ_EXAMPLES", "10")
SEED = os.environ.get("HOGLET_FUZZ_SEED")
SECONDS = 3 * 3600
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "ignored_auth",
    "unsupported_method",
]  # not negative_data_rejection: offset=-1 and true as text are taken, as the specification says
ENDLESS = "logs/stream"  # it never ends, and this client waits for the end
QUERIES = "/(endpoints|query|cohorts|insight_variables)"
PARTS = {
    "queries": f"--include-path-regex={QUERIES}",
    "the rest": f"--exclude-path-regex={ENDLESS}|{QUERIES}",
}
"""Which operations a client takes: what it deletes, the other one does not need."""
DOCUMENT = "/api/schema"  # this client reads it, and then asks for it no more
METHODS = ("get", "post", "put", "patch", "delete")
NEVER_DONE = {
    f"GET {P}/hog_functions/icon",  # there is no provider of logos
    f"DELETE {P}/endpoints/{{name}}/run",  # done only while that run computes
}
OFTEN_GONE = {
    # Deleting a person with its events deletes the stored answers of the project's queries.
    f"GET {P}/query/{{query_id}}",
    f"DELETE {P}/query/{{query_id}}",
    # A rotation without grace time ends the keys before it.
    f"DELETE {P}/tenant_tokens/keys/{{key_id}}",
}


def test_fuzz(server: RunningServer, post: Post, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.json"
    seeds.write_text(json.dumps(dataclasses.asdict(seed(server, post))))
    with ThreadPoolExecutor() as clients:
        parts = [clients.submit(fuzz, server, part, tmp_path) for part in PARTS]
    seen = {label: statuses for part in parts for label, statuses in part.result().items()}
    assert unreached(server, seen) == {}


def fuzz(server: RunningServer, part: str, folder: Path) -> dict[str, dict[str, int]]:
    """Send the requests of a part; the numbers of answers by operation and status."""
    seen = folder / f"{part}.json"
    environment = os.environ | {
        "HOGLET_FUZZ_SEEDS": str(folder / "seeds.json"),
        "HOGLET_FUZZ_SEEN": str(seen),
        "SCHEMATHESIS_HOOKS": "fuzz_hooks",
        "PYTHONPATH": str(HERE),
    }
    command = [
        TOOLS / "st",
        "run",
        f"{server.url}{DOCUMENT}",
        f"--header=Authorization: Bearer {KEY}",
        f"--checks={','.join(CHECKS)}",
        PARTS[part],
        f"--max-examples={EXAMPLES}",
        "--phases=coverage,fuzzing",
        f"--seed={SEED}" if SEED else "--generation-deterministic",
        "--continue-on-failure",
        "--warnings=off",
        "--request-timeout=60",
    ]
    run(command, env=environment, cwd=folder, seconds=SECONDS)
    statuses: dict[str, dict[str, int]] = json.loads(seen.read_text())
    return statuses


def unreached(server: RunningServer, seen: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The answers of operations that never succeeded."""
    paths = server.client.get(DOCUMENT).json()["paths"]
    return {
        label: seen.get(label, {})
        for path, operations in paths.items()
        for method, operation in operations.items()
        if method in METHODS and path != DOCUMENT and not path.endswith(ENDLESS)
        if not reached(label := f"{method.upper()} {path}", operation, seen.get(label, {}))
    }


def reached(label: str, operation: dict[str, Any], seen: dict[str, int]) -> bool:
    """Whether some request was answered as it should be."""
    if label in NEVER_DONE or (label in OFTEN_GONE and "404" in seen):
        return "404" in seen
    done = [status for status in operation["responses"] if status.startswith("2")]
    return any(status in seen for status in done or ["405"])
