"""Requests of the Terraform provider: create, import, update, destroy, no drift.

As the specification tells of it: only ``/api/environments/…``, 30 s, deletes by PATCH, reads
``template.id``, follows ``next``, takes any other status than 2xx for an error, reads empty
strings as null and compares only the sub-keys that the user set.
"""

from typing import Any

import httpx
import pytest

from support.server import KEY, RunningServer

pytestmark = pytest.mark.clients

PATH = "/api/environments/1/hog_functions"
HOG = "print(event.event)"
SCRIPT = "export function onLoad({ inputs }) { console.log(inputs.name) }"
SCHEMA = [
    {"type": "string", "key": "url", "label": "URL", "required": True},
    {"type": "string", "key": "token", "label": "Token", "secret": True, "required": False},
    {"type": "dictionary", "key": "headers", "label": "Headers", "required": False},
]
INPUTS = {
    "url": {"value": "https://example.com/{event.event}"},
    "headers": {"value": {"X-Plan": "{person.properties.plan}"}},
}
FILTERS = {
    "events": [{"id": "$pageview", "name": "$pageview", "type": "events", "order": 0}],
    "properties": [{"key": "$browser", "value": ["Chrome"], "operator": "exact", "type": "event"}],
    "filter_test_accounts": True,
}
MASKING = {"ttl": 3600, "threshold": 5, "hash": "{event.distinct_id}"}
MAPPINGS = [
    {
        "name": "one",
        "filters": {"events": [{"id": "signup", "type": "events"}]},
        "inputs_schema": [{"type": "string", "key": "kind", "label": "Kind", "required": True}],
        "inputs": {"kind": {"value": "signup"}},
    }
]
RESOURCES: dict[str, dict[str, Any]] = {
    "bare": {"type": "destination", "hog": HOG, "description": ""},
    "destination": {
        "type": "destination",
        "hog": HOG,
        "inputs_schema": SCHEMA,
        "inputs": INPUTS,
        "filters": FILTERS,
        "masking": MASKING,
        "icon_url": "",
        "enabled": True,
    },
    "template": {
        "type": "destination",
        "template_id": "template-webhook",
        "inputs": {"url": {"value": "https://example.com/"}, "debug": {"value": True}},
    },
    "mappings": {"type": "destination", "hog": HOG, "mappings": MAPPINGS},
    "internal_destination": {
        "type": "internal_destination",
        "hog": HOG,
        "filters": {"events": [{"id": "$activity_log_entry_created", "type": "events"}]},
    },
    "transformation": {"type": "transformation", "hog": "return event", "execution_order": 7},
    "source_webhook": {"type": "source_webhook", "hog": "return {'httpResponse': {'status': 200}}"},
    "site_destination": {"type": "site_destination", "hog": SCRIPT, "mappings": MAPPINGS},
    "site_app": {"type": "site_app", "hog": SCRIPT},
}


class Provider:
    """Keeps a state, as Terraform does."""

    def __init__(self, url: str) -> None:
        headers = {"Authorization": f"Bearer {KEY}"}
        self.client = httpx.Client(base_url=url, headers=headers, timeout=30)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        response = self.client.request(method, path, json=body)
        assert response.is_success, response.text
        return response.json()

    def create(self, desired: dict[str, Any]) -> dict[str, Any]:
        return self.send("POST", f"{PATH}/", desired)

    def read(self, function_id: str) -> dict[str, Any] | None:
        response = self.client.get(f"{PATH}/{function_id}/")
        return None if response.status_code == 404 else response.json()

    def change(self, function_id: str, changes: dict[str, Any]) -> dict[str, Any]:
        return self.send("PATCH", f"{PATH}/{function_id}/", changes)

    def destroy(self, function_id: str) -> None:
        self.send("PATCH", f"{PATH}/{function_id}/", {"deleted": True})

    def listed(self) -> list[str]:
        """The ids of all functions, page by page."""
        ids, at = [], f"{PATH}/?limit=3"
        while at:
            page = self.send("GET", at)
            ids += [each["id"] for each in page["results"]]
            at = page["next"]
        return ids


@pytest.fixture(scope="module")
def provider(server: RunningServer) -> Provider:
    return Provider(server.url)


def drift(desired: Any, actual: Any, path: str = "") -> list[str]:
    """Where what is found differs from what the user set; empty text is as good as null."""
    if isinstance(desired, dict) and isinstance(actual, dict):
        return [
            each
            for key in desired
            for each in drift(desired[key], actual.get(key), f"{path}.{key}")
        ]
    if isinstance(desired, list) and isinstance(actual, list) and len(desired) == len(actual):
        pairs = enumerate(zip(desired, actual, strict=True))
        return [each for at, (a, b) in pairs for each in drift(a, b, f"{path}[{at}]")]
    return (
        [] if (desired or None) == (actual or None) else [f"{path}: {desired!r} became {actual!r}"]
    )


@pytest.mark.parametrize("name", RESOURCES)
def test_life_of_a_resource(provider: Provider, name: str) -> None:
    desired = RESOURCES[name] | {"name": name, "enabled": RESOURCES[name].get("enabled", False)}
    template_id = desired.get("template_id")
    function = provider.create(desired)
    visible = {key: value for key, value in desired.items() if key != "template_id"}
    assert drift(visible, function) == []
    read = provider.read(function["id"])
    assert read is not None
    assert read == function
    assert (read["template"] or {}).get("id") == template_id
    assert function["id"] in provider.listed()

    applied = provider.change(function["id"], visible)  # an apply of all fields
    assert applied["updated_at"] > function["updated_at"]
    assert drift(visible, provider.read(function["id"])) == []
    changed = {"name": f"{name} 2", "description": "d", "enabled": not desired["enabled"]}
    # Enabling alone would move the order.
    answered = provider.change(function["id"], visible | changed)
    assert drift(visible | changed, answered) == []
    assert provider.read(function["id"]) == answered

    provider.destroy(function["id"])
    assert provider.read(function["id"]) is None
    assert function["id"] not in provider.listed()


def test_secrets_stay(provider: Provider) -> None:
    desired = RESOURCES["destination"] | {"name": "secret"}
    desired["inputs"] = INPUTS | {"token": {"value": "s3cret"}}
    function = provider.create(desired)
    assert function["inputs"]["token"] == {"secret": True}
    assert "s3cret" not in provider.client.get(f"{PATH}/{function['id']}/").text

    again = provider.change(function["id"], {"name": "same", "inputs": function["inputs"]})
    assert drift(INPUTS, again["inputs"]) == []
    assert again["inputs"]["token"] == {"secret": True}
    assert drift(INPUTS, provider.change(function["id"], {"inputs": INPUTS})["inputs"]) == []
    test_run = provider.send(
        "POST",
        f"{PATH}/{function['id']}/invocations/",
        {
            "configuration": {"hog": "print(length(inputs.token))", "inputs": function["inputs"]},
            "globals": {"event": {"event": "$pageview", "properties": {"$browser": "Chrome"}}},
        },
    )
    assert [line["message"] for line in test_run["logs"]][:1] == ["6"]
    provider.destroy(function["id"])


def test_order_may_be_taken_out(provider: Provider) -> None:
    function = provider.create(RESOURCES["transformation"] | {"name": "order"})
    changed = provider.change(function["id"], {"execution_order": None, "masking": None})
    assert changed["execution_order"] is None
    provider.destroy(function["id"])
