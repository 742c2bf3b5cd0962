"""Listing functions: docs/spec/hog-functions.md#8-list-row-1 and
docs/spec/hog-functions.md#16-concrete-cases (cases 5, 7 and 8).
"""

import json

import pytest

ITEM_KEYS = {
    "id", "type", "name", "description", "created_at", "created_by", "updated_at", "enabled",
    "hog", "filters", "icon_url", "template", "status", "execution_order",
}  # fmt: skip


async def names(hoglet, query):
    response = await hoglet.call("GET", "", params=query)
    assert response.status_code == 200, response.text
    return [item["name"] for item in response.json()["results"]]


async def test_items_have_14_keys_and_full_ones_24(hoglet):
    await hoglet.create()
    item = (await hoglet.call("GET", "/")).json()["results"][0]
    full = (await hoglet.call("GET", "?full=true")).json()["results"][0]
    searched = (await hoglet.call("GET", "?search=f")).json()["results"][0]

    assert set(item) == ITEM_KEYS
    assert len(full) == 24
    assert set(searched) == ITEM_KEYS | {"search_match_type"}


async def test_types_are_united(hoglet):
    await hoglet.create(name="d")
    await hoglet.create(name="t", type="transformation", hog="return event")
    await hoglet.create(name="a", type="internal_destination")

    assert set(await names(hoglet, {"type": "destination,transformation"})) == {"d", "t"}
    assert set(await names(hoglet, {"type": ["destination", "transformation"]})) == {"d", "t"}
    assert set(await names(hoglet, {"type[]": ["internal_destination"]})) == {"a"}
    assert len(await names(hoglet, {})) == 3


async def test_stored_filters_are_matched_by_containment(hoglet):
    await hoglet.create(name="test", filters={"filter_test_accounts": True})
    events = {"events": [{"id": "$pageview", "name": "p", "type": "events", "order": 0}]}
    await hoglet.create(name="page", filters=events)

    assert await names(hoglet, {"filters": json.dumps({"filter_test_accounts": True})}) == ["test"]
    assert await names(hoglet, {"filters": json.dumps({"filter_test_accounts": False})}) == []
    group = [{"events": [{"id": "$pageview", "type": "events"}]}]
    assert await names(hoglet, {"filter_groups": json.dumps(group)}) == ["page"]
    both = {"filter_groups": json.dumps(group), "filters": '{"filter_test_accounts": true}'}
    assert set(await names(hoglet, both)) == {"page", "test"}


async def test_paging_and_its_links(hoglet):
    for index in range(7):
        await hoglet.create(name=f"f{index}")
    page = (await hoglet.call("GET", "/?limit=3&offset=3")).json()

    assert (page["count"], len(page["results"])) == (7, 3)
    assert page["next"] == "http://hoglet/api/projects/1/hog_functions/?limit=3&offset=6"
    assert page["previous"] == "http://hoglet/api/projects/1/hog_functions/?limit=3"
    assert (await hoglet.call("GET", "?limit=0")).json()["next"] is None


@pytest.mark.parametrize(
    ("query", "code", "attr"),
    [
        ({"id": "x"}, "invalid_input", "id"),
        ({"created_by": "999"}, "invalid_choice", "created_by"),
        ({"created_at": "soon"}, "invalid_input", "created_at"),
        ({"search": "x" * 201}, "invalid_input", "search"),
        ({"filters": "{"}, "invalid_input", "filters"),
        ({"filter_groups": "{}"}, "invalid_input", "filter_groups"),
    ],
)
async def test_what_a_parameter_refuses(hoglet, attr_of, query, code, attr):
    assert attr_of(await hoglet.call("GET", "", params=query)) == (400, code, attr)


async def test_plain_parameters(hoglet):
    function = await hoglet.create(name="on", enabled=True)
    await hoglet.create(name="off")

    assert await names(hoglet, {"enabled": "true"}) == ["on"]
    assert await names(hoglet, {"enabled": "false"}) == ["off"]
    assert len(await names(hoglet, {"enabled": "perhaps"})) == 2
    assert await names(hoglet, {"id": function["id"]}) == ["on"]
    assert await names(hoglet, {"created_at": function["created_at"]}) == ["on"]
    assert len(await names(hoglet, {"created_by": "1"})) == 2


async def test_search_ranks_names_before_descriptions_and_forgives_typing(hoglet):
    await hoglet.create(name="Zapier", description="like Slack")
    await hoglet.create(name="Slack alerts", description="")
    await hoglet.create(name="Webhook", description="plain")

    assert await names(hoglet, {"search": "SLACK"}) == ["Slack alerts", "Zapier"]
    assert await names(hoglet, {"search": "Sla"}) == ["Slack alerts", "Zapier"]
    assert (await names(hoglet, {"search": "slcak"}))[0] == "Slack alerts"
    assert "Webhook" not in await names(hoglet, {"search": "slcak"})
    assert len(await names(hoglet, {"search": "   "})) == 3
    for text in ("&|!", "'; DROP TABLE x; --", "a\x00b", "%", "_", "(", "\\"):
        await names(hoglet, {"search": text})


@pytest.mark.parametrize("query", ["", "limit=300", "limit=50&offset=100", "limit=garbage"])
async def test_the_default_page_is_100_and_the_largest_1000(hoglet, query):
    from hoglet.functions.tables import HogFunctionRow
    from hoglet.kit.clock import new_id

    first = await hoglet.create()
    async with hoglet.database.write() as session:
        row = await session.get(HogFunctionRow, __import__("uuid").UUID(first["id"]))
        columns = {c.name: getattr(row, c.name) for c in HogFunctionRow.__table__.columns}
        session.add_all(HogFunctionRow(**{**columns, "id": new_id()}) for _ in range(149))
    page = (await hoglet.call("GET", f"?{query}")).json()

    expected = {"limit=300": 150, "limit=50&offset=100": 50}.get(query, 100)
    assert (page["count"], len(page["results"])) == (150, expected)
