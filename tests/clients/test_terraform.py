"""Requests of the Terraform provider: create, import, update, destroy, no drift.

As the specification tells of it: only ``/api/environments/…``, 30 s, deletes by PATCH, reads
``template.id``, follows ``next``, takes any other status than 2xx for an error, reads empty
strings as null and compares only the sub-keys that the user set.
"""

from typing import Any

import httpx
import pytest

from support.server import KEY, RunningServer

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

    def create(self, wanted: dict[str, Any]) -> dict[str, Any]:
        return self.send("POST", f"{PATH}/", wanted)

    def read(self, function_id: str) -> dict[str, Any] | None:
        response = self.client.get(f"{PATH}/{function_id}/")
        return None if response.status_code == 404 else response.json()

    def change(self, function_id: str, changes: dict[str, Any]) -> dict[str, Any]:
        return self.send("PATCH", f"{PATH}/{function_id}/", changes)

    def destroy(self, function_id: str) -> None:
        self.send("PATCH", f"{PATH}/{function_id}/", {"deleted": True})

    def listed(self) -> list[str]:
        """The ids of all functions, page by page."""
        found, at = [], f"{PATH}/?limit=3"
        while at:
            page = self.send("GET", at)
            found += [each["id"] for each in page["results"]]
            at = page["next"]
        return found


@pytest.fixture(scope="module")
def provider(server: RunningServer) -> Provider:
    return Provider(server.url)


def drift(wanted: Any, found: Any, path: str = "") -> list[str]:
    """Where what is found differs from what the user set; empty text is as good as null."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [
            one for key in wanted for one in drift(wanted[key], found.get(key), f"{path}.{key}")
        ]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = enumerate(zip(wanted, found, strict=True))
        return [one for at, (a, b) in pairs for one in drift(a, b, f"{path}[{at}]")]
    return [] if (wanted or None) == (found or None) else [f"{path}: {wanted!r} became {found!r}"]


@pytest.mark.parametrize("name", RESOURCES)
def test_life_of_a_resource(provider: Provider, name: str) -> None:
    wanted = RESOURCES[name] | {"name": name, "enabled": RESOURCES[name].get("enabled", False)}
    template_id = wanted.get("template_id")
    made = provider.create(wanted)
    shown = {key: value for key, value in wanted.items() if key != "template_id"}
    assert drift(shown, made) == []
    read = provider.read(made["id"])
    assert read is not None
    assert read == made
    assert (read["template"] or {}).get("id") == template_id
    assert made["id"] in provider.listed()

    assert provider.change(made["id"], shown)["updated_at"] > made["updated_at"]  # an apply of all
    assert drift(shown, provider.read(made["id"])) == []
    changed = {"name": f"{name} 2", "description": "d", "enabled": not wanted["enabled"]}
    answered = provider.change(made["id"], shown | changed)  # enabling alone would move the order
    assert drift(shown | changed, answered) == []
    assert provider.read(made["id"]) == answered

    provider.destroy(made["id"])
    assert provider.read(made["id"]) is None
    assert made["id"] not in provider.listed()


def test_secrets_stay(provider: Provider) -> None:
    wanted = RESOURCES["destination"] | {"name": "secret"}
    wanted["inputs"] = INPUTS | {"token": {"value": "s3cret"}}
    made = provider.create(wanted)
    assert made["inputs"]["token"] == {"secret": True}
    assert "s3cret" not in provider.client.get(f"{PATH}/{made['id']}/").text

    again = provider.change(made["id"], {"name": "same", "inputs": made["inputs"]})
    assert drift(INPUTS, again["inputs"]) == []
    assert again["inputs"]["token"] == {"secret": True}
    assert drift(INPUTS, provider.change(made["id"], {"inputs": INPUTS})["inputs"]) == []
    trial = provider.send(
        "POST",
        f"{PATH}/{made['id']}/invocations/",
        {
            "configuration": {"hog": "print(length(inputs.token))", "inputs": made["inputs"]},
            "globals": {"event": {"event": "$pageview", "properties": {"$browser": "Chrome"}}},
        },
    )
    assert [line["message"] for line in trial["logs"]][:1] == ["6"]
    provider.destroy(made["id"])


def test_order_may_be_taken_out(provider: Provider) -> None:
    made = provider.create(RESOURCES["transformation"] | {"name": "order"})
    changed = provider.change(made["id"], {"execution_order": None, "masking": None})
    assert changed["execution_order"] is None
    provider.destroy(made["id"])
