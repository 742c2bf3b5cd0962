"""Actions and their effect on filters.

Source: docs/spec/hog-functions.md#51-expression-and-bytecode,
docs/spec/hog-functions.md#55-bytecode_error
and docs/spec/hog-functions.md#15-bootstrap-routes.
"""

import asyncio
from datetime import timedelta
from uuid import UUID

from hoglet.access.repository import find_project
from hoglet.functions import repository
from hoglet.functions.compile.recompile import recompile
from hoglet.functions.jobs import RECOMPILE_QUEUE, decode_recompile

BASE = "/api/projects/1/actions"
STEPS = [{"event": "$pageview", "url": "docs", "url_matching": "contains"}]


async def test_actions_are_made_read_changed_and_listed(hoglet):
    client = hoglet.client
    response = await client.post(BASE + "/", json={"name": "Docs", "steps": STEPS})
    id_ = response.json()["id"]
    changed = await client.patch(f"{BASE}/{id_}/", json={"name": "All docs"})
    listed = (await client.get(BASE)).json()

    assert response.status_code == 201
    assert set(response.json()["steps"][0]) == {
        "event", "url", "url_matching", "properties", "selector", "tag_name", "text", "href",
    }  # fmt: skip
    assert changed.json()["name"] == "All docs"
    assert (listed["count"], listed["results"][0]["id"]) == (1, id_)
    gone = await client.patch(f"{BASE}/{id_}", json={"deleted": True})
    assert gone.json()["deleted"] is True
    assert (await client.get(f"{BASE}/{id_}")).status_code == 404
    assert (await client.get(f"{BASE}/x")).status_code == 404


async def test_property_filters_of_unknown_types_and_operators_are_refused(hoglet):
    rule = {"key": "plan", "value": "pro", "type": "event"}
    for part, attr in (
        ({**rule, "type": "evnt"}, "properties__0__type"),
        ({"key": "plan", "type": "evnt"}, "properties__0__type"),
        ({**rule, "operator": "exakt"}, "properties__0__operator"),
        ({**rule, "operator": ["exact"]}, "properties__0__operator"),
        ({"type": "OR", "values": [rule, {**rule, "type": 1}]}, "properties__0__values__1__type"),
    ):
        steps = [{"event": "e", "properties": [rule]}, {"event": "e", "properties": [part]}]
        response = await hoglet.client.post(BASE, json={"name": "a", "steps": steps})
        assert (response.status_code, response.json()["attr"]) == (400, f"steps__1__{attr}")
    steps = [
        {"event": "e", "properties": [rule, {}, {"type": "empty"}, {**rule, "type": "session"}]}
    ]
    response = await hoglet.client.post(BASE, json={"name": "a", "steps": steps})
    assert response.status_code == 201, response.text


async def test_a_number_is_replaced_by_the_boolean_that_python_takes_for_it(hoglet):
    """SQLAlchemy left the row as it was, and the response showed the new value."""
    condition = {"key": "paid", "type": "event", "operator": "exact"}
    number, boolean = (
        [{"event": "e", "properties": [{**condition, "value": v}]}] for v in (1, True)
    )
    action = (await hoglet.client.post(BASE, json={"name": "Paid", "steps": number})).json()
    schema = [{"key": "a", "type": "json"}]
    function = await hoglet.create(inputs_schema=schema, inputs={"a": {"value": {"k": 1}}})

    await hoglet.client.patch(f"{BASE}/{action['id']}", json={"steps": boolean})
    await hoglet.patch(function["id"], inputs={"a": {"value": {"k": True}}})

    action = (await hoglet.client.get(f"{BASE}/{action['id']}")).json()
    assert action["steps"][0]["properties"][0]["value"] is True
    read = (await hoglet.call("GET", f"/{function['id']}")).json()
    assert read["inputs"]["a"]["value"]["k"] is True
    history = (await hoglet.call("GET", f"/{function['id']}/activity")).json()["results"]
    assert [change["field"] for change in history[0]["detail"]["changes"]] == ["inputs"]


async def test_filters_refer_to_actions(hoglet, attr_of):
    id_ = (await hoglet.client.post(BASE, json={"name": "Docs", "steps": STEPS})).json()["id"]
    filters = {"actions": [{"id": str(id_), "type": "actions"}]}
    function = await hoglet.create(filters=filters, enabled=True)
    unknown = {"actions": [{"id": 999, "type": "actions"}]}
    body = {"hog": "return 1", "filters": unknown}
    refused = await hoglet.call("POST", json={**body, "enabled": True})
    disabled = (await hoglet.call("POST", json=body)).json()

    assert function["filters"]["bytecode"][-2:] == [3, 2]
    assert attr_of(refused) == (400, "invalid_input", "filters__non_field_errors")
    assert disabled["filters"]["bytecode"] is None
    assert "999" in disabled["filters"]["bytecode_error"]
    assert attr_of(await hoglet.patch(disabled["id"], enabled=True))[2].startswith("filters")
    fixed = (await hoglet.patch(disabled["id"], enabled=True, filters={})).json()
    assert "bytecode_error" not in fixed["filters"]


async def test_changing_an_action_compiles_its_functions_again(hoglet):
    id_ = (await hoglet.client.post(BASE, json={"steps": STEPS})).json()["id"]
    function = await hoglet.create(
        filters={"actions": [{"id": id_, "type": "actions"}]}, enabled=True
    )
    other = await hoglet.create(enabled=True)
    await hoglet.client.patch(f"{BASE}/{id_}", json={"steps": [{"event": "paid"}]})
    leased = await hoglet.queue.lease(RECOMPILE_QUEUE, limit=10, duration=timedelta(seconds=9))
    job = decode_recompile(leased[0].payload)
    async with hoglet.database.read() as session:
        project = await find_project(session, job.project_id)
    before = await hoglet.service.loader.version_stamp(1)

    assert await recompile(hoglet.service, project, action_id=job.action_id) == 1
    fresh = (await hoglet.call("GET", f"/{function['id']}")).json()
    assert fresh["filters"]["bytecode"] == ["_H", 1, 32, "paid", 32, "event", 1, 1, 11]
    assert fresh["updated_at"] == function["updated_at"]
    assert (await hoglet.call("GET", f"/{other['id']}")).json() == other
    assert await hoglet.service.loader.version_stamp(1) != before
    runnable = await hoglet.service.loader.load_runnable(1)
    assert [each.events for each in runnable if each.id == function["id"]] == [["paid"]]


async def test_functions_that_may_not_be_saved_are_compiled_again_too(hoglet):
    id_ = (await hoglet.client.post(BASE, json={"steps": STEPS})).json()["id"]
    filters = {"actions": [{"id": id_, "type": "actions"}]}
    internal = await hoglet.create(filters=filters, enabled=True)
    other = await hoglet.create(filters=filters, enabled=True)
    async with hoglet.database.write() as session:
        row = await repository.find(session, 1, UUID(internal["id"]))
        row.template_id = "template-posthog-capture"
        project = await find_project(session, 1)
    await hoglet.client.patch(f"{BASE}/{id_}", json={"steps": [{"event": "paid"}]})

    assert await recompile(hoglet.service, project, action_id=id_) == 2
    for each in (internal, other):
        fresh = (await hoglet.call("GET", f"/{each['id']}")).json()
        assert fresh["filters"]["bytecode"] == ["_H", 1, 32, "paid", 32, "event", 1, 1, 11]
        assert fresh["enabled"] is True


async def test_many_may_change_a_function_at_once(hoglet):
    function = await hoglet.create()
    changes = [hoglet.patch(function["id"], name=f"n{number}") for number in range(12)]

    answers = await asyncio.gather(*changes)
    assert [answer.status_code for answer in answers] == [200] * 12
