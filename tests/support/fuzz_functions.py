"""Seeds the fuzzing client's server with functions, failing runs and backfills."""

import time
from typing import Any

from support.clients import Post
from support.fuzz_parameters import EVENT, Json, P, Seeds
from support.server import TOKEN, RunningServer

DEAD_LETTERS = 30
SECONDS = 60
HOG = "print(event.event)"
SCHEMA = [
    {"type": "string", "key": "url", "label": "URL", "required": False},
    {"type": "string", "key": "token", "label": "Token", "secret": True, "required": False},
]
INPUTS = {"url": {"value": "http://127.0.0.1:1/"}, "token": {"value": "s3cret"}}
KINDS = {
    "destination": "print(event.event); fetch(inputs.url)",
    "transformation": "return event",
    "site_app": "export function onLoad() {}",
    "source_webhook": "return {'httpResponse': {'status': 201, 'body': 'ok'}}",
}
FAILING_EVENT = {"event": "failing", "distinct_id": "u"}
ALL = P + "/hog_functions"
FUNCTION = ALL + "/{function_id}"


def seed_functions(seeds: Seeds, server: RunningServer, post: Post) -> None:
    """Functions of each kind, and others to change."""
    created, changed = [
        {kind: _function(post, kind, hog) for kind, hog in KINDS.items()} for _ in range(2)
    ]
    seeds.places[ALL] = [{"function_id": each} for each in created.values()]
    seeds.change(FUNCTION, *({"function_id": each} for each in changed.values()))
    seeds.places["/site_function"] = [{"function_id": created["site_app"], "stamp": "1"}]
    seeds.places["/public/webhooks"] = [{"name": created["source_webhook"]}]
    seeds.spares[FUNCTION] = _plain(seeds, post)
    seeds.take("POST", ALL, {"type": "destination", "hog": HOG, "name": "fuzz"})
    changes: Json = {"name": "other", "inputs_schema": SCHEMA, "inputs": INPUTS}
    seeds.take("PATCH", FUNCTION, changes, {"draft": {"name": "next"}}, {"draft": None})
    seeds.places[f"{FUNCTION}/publish"] = _drafted(seeds, server, post)
    seeds.take("PATCH", f"{ALL}/rearrange", {"orders": {created["transformation"]: 2}})
    _test_runs(seeds, created)
    _history(seeds, server, created["destination"])
    _backfills(seeds, server, created["destination"], post)


def _function(post: Post, kind: str, hog: str) -> str:
    body: Json = {"type": kind, "name": kind, "hog": hog, "enabled": True}
    if kind == "destination":
        body |= {"inputs_schema": SCHEMA, "inputs": INPUTS}
    return post("hog_functions", body)["id"]


def _plain(seeds: Seeds, post: Post) -> list[Json]:
    return [
        {"function_id": post("hog_functions", {"hog": HOG})["id"]} for _ in range(seeds.spare_count)
    ]


def _drafted(seeds: Seeds, server: RunningServer, post: Post) -> list[Json]:
    """Functions with a draft that can be published once."""
    places = _plain(seeds, post)
    for parameters in places:
        url = f"/api/projects/1/hog_functions/{parameters['function_id']}"
        assert server.client.patch(url, json={"draft": {"name": "next"}}).status_code == 200
    return places


def _test_runs(seeds: Seeds, created: dict[str, str]) -> None:
    ids = (created["destination"], created["transformation"], "new")
    seeds.places[f"{FUNCTION}/invocations"] = [{"function_id": each} for each in ids]
    configuration: Json = {"type": "destination", "hog": HOG, "inputs_schema": [], "inputs": {}}
    run = {"globals": {"event": EVENT}}
    seeds.take("POST", f"{FUNCTION}/invocations", run, run | {"configuration": configuration})
    seeds.places[f"{FUNCTION}/explain_match"] = [{"function_id": each} for each in ids]
    explained = {"event": EVENT, "configuration": configuration}
    seeds.take(
        "POST", f"{FUNCTION}/explain_match", run | {"configuration": configuration}, explained
    )
    seeds.places[f"{FUNCTION}/count_matches"] = [{"function_id": each} for each in ids]
    seeds.take("POST", f"{FUNCTION}/count_matches", {"configuration": configuration})


def _history(seeds: Seeds, server: RunningServer, function_id: str) -> None:
    url = f"/api/projects/1/hog_functions/{function_id}"
    assert server.client.patch(url, json={"name": "renamed"}).status_code == 200
    entries: list[Any] = server.client.get(f"{url}/activity").json()["results"]
    seeds.places[f"{FUNCTION}/restore"] = [{"function_id": function_id}]
    seeds.take("POST", f"{FUNCTION}/restore", *({"activity_id": each["id"]} for each in entries))


def _backfills(seeds: Seeds, server: RunningServer, function_id: str, post: Post) -> None:
    seeds.places[f"{FUNCTION}/enable_backfills"] = _plain(seeds, post)
    url = f"/api/projects/1/hog_functions/{function_id}/enable_backfills"
    export = server.client.post(url).json()
    path = f"{P}/batch_exports/{{batch_export_id}}/backfills"
    window = {"start_at": "2026-01-01T00:00:00Z", "end_at": "2026-01-02T00:00:00Z"}
    url = f"/api/projects/1/batch_exports/{export['batch_export_id']}/backfills"
    seeds.places[path] = [
        {**export, "backfill_id": _paused_backfill(server, url, window), "verb": verb}
        for verb in ("pause", "resume", "cancel")
    ]
    seeds.take("POST", path, window)


def _paused_backfill(server: RunningServer, url: str, window: Json) -> str:
    """A running backfill. It has no work, so the pause may come too late."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        response = server.client.post(url, json=window)
        assert response.status_code == 201, response.text
        if server.client.post(f"{url}/{response.json()['id']}/pause").status_code == 200:
            return response.json()["id"]
    raise AssertionError("no backfill could be paused")


def seed_failures(seeds: Seeds, server: RunningServer, post: Post) -> None:
    """A function all of whose runs ended as dead letters."""
    filters = {"events": [{"id": FAILING_EVENT["event"], "type": "events"}]}
    body: Json = {"name": "failing", "hog": "throw Error('no')", "enabled": True}
    function_id = post("hog_functions", body | {"filters": filters})["id"]
    batch = {"api_key": TOKEN, "batch": [EVENT, *[FAILING_EVENT] * DEAD_LETTERS]}
    assert server.client.post("/batch/", json=batch).status_code == 200
    url = f"/api/projects/1/hog_functions/{function_id}/dead_letters"
    deadline = time.monotonic() + SECONDS
    while (page := server.client.get(url).json())["count"] < DEAD_LETTERS:
        assert time.monotonic() < deadline, page
        time.sleep(0.2)
    letters = [
        {"function_id": function_id, "dead_letter_id": letter["id"]} for letter in page["results"]
    ]
    path = f"{FUNCTION}/dead_letters"
    seeds.places[path] = letters[seeds.spare_count :]
    seeds.spares[f"{path}/{{dead_letter_id}}"] = letters[: seeds.spare_count]
    seeds.take("POST", f"{path}/redrive", {"ids": [letters[-1]["dead_letter_id"]]}, {"all": True})
