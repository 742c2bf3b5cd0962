"""Event definitions over the API.

Source: docs/spec/data-and-queries.md#25-event_definitions.
"""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from hoglet.definitions.tables import EventDefinitionRow
from support.definitions import DefinitionWorld

RECORD = {
    "id", "name", "owner", "description", "tags", "created_at", "updated_at", "updated_by",
    "last_seen_at", "last_updated_at", "verified", "verified_at", "verified_by", "hidden",
    "is_action", "action_id", "is_calculating", "last_calculated_at", "created_by",
    "post_to_slack", "default_columns",
}  # fmt: skip


async def _listed(world: DefinitionWorld, **params: Any) -> list[str]:
    listing = await world.got("event_definitions", **params)
    return [each["name"] for each in listing["results"]]


async def _path(world: DefinitionWorld, name: str) -> str:
    listing = await world.got("event_definitions", search=name)
    (record,) = [each for each in listing["results"] if each["name"] == name]
    return f"event_definitions/{record['id']}"


async def test_a_record_has_exactly_its_keys(world: DefinitionWorld) -> None:
    await world.capture({"event": "buy"})

    (record,) = (await world.got("event_definitions"))["results"]

    assert set(record) == RECORD
    assert record["last_seen_at"] is not None
    assert (record["is_action"], record["action_id"], record["post_to_slack"]) == (
        False, None, False,
    )  # fmt: skip
    assert await world.got(await _path(world, "buy")) == record


async def test_the_order_is_last_seen_day_then_name(world: DefinitionWorld) -> None:
    await world.capture(*({"event": name} for name in ("b", "a", "d", "c")))
    now = world.services.clock.now()
    row = EventDefinitionRow
    async with world.services.database.write() as session:
        for name, days in (("a", 3), ("d", 1), ("c", 1)):
            statement = update(row).where(row.project_id == world.project_id, row.name == name)
            at = now - timedelta(days=days, hours=1 if name == "c" else 0, microseconds=0)
            at = at.replace(hour=12 if name == "d" else 13, minute=0)
            await session.execute(statement.values(last_seen_at=at, created_at=at))
    await world.send("POST", "event_definitions", {"name": "unseen"})

    days_of_d_and_c = sorted(["d", "c"])
    listed = await _listed(world)
    assert listed[0] == "b"
    assert sorted(listed[1:3]) == days_of_d_and_c
    assert listed[3:] == ["a", "unseen"]
    assert await _listed(world, ordering="name") == ["a", "b", "c", "d", "unseen"]
    assert await _listed(world, ordering="-name") == ["unseen", "d", "c", "b", "a"]
    assert (await _listed(world, ordering="last_seen_at"))[0] == "a"
    assert (await _listed(world, ordering="-last_seen_at"))[-1] == "unseen"
    assert (await _listed(world, ordering="-created_at"))[0] == "unseen"
    assert await _listed(world, ordering="name", limit=2, offset=1) == ["b", "c"]


async def test_lists_are_narrowed(world: DefinitionWorld) -> None:
    await world.capture(*({"event": name} for name in ("$pageview", "page left", "buy", "a_b")))
    for name, body in (
        ("buy", {"tags": ["money", 'quo"te'], "verified": True}),
        ("a_b", {"hidden": True, "tags": ["mon"]}),
    ):
        assert (await world.send("PATCH", await _path(world, name), body))[0] == 200

    assert set(await _listed(world, event_type="event")) == {
        "$pageview", "page left", "buy", "a_b",
    }  # fmt: skip
    assert await _listed(world, event_type="event_posthog") == ["$pageview"]
    assert set(await _listed(world, event_type="event_custom")) == {"page left", "buy", "a_b"}
    assert set(await _listed(world, search="PAGE")) == {"$pageview", "page left"}
    assert await _listed(world, search="page le") == ["page left"]
    assert await _listed(world, search="page view") == ["$pageview"]
    assert await _listed(world, search="_") == ["a_b"]
    assert set(await _listed(world, excluded_properties='["buy"]')) == {
        "$pageview", "page left", "a_b",
    }  # fmt: skip
    assert await _listed(world, tags='["money"]') == ["buy"]
    assert await _listed(world, tags='["quo\\"te"]') == ["buy"]
    assert await _listed(world, tags='["mon"]') == ["a_b"]
    assert set(await _listed(world, tags='["mon", "money"]')) == {"a_b", "buy"}
    assert await _listed(world, verified="true") == ["buy"]
    assert "a_b" not in await _listed(world, exclude_hidden="true")


@pytest.mark.parametrize(
    ("params", "attr"),
    [
        ({"event_type": "posthog"}, "event_type"),
        ({"ordering": "seen"}, "ordering"),
        ({"tags": "money"}, "tags"),
        ({"excluded_properties": "{}"}, "excluded_properties"),
        ({"verified": "maybe"}, "verified"),
    ],
)
async def test_parameters_that_are_refused(
    world: DefinitionWorld, params: dict[str, str], attr: str
) -> None:
    status, body = await world.send("GET", "event_definitions", **params)

    assert (status, body["attr"]) == (400, attr)


async def test_an_event_may_be_announced(world: DefinitionWorld) -> None:
    body = {"name": "signed up", "description": "d", "tags": ["a"], "default_columns": ["x"]}
    status, record = await world.send("POST", "event_definitions", body)

    assert status == 201
    assert record["last_seen_at"] is None
    assert record["created_by"]["id"] == record["updated_by"]["id"]
    assert (record["description"], record["tags"], record["default_columns"]) == (
        "d", ["a"], ["x"],
    )  # fmt: skip
    status, problem = await world.send("POST", "event_definitions", {"name": "signed up"})
    assert (status, problem["attr"]) == (400, "name")
    await world.capture({"event": "signed up"})
    seen = await world.got(f"event_definitions/{record['id']}")
    assert seen["last_seen_at"] is not None
    assert seen["description"] == "d"
    for bad in ({}, {"name": ""}, {"name": "x" * 401}, {"name": None}):
        status, problem = await world.send("POST", "event_definitions", bad)
        assert (status, problem["attr"]) == (400, "name")


async def test_what_people_may_say(world: DefinitionWorld) -> None:
    await world.capture({"event": "buy"})
    path = await _path(world, "buy")

    status, record = await world.send("PATCH", path, {"verified": True, "owner": 1})
    assert (status, record["verified"], record["owner"]["id"]) == (200, True, 1)
    status, record = await world.send("PUT", path, {"hidden": True, "owner": None})
    assert (record["hidden"], record["verified"], record["owner"]) == (True, False, None)
    status, _ = await world.send("PATCH", path, {"hidden": True, "verified": True})
    assert status == 400
    for nobody in (999, -1, 2**31, 2**63):
        status, body = await world.send("PATCH", path, {"owner": nobody})
        assert (status, body["attr"]) == (400, "owner")
    status, record = await world.send("PATCH", path, {"name": "other", "id": 5})
    assert (status, record["name"]) == (200, "buy")
    activity = await world.got("activity_log", scope="EventDefinition")
    assert {each["activity"] for each in activity["results"]} == {"changed"}


async def test_a_deleted_definition_comes_back_with_the_next_event(world: DefinitionWorld) -> None:
    await world.capture({"event": "buy"})
    path = await _path(world, "buy")

    assert (await world.send("DELETE", path))[0] == 204
    assert (await world.send("GET", path))[0] == 404
    assert await world.query("select count() from events where event = 'buy'") == [[1]]
    await world.capture({"event": "buy"})
    assert await _listed(world) == ["buy"]
