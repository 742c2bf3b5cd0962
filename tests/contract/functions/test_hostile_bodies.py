"""Malformed requests never cause a 500.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits.
"""

import random
from typing import Any

import pytest

from support.seeds import seeds

JUNK: list[Any] = [
    None, True, False, 0, -1, 1e308, 2**70, "", " ", "x", "{", "{event.", "\x00", "\ud800"[:0],
    "x" * 500, [], [None], [[]], [{}], {}, {"a": None}, {"": ""}, {"value": 1}, [1, "a", None],
    {"events": [{"id": {}, "type": []}]}, {"properties": [{"key": [], "type": "event"}]},
    {"properties": {"type": "OR", "values": [{"key": "a"}, 5]}}, {"source": []},
    {"actions": [{"id": None}, {"id": {}}]}, {"properties": [{"type": "hogql", "key": {}}]},
    {"properties": [{"key": "a", "type": "event", "operator": [], "value": {}}]},
    {"properties": [{"key": "a", "type": "event", "operator": "regex", "value": "("}]},
    {"properties": [{"key": "a", "type": "event", "operator": "semver_gt", "value": {}}]},
    {"properties": [{"key": "a", "type": "event", "operator": "between", "value": [None, {}]}]},
    {"properties": [{"key": "a", "type": "element", "value": [[]]}]},
    {"properties": [{"key": "selector", "type": "element", "value": 'a[b="c]:nth-child(x) >'}]},
    {"properties": [{"key": "a", "type": "group", "group_type_index": 99, "value": 1}]},
    {"ttl": "60", "hash": {"a": 1}}, {"ttl": 60, "hash": "{" * 200}, {"max_attempts": "many"},
    [{"type": "string", "key": "a", "templating": 5}], [{"type": [], "key": {}}],
    [{"type": "json", "key": "k", "required": "yes", "choices": "x", "default": {"a": "{"}}],
    [{"inputs": [], "filters": "x"}], [{"inputs_schema": [{"type": "string", "key": "a"}],
                                        "inputs": {"a": {"value": {"b": ["{"]}}}}],
    {"a": {"value": "{a.b.}"}}, {"a": {"value": [[["{x}"] * 3]]}}, {"a": {"templating": {}}},
]  # fmt: skip
FIELDS = (
    "type", "name", "description", "enabled", "deleted", "hog", "inputs_schema", "inputs",
    "filters", "masking", "mappings", "icon_url", "template_id", "execution_order",
    "_create_in_folder", "retry", "base_updated_at",
)  # fmt: skip
KINDS = ("destination", "transformation", "site_destination", "source_webhook")


@pytest.mark.parametrize("seed", seeds(2, 4))
async def test_saving_junk_is_refused_or_saved(hoglet, seed):
    choose = random.Random(seed)  # noqa: S311 (repeatable junk, not a secret)
    function = await hoglet.create(inputs_schema=[{"type": "json", "key": "a"}])
    for _ in range(120):
        fields = choose.sample(FIELDS, choose.randint(1, 3))
        body = {"type": choose.choice(KINDS), "hog": "return 1", "name": "x"}
        body |= {name: choose.choice(JUNK) for name in fields}
        created = await hoglet.call("POST", json=body)
        patched = await hoglet.call(
            "PATCH", f"/{function['id']}", json=body | {"type": "destination"}
        )
        tested = await hoglet.call(
            "POST",
            f"/{choose.choice([function['id'], 'new'])}/invocations",
            json={"configuration": body, "globals": {"event": {"event": "x"}}},
        )
        for response in (created, patched, tested):
            assert response.status_code < 500, (body, response.text)
        if patched.status_code == 200 and patched.json()["deleted"]:
            await hoglet.patch(
                function["id"], deleted=False, enabled=False, filters={}, mappings=None
            )


@pytest.mark.parametrize("junk", JUNK)
async def test_bodies_of_side_routes(hoglet, junk):
    function = await hoglet.create(enabled=True)
    for path, body in (
        ("/rearrange", {"orders": junk}),
        (f"/{function['id']}/invocations", {"globals": junk, "clickhouse_event": junk}),
        (
            f"/{function['id']}/invocations",
            {"globals": {"event": {"properties": junk, "uuid": junk}}},
        ),
        (f"/{function['id']}/dead_letters/redrive", {"ids": junk, "class": junk, "after": junk}),
        (f"/{function['id']}/enable_backfills", junk),
    ):
        method = "PATCH" if path == "/rearrange" else "POST"
        response = await hoglet.call(method, path, json=body)
        assert response.status_code < 500, (path, body, response.text)
    action = await hoglet.client.post("/api/projects/1/actions", json={"steps": junk, "name": junk})
    assert action.status_code < 500
