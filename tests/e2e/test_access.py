"""Keys and projects created on the command line while the server runs; first calls of an SDK."""

from pathlib import Path

import httpx
from posthog import Posthog

from support.hoglet_process import run_hoglet
from support.server import KEY, ServerProject
from support.waiting import wait_for


def hoglet(server: ServerProject, *words: str) -> str:
    done = run_hoglet(*words, env=server.environment)
    done.check_returncode()
    return done.stdout.strip()


def status_with(server: ServerProject, key: str, path: str) -> int:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.get(server.url + path, headers=headers).status_code


def test_a_key_works_at_once_and_stops_within_seconds(server: ServerProject) -> None:
    own = f"/api/projects/{server.id}/"
    key = hoglet(server, "key", "create", "--scopes", "project:read", "--project", str(server.id))
    assert status_with(server, key, own) == 200
    assert status_with(server, key, "/api/users/@me/") == 403

    hoglet(server, "key", "revoke", key)

    wait_for(lambda: status_with(server, key, own) == 401, seconds=30)


def test_a_project_made_on_the_command_line_captures_at_once(server: ServerProject) -> None:
    project_id, token = hoglet(server, "project", "create", "Shop").split()

    event = {"api_key": token, "event": "first", "distinct_id": "u"}
    captured = server.client.post("/capture/", json=event)
    listed = server.client.get("/api/projects/", params={"limit": 1000}).json()["results"]

    assert captured.status_code == 200
    assert str(listed[-1]["id"]) == project_id


def test_the_python_sdk_finds_its_routes(server: ServerProject, tmp_path: Path) -> None:
    failures: list[object] = []
    client = Posthog(
        server.token,
        host=server.url,
        secret_key=KEY,
        on_error=lambda error, _batch: failures.append(error),
    )

    client.load_feature_flags()
    flags = client.evaluate_flags("someone")
    client.capture("bought", distinct_id="someone", properties={"$ip": "1.1.1.1"})
    client.shutdown()

    assert failures == []
    assert client.feature_flags == []
    assert flags.get_flag("anything") is None
