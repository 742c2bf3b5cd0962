"""Templates over HTTP: docs/spec/hog-functions.md#33-template_id,
docs/spec/hog-functions.md#11-templates and docs/spec/hog-functions.md#16-concrete-cases (cases 2
and 3)."""

import httpx
import pytest

FIELDS = {
    "id", "name", "description", "code", "code_language", "inputs_schema", "type", "status",
    "category", "free", "icon_url", "filters", "masking", "mapping_templates",
}  # fmt: skip
BASE = "/api/projects/1/hog_function_templates"


async def ids(client, path):
    response = await client.get(path)
    assert response.status_code == 200
    return [result["id"] for result in response.json()["results"]]


async def test_templates_are_listed_by_type(hoglet):
    client = hoglet.client
    destinations = await ids(client, BASE)

    assert {"template-webhook", "template-slack", "template-posthog-capture"} <= set(destinations)
    assert "template-geoip" in await ids(client, BASE + "?type=transformation")
    assert await ids(client, BASE + "?type=nope") == []
    both = await ids(client, BASE + "/?types=site_app,source_webhook")
    assert set(both) == {"template-blank-site-app", "template-source-webhook"}
    assert await ids(client, BASE + "?template_id=template-slack") == ["template-slack"]


async def test_one_template_has_the_specified_fields(hoglet):
    template = (await hoglet.client.get(BASE + "/template-webhook")).json()

    assert set(template) == FIELDS
    assert (template["filters"], template["masking"], template["mapping_templates"]) == (
        None,
        None,
        None,
    )
    assert (await hoglet.client.get(BASE + "/template-nope")).status_code == 404
    assert (await hoglet.client.get(template["icon_url"])).headers[
        "content-type"
    ] == "image/svg+xml"


async def test_the_public_list_needs_no_key_and_hides_hidden_ones(hoglet):
    transport = httpx.ASGITransport(app=hoglet.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://hoglet") as anybody:
        listed = await ids(anybody, "/api/public_hog_function_templates")
        refused = await anybody.get(BASE)

    assert "template-webhook" in listed
    assert "template-posthog-capture" not in listed
    assert refused.status_code == 401


async def test_the_most_used_come_first(hoglet):
    body = {"template_id": "template-zapier", "inputs": {"hook": {"value": "x"}}, "enabled": True}
    assert (await hoglet.call("POST", json=body)).status_code == 201

    assert (await ids(hoglet.client, BASE))[0] == "template-zapier"


async def test_what_a_function_takes_from_its_template(hoglet, attr_of):
    body = {"template_id": "template-webhook", "type": "destination"}
    refused = await hoglet.call("POST", json=body)
    inputs = {"url": {"value": "https://example.com"}}
    created = (await hoglet.call("POST", json={**body, "inputs": inputs})).json()
    template = (await hoglet.client.get(BASE + "/template-webhook")).json()

    assert attr_of(refused) == (400, "invalid_input", "inputs__url")
    assert refused.json()["detail"] == "This field is required."
    assert created["hog"] == template["code"]
    for name in ("inputs_schema", "name", "description", "icon_url"):
        assert created[name] == template[name]
    assert created["template"] == template
    assert created["template_id"] == "template-webhook"
    own = (await hoglet.call("POST", json={**body, "inputs": inputs, "hog": "return 2"})).json()
    assert own["hog"] == "return 2"


async def test_a_slack_function_needs_its_workspace_and_channel(hoglet):
    inputs = {"slack_workspace": {"value": 1}, "channel": {"value": "#general"}}
    body = {"type": "destination", "template_id": "template-slack", "inputs": inputs}

    assert (await hoglet.call("POST", json=body)).status_code == 201


async def test_hidden_templates_cannot_be_used(hoglet, attr_of):
    body = {"type": "destination", "template_id": "template-posthog-capture"}

    assert attr_of(await hoglet.call("POST", json=body)) == (400, "invalid_input", "template_id")


@pytest.mark.parametrize("enabled", [True, False])
async def test_functions_of_a_hidden_template_can_only_be_switched_off(hoglet, attr_of, enabled):
    from uuid import UUID

    from hoglet.functions.tables import HogFunctionRow

    function = await hoglet.create(enabled=enabled)
    async with hoglet.database.write() as session:
        row = await session.get(HogFunctionRow, UUID(function["id"]))
        row.template_id = "template-posthog-capture"

    assert attr_of(await hoglet.patch(function["id"], enabled=True)) == (
        400,
        "invalid_input",
        "enabled",
    )
    renamed = await hoglet.patch(function["id"], name="x")
    assert renamed.status_code == (400 if enabled else 200)
    assert (await hoglet.patch(function["id"], enabled=False)).status_code == 200
    assert (await hoglet.patch(function["id"], deleted=True)).status_code == 200
