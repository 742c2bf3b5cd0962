"""``count_matches`` on a server: counts of stored events, recomputed in Python."""

from collections.abc import Callable
from typing import Any

import pytest

from support.server import ServerProject
from support.waiting import wait_for

NAMES = ("bought", "looked", "left")
PLANS = ("pro", "free", None)
COUNT = 1205
EVENTS = [
    {
        "event": NAMES[index % 3],
        "distinct_id": f"person-{index % 7}",
        "timestamp": f"2026-01-05T{index // 60 // 60:02}:{index // 60 % 60:02}:{index % 60:02}Z",
        "properties": {
            "number": index,
            "plan": PLANS[index % 5 % 3],
            "$set_once": {"email": f"{index % 7}@example.com"},
            **({"$groups": {"company": "acme"}} if index % 4 == 0 else {}),
        },
    }
    for index in range(COUNT)
]
GROUP = {
    "event": "$groupidentify",
    "distinct_id": "person-0",
    "timestamp": "2026-01-04T00:00:00Z",
    "properties": {
        "$group_type": "company",
        "$group_key": "acme",
        "$group_set": {"tier": "gold"},
    },
}
BOUGHT = {"id": "bought", "type": "events"}
PRO = {"key": "plan", "value": ["pro"], "operator": "exact", "type": "event"}
LARGE = {"key": "number", "value": 1000, "operator": "gte", "type": "event"}
FIRST = {"key": "email", "value": ["0@example.com"], "operator": "exact", "type": "person"}
GOLD = {"key": "tier", "value": ["gold"], "operator": "exact", "type": "group"}

# A filter, and which of EVENTS by index match.
CASES: dict[str, tuple[dict[str, Any], Callable[[int], bool]]] = {
    "an event": ({"events": [BOUGHT]}, lambda index: index % 3 == 0),
    "an event's property": (
        {"events": [{**BOUGHT, "properties": [PRO]}]},
        lambda index: index % 3 == 0 and index % 5 % 3 == 0,
    ),
    "a comparison": ({"properties": [LARGE]}, lambda index: index >= 1000),
    "a person's property": (
        {"events": [BOUGHT], "properties": [FIRST]},
        lambda index: index % 3 == 0 and index % 7 == 0,
    ),
    "a group's property": (
        {"properties": [{**GOLD, "group_type_index": 0}]},
        lambda index: index % 4 == 0,
    ),
    "nothing": ({"events": [{**BOUGHT, "id": "unknown"}]}, lambda index: index < 0),
}


@pytest.fixture(scope="module")
def server(server: ServerProject) -> ServerProject:
    body = {"api_key": server.token, "batch": [GROUP, *EVENTS]}
    server.client.post("/batch/", json=body).raise_for_status()
    wait_for(lambda: count(server)["examined"], lambda examined: examined > COUNT)
    return server


def count(server: ServerProject, function: str = "new", **body: Any) -> dict[str, Any]:
    body = body or {"configuration": {"type": "destination", "name": "f", "hog": "return 1"}}
    response = server.client.post(
        f"/api/projects/@current/hog_functions/{function}/count_matches", json=body
    )
    assert response.status_code == 200, response.text
    return response.json()


def configured(**fields: Any) -> dict[str, Any]:
    return {"type": "destination", "name": "f", "hog": "return 1", **fields}


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_the_events(server: ServerProject, name: str) -> None:
    filters, holds = CASES[name]
    counted = count(server, configuration=configured(filters=filters))
    matching = [index for index in range(COUNT) if holds(index)]

    assert (counted["matched"], counted["failed"]) == (len(matching), 0)
    assert (counted["examined"], counted["complete"]) == (COUNT + 1, True)
    newest = [EVENTS[index]["distinct_id"] for index in reversed(matching)][:20]
    assert [event["distinct_id"] for event in counted["events"]] == newest


def test_the_newest_events_are_examined(server: ServerProject) -> None:
    filters = {"properties": [LARGE]}
    counted = count(server, configuration=configured(filters=filters), limit=300)
    assert (counted["matched"], counted["examined"], counted["limit"]) == (205, 300, 300)
    assert counted["newest"].startswith(EVENTS[-1]["timestamp"][:19])
    assert counted["oldest"].startswith(EVENTS[-300]["timestamp"][:19])


def test_mappings_choose_among_the_events_of_the_function(server: ServerProject) -> None:
    mapping = {"name": "Sales", "filters": {"events": [BOUGHT]}, "inputs": {}}
    disabled = {"name": "All", "filters": {}, "disabled": True}
    fields = configured(filters={"properties": [LARGE]}, mappings=[mapping, disabled])
    expected = len([index for index in range(1000, COUNT) if index % 3 == 0])
    assert count(server, configuration=fields)["matched"] == expected


def test_stored_functions_and_drafts(server: ServerProject) -> None:
    created = server.client.post(
        "/api/projects/@current/hog_functions/", json=configured(filters={"events": [BOUGHT]})
    ).json()
    path = f"/api/projects/@current/hog_functions/{created['id']}"
    draft = {"draft": {"filters": {"properties": [LARGE]}}}
    server.client.patch(path, json=draft).raise_for_status()

    bought = len([index for index in range(COUNT) if index % 3 == 0])
    assert count(server, created["id"], limit=10_000)["matched"] == bought
    assert count(server, created["id"], draft=True)["matched"] == COUNT - 1000


FAILING = {
    "a filter that raises": ("no_such_function(1)", "no_such_function"),
    "a filter that does not compile": ("1 +", "1 +"),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_filter_that_fails_says_why(server: ServerProject, name: str) -> None:
    text, reason = FAILING[name]
    filters = {"properties": [{"type": "hogql", "key": text}]}
    counted = count(server, configuration=configured(filters=filters))
    assert (counted["matched"], counted["examined"]) == (0, COUNT + 1)
    assert reason in counted["error"]


def test_functions_that_never_run_on_events_match_none(server: ServerProject) -> None:
    counted = count(server, configuration=configured(type="internal_destination"))
    assert (counted["matched"], counted["examined"]) == (0, COUNT + 1)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no events": ({"limit": 0}, "limit"),
    "too many": ({"limit": 10_001}, "limit"),
    "a text": ({"limit": "10"}, "limit"),
    "true": ({"limit": True}, "limit"),
    "null": ({"limit": None}, "limit"),
    "an unknown key": ({"limits": 5}, "limits"),
    "no configuration": ({}, "configuration"),
    "a configuration that is a list": ({"configuration": []}, "configuration"),
    "a configuration that does not compile": (
        {"configuration": {"type": "destination", "hog": "let"}},
        "configuration__hog",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(server: ServerProject, name: str) -> None:
    body, attr = REFUSED[name]
    response = server.client.post(
        "/api/projects/@current/hog_functions/new/count_matches", json=body
    )
    assert (response.status_code, response.json()["attr"]) == (400, attr)


def test_scopes(server: ServerProject) -> None:
    key = {"label": "narrow", "scopes": ["hog_function:read"]}
    created = server.client.post("/api/personal_api_keys/", json=key).json()
    function = server.client.post("/api/projects/@current/hog_functions/", json=configured()).json()
    path = f"/api/projects/@current/hog_functions/{function['id']}/count_matches"
    headers = {"Authorization": f"Bearer {created['value']}"}
    assert server.client.post(path, json={}, headers=headers).status_code == 403
    unknown = f"/api/projects/@current/hog_functions/{EVENTS[0]['event']}/count_matches"
    assert server.client.post(unknown, json={}).status_code == 404
