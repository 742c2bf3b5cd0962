"""Public SDKs with only the host changed: posthog (PyPI), posthog-node."""

import json
import time
from typing import Any

import pytest
from posthog import Posthog

from support.clients import HERE, Post, run_json
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.clients

SECONDS = 60


def test_python(server: RunningServer, post: Post) -> None:
    errors: list[Any] = []
    client = Posthog(
        TOKEN,
        host=server.url,
        gzip=True,
        historical_migration=False,
        on_error=lambda error, _items: errors.append(error),
    )
    for number in range(30):
        client.capture(
            "python_event",
            distinct_id="python-user",
            properties={"number": number, "text": "größe"},
            groups={"company": "acme"},
        )
    client.set(distinct_id="python-user", properties={"plan": "paid"})
    client.alias(previous_id="python-anonymous", distinct_id="python-user")
    client.group_identify("company", "acme", {"name": "Acme"})
    assert client.get_all_flags("python-user") == {}
    assert not client.feature_enabled("nothing", "python-user")
    client.flush()
    client.shutdown()

    assert errors == []
    assert counted(server, post, "python_event") == 30
    assert person(server, post, "python-user") == {"plan": "paid"}


def test_node(server: RunningServer, post: Post) -> None:
    reported = run_json(["node", HERE / "node_sdk.mjs", server.url, TOKEN, KEY])

    assert reported == {"errors": [], "flags": {}}
    assert counted(server, post, "node_event") == 30
    assert person(server, post, "node-user")["plan"] == "paid"


def counted(server: RunningServer, post: Post, event: str) -> int:
    """How many events of that name arrived; waits for the first."""
    sql = f"SELECT count(), uniq($group_0) FROM events WHERE event = '{event}'"
    rows = queried(server, post, f"count_{event}", sql, lambda rows: rows[0][0] > 0)
    assert rows[0][1] == 1
    return rows[0][0]


def person(server: RunningServer, post: Post, distinct_id: str) -> dict[str, Any]:
    """Properties of a person."""
    sql = (
        "SELECT person.properties FROM person_distinct_ids "
        f"WHERE distinct_id = '{distinct_id}' LIMIT 1"
    )
    rows = queried(server, post, f"person_of_{distinct_id}", sql, lambda rows: "plan" in str(rows))
    properties = json.loads(rows[0][0])
    return {key: value for key, value in properties.items() if key == "plan"}


def queried(server: RunningServer, post: Post, name: str, sql: str, enough: Any) -> Any:
    """The rows of a query, once there are enough."""
    query = {"kind": "HogQLQuery", "query": sql}
    post("endpoints", {"name": name, "query": query})
    deadline = time.monotonic() + SECONDS
    while True:
        path = f"/api/projects/1/endpoints/{name}/run"
        answer = server.client.post(path, json={"refresh": "force"})
        assert answer.status_code == 200, answer.text
        rows = answer.json()["results"]
        if enough(rows) or time.monotonic() > deadline:
            return rows
        time.sleep(0.5)
