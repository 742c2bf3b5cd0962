"""Property definitions over the API, and the effect of a changed type on queries.

Source: docs/spec/data-and-queries.md#2-property-and-event-definitions.
"""

import json
from typing import Any

import pytest

from support.definitions import DefinitionWorld
from support.server import KEY

RECORD = {
    "id", "name", "description", "tags", "is_numerical", "property_type",
    "is_seen_on_filtered_events", "updated_at", "updated_by", "verified", "verified_at",
    "verified_by", "hidden", "unconverted_share",
}  # fmt: skip


def _names(body: dict[str, Any]) -> list[str]:
    return [each["name"] for each in body["results"] if each["name"] != "$ip"]


async def test_a_record_has_exactly_its_keys(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"price": 5}})

    record = await world.property("price")

    assert set(record) == RECORD
    assert record["property_type"] == "Numeric"
    assert record["is_numerical"] is True
    assert (record["description"], record["tags"]) == ("", [])
    assert (record["verified"], record["hidden"]) == (False, False)
    assert record["unconverted_share"] == 0
    assert record["is_seen_on_filtered_events"] is None
    assert await world.got(f"property_definitions/{record['id']}") == record


@pytest.mark.parametrize(
    ("params", "attr"),
    [
        ({"type": "group"}, "group_type_index"),
        ({"type": "group", "group_type_index": "5"}, "group_type_index"),
        ({"type": "group", "group_type_index": "x"}, "group_type_index"),
        ({"type": "event", "group_type_index": "0"}, "group_type_index"),
        ({"type": "person", "group_type_index": "0"}, "group_type_index"),
        ({"group_type_index": "0"}, "group_type_index"),
        ({"type": "evnt"}, "type"),
        ({"event_names": "a"}, "event_names"),
        ({"event_names": '{"a": 1}'}, "event_names"),
        ({"event_names": "[1]"}, "event_names"),
        ({"type": "person", "event_names": '["a"]'}, "event_names"),
        ({"excluded_properties": "[a]"}, "excluded_properties"),
        ({"is_numerical": "maybe"}, "is_numerical"),
        ({"verified": "2"}, "verified"),
    ],
)
async def test_parameters_that_are_refused(
    world: DefinitionWorld, params: dict[str, str], attr: str
) -> None:
    status, body = await world.send("GET", "property_definitions", **params)

    assert (status, body["attr"]) == (400, attr)


async def test_lists_are_narrowed_and_ordered(world: DefinitionWorld) -> None:
    await world.capture(
        {"event": "a", "properties": {"$browser": "x", "plan": "p", "size": 1, "$feature/f": "on"}},
        {"event": "b", "properties": {"utm_source": "g", "distinct_id": "u", "$set": {"email": 1},
                                      "$session_entry_url": "x", "timestamp": 5, "a_b": "%"}},
        {"event": "$groupidentify", "properties": {
            "$group_type": "company", "$group_key": "c", "$group_set": {"staff": 5}}},
    )  # fmt: skip
    status, _ = await world.send(
        "PATCH", f"property_definitions/{(await world.property('plan'))['id']}", {"verified": True}
    )
    assert status == 200

    async def listed(**params: Any) -> list[str]:
        return _names(await world.got("property_definitions", **params))

    whole = ["plan", "$browser", "$feature/f", "a_b", "size", "timestamp", "utm_source"]
    assert await listed() == whole
    assert await listed(type="event", limit=2) == whole[:2]
    assert await listed(limit=3, offset=4) == whole[3:6]  # after $ip
    assert await listed(search="bro") == ["$browser"]
    assert await listed(search="BRO sER") == ["$browser"]
    assert await listed(search="bro x") == []
    assert await listed(search="_") == ["a_b", "utm_source"]
    assert await listed(search="%") == []
    assert await listed(properties="plan, size,nope") == ["plan", "size"]
    assert await listed(excluded_properties='["plan", "size"]') == [
        name for name in whole if name not in {"plan", "size"}
    ]
    assert await listed(is_numerical="true") == ["size"]
    assert "size" not in await listed(is_numerical="false")
    assert await listed(is_feature_flag="true") == ["$feature/f"]
    assert "$feature/f" not in await listed(is_feature_flag="false")
    assert await listed(verified="true") == ["plan"]
    assert await listed(verified="false") == whole[1:]
    assert await listed(exclude_core_properties="true") == ["plan", "a_b", "size", "timestamp"]
    assert await listed(type="person") == ["$initial_utm_source", "email", "utm_source"]
    assert await listed(type="group", group_type_index=0) == ["staff"]
    assert await listed(type="group", group_type_index=1) == []


async def test_the_title_of_a_known_property_is_searched(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"$os": "Mac", "$lib": "web"}})

    listing = await world.got("property_definitions", search="operating sys")

    assert _names(listing) == ["$os"]


async def test_which_events_have_a_property(world: DefinitionWorld) -> None:
    await world.capture(
        {"event": "a", "properties": {"x": 1, "y": 1}}, {"event": "b", "properties": {"z": 1}}
    )
    expected = json.dumps(["b", "nope"])

    listing = await world.got("property_definitions", event_names=expected)
    seen = [(each["name"], each["is_seen_on_filtered_events"]) for each in listing["results"]]
    assert seen == [("$ip", True), ("z", True), ("x", False), ("y", False)]
    only = await world.got(
        "property_definitions", event_names=expected, filter_by_event_names="true"
    )
    assert (_names(only), only["count"]) == (["z"], 2)
    together = await world.got(
        "property_definitions/seen_together", event_names='["a", "b", "c"]', property_name="x"
    )
    assert together == {"a": True, "b": False, "c": False}
    status, body = await world.send("GET", "property_definitions/seen_together")
    assert (status, body["attr"]) == (400, "property_name")


async def test_properties_of_sessions_are_built_in(world: DefinitionWorld) -> None:
    listing = await world.got("property_definitions", type="session", search="duration")
    (record,) = listing["results"]

    assert set(record) == RECORD
    assert record["id"] == "$builtin_$session_duration"
    assert record["property_type"] == "Duration"
    assert await world.got(f"property_definitions/{record['id']}") == record
    for method in ("PATCH", "DELETE"):
        status, body = await world.send(
            method, f"property_definitions/{record['id']}", {"verified": True}
        )
        assert (status, body["code"]) == (400, "invalid_input")
    assert (await world.send("GET", "property_definitions/$builtin_nope"))[0] == 404


async def test_what_people_may_say(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"plan": "x"}})
    path = f"property_definitions/{(await world.property('plan'))['id']}"

    async def patched(**body: Any) -> dict[str, Any]:
        status, record = await world.send("PATCH", path, body)
        assert status == 200, record
        return record

    verified = await patched(verified=True)
    assert verified["verified"] is True
    assert verified["verified_by"]["id"] == verified["updated_by"]["id"]
    assert (await patched(verified=True))["verified_at"] == verified["verified_at"]
    cleared = await patched(verified=False)
    assert [cleared[key] for key in ("verified", "verified_at", "verified_by")] == [
        False, None, None,
    ]  # fmt: skip
    await patched(verified=True)
    hidden = await patched(hidden=True)
    assert (hidden["hidden"], hidden["verified"], hidden["verified_at"]) == (True, False, None)
    said = await patched(description=" what it is ", tags=["a", "b"], id="x", name="other")
    assert (said["description"], said["tags"], said["name"]) == ("what it is", ["a", "b"], "plan")
    status, body = await world.send("PATCH", path, {"hidden": True, "verified": True})
    assert (status, body["type"]) == (400, "validation_error")
    assert _names(await world.got("property_definitions", exclude_hidden="true")) == []
    assert (await patched(hidden=None))["hidden"] is False  # as the original stores null
    numeric = await patched(property_type="Numeric")
    assert numeric["is_numerical"] is True
    assert (await patched(property_type="Duration"))["is_numerical"] is False
    assert (await patched(property_type=None))["property_type"] is None
    status, body = await world.send("PATCH", path, {"property_type": "Money"})
    assert (status, body["attr"]) == (400, "property_type")
    activity = await world.got("activity_log", scope="PropertyDefinition")
    changes = [change for each in activity["results"] for change in each["detail"]["changes"]]
    assert {"property_type", "verified", "hidden", "tags"} <= {each["field"] for each in changes}


async def test_other_methods_and_ids(world: DefinitionWorld) -> None:
    assert (await world.send("POST", "property_definitions", {"name": "x"}))[0] == 405
    for definition_id in ("nope", "0193e8c6-0000-7000-8000-0000000000aa"):
        for method in ("GET", "PATCH", "DELETE"):
            status, _ = await world.send(method, f"property_definitions/{definition_id}", {})
            assert status == 404


async def test_a_deleted_definition_comes_back_with_the_next_event(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"k": 5}})
    record = await world.property("k")
    path = f"property_definitions/{record['id']}"
    await world.send("PATCH", path, {"description": "x", "verified": True})

    assert (await world.send("DELETE", path))[0] == 204
    assert (await world.send("GET", path))[0] == 404
    assert _names(await world.got("property_definitions")) == []
    assert await world.query("select properties.k, toTypeName(properties.k) from events") == [
        ["5", "Nullable(String)"]
    ]
    await world.capture({"properties": {"k": "text"}})
    again = await world.property("k")
    assert (again["description"], again["verified"], again["property_type"]) == (
        "", False, "String",
    )  # fmt: skip
    assert again["id"] != record["id"]
    # The number that was stored before is still read, though all values since are texts.
    rows = await world.query("select properties.k from events order by timestamp")
    assert rows == [["5"], ["text"]]


async def test_a_changed_type_is_what_the_next_query_reads(world: DefinitionWorld) -> None:
    await world.capture(*({"properties": {"k": value}} for value in ("1", "x", 2)))
    total = "select sum(toFloat(properties.k)), countIf(properties.k is null) from events"
    plain = "select properties.k as v from events order by toString(properties.k)"
    raw = "select JSONExtractString(properties, 'k') as v, properties from events order by v"
    before = await world.query(raw)
    assert await world.query(plain) == [["1"], ["2"], ["x"]]

    await world.retype("k", "Numeric")
    assert await world.query(plain) == [[1], [2], [None]]
    assert await world.query(total) == [[3, 1]]
    assert await world.query("select count() from events where properties.k = 'x'") == [[1]]
    assert await world.query(raw) == before
    await world.retype("k", "String")
    assert await world.query(plain) == [["1"], ["2"], ["x"]]
    assert await world.query(raw) == before
    await world.retype("k", "Boolean")
    assert await world.query(plain) == [[None], [None], [None]]
    await world.retype("k", None)
    assert await world.query(plain) == [["1"], ["2"], ["x"]]


async def test_types_of_persons_and_groups_change_too(world: DefinitionWorld) -> None:
    await world.capture(
        {"event": "$groupidentify", "properties": {
            "$group_type": "company", "$group_key": "c", "$group_set": {"k": "5"}}},
        {"event": "e", "properties": {"$set": {"k": "7"}, "$groups": {"company": "c"}}},
    )  # fmt: skip
    sql = "select person.properties.k, company.properties.k from events where event = 'e'"
    assert await world.query(sql) == [["7", "5"]]

    await world.retype("k", "Numeric", "person")
    await world.retype("k", "Numeric", "group")

    assert await world.query(sql) == [[7, 5]]
    assert await world.query("select properties.k from groups") == [[5]]


@pytest.mark.parametrize(
    ("values", "property_type", "share"),
    [
        ([1, 2, "x", "y"], "Numeric", 0.5),
        ([1, 2, "3", None], "Numeric", 0),
        (["1", "x"], "Numeric", 0.5),
        (["1", "x"], "String", 0),
        ([True, "true", "no", 1], "Boolean", 0.5),
        (["2023-12-13", "soon", "2023-12-13T10:00:00Z", []], "DateTime", 0.5),
        ([5, 6], "Boolean", 1),
        ([5, 6], "Duration", 0),
        ([[], {}], None, None),
    ],
)
async def test_the_share_of_values_that_do_not_convert(
    world: DefinitionWorld, values: list[Any], property_type: str | None, share: float | None
) -> None:
    await world.capture(*({"properties": {"k": value, "$set": {"k": value}}} for value in values))
    await world.retype("k", property_type)

    assert (await world.property("k"))["unconverted_share"] == share


async def test_the_share_of_persons_and_groups(world: DefinitionWorld) -> None:
    for index, value in enumerate([1, "x", "y", "z"]):
        group = {"$group_type": "company", "$group_key": f"c{index}", "$group_set": {"k": value}}
        await world.capture(
            {"event": "$groupidentify", "properties": group},
            {"distinct_id": f"u{index}", "properties": {"$set": {"k": value}}},
        )

    assert (await world.property("k", "person"))["unconverted_share"] == 0.75
    assert (await world.property("k", "group", group_type_index=0))["unconverted_share"] == 0.75


async def test_keys_need_the_scope(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"k": 1}})
    path = f"property_definitions/{(await world.property('k'))['id']}"
    response = await world.client.post(
        "/api/personal_api_keys/",
        json={"label": "r", "scopes": ["property_definition:read"]},
        headers={"Authorization": f"Bearer {KEY}"},
    )
    reader = response.json()["value"]

    assert (await world.send("GET", path, key=reader))[0] == 200
    status, body = await world.send("PATCH", path, {"verified": True}, key=reader)
    assert (status, "property_definition:write" in body["detail"]) == (403, True)
    status, body = await world.send("GET", "event_definitions", key=reader)
    assert (status, "event_definition:read" in body["detail"]) == (403, True)


async def test_another_project_sees_nothing(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"k": 1}})
    record = await world.property("k")
    (event,) = (await world.got("event_definitions"))["results"]
    mine, world.project_id = world.project_id, 1

    assert (await world.got("property_definitions"))["count"] == 0
    assert (await world.got("event_definitions"))["count"] == 0
    for path in (f"property_definitions/{record['id']}", f"event_definitions/{event['id']}"):
        for method in ("GET", "PATCH", "DELETE"):
            assert (await world.send(method, path, {"hidden": True}))[0] == 404
    together = await world.got(
        "property_definitions/seen_together", event_names='["e"]', property_name="k"
    )
    assert together == {"e": False}
    world.project_id = mine
    assert (await world.property("k"))["hidden"] is False


async def test_always_text(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"$ai_trace_id": 5}})
    await world.retype("$ai_trace_id", "Numeric")

    assert await world.query("select properties.$ai_trace_id from events") == [["5"]]
