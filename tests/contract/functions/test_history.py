"""The change history of a function, and restoring an earlier state."""

from uuid import UUID

SCHEMA = [
    {"key": "url", "type": "string", "required": True},
    {"key": "token", "type": "string", "secret": True},
]


async def history(hoglet, function, query=""):
    answer = await hoglet.call("GET", f"/{function['id']}/activity/{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def change(hoglet, function, **fields):
    answer = await hoglet.call("PATCH", f"/{function['id']}/", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def restore(hoglet, function, **body):
    return await hoglet.call("POST", f"/{function['id']}/restore/", json=body)


async def made_and_changed(hoglet):
    inputs = {"url": {"value": "https://a.example"}, "token": {"value": "hush"}}
    function = await hoglet.create(
        name="one", hog="print(1)", enabled=True, inputs_schema=SCHEMA, inputs=inputs
    )
    first = await hoglet.call("GET", f"/{function['id']}/")
    await change(hoglet, function, name="two", hog="print(2)")
    await change(hoglet, function, filters={"events": [{"id": "paid", "type": "events"}]})
    await change(hoglet, function, inputs={"url": {"value": "https://b.example"}})
    await change(hoglet, function, enabled=False, masking={"ttl": 60, "hash": "{event.uuid}"})
    return first.json()


async def test_history_tells_each_changed_field_newest_first(hoglet):
    created = await made_and_changed(hoglet)
    page = await history(hoglet, created, "?limit=2")

    assert (page["count"], len(page["results"])) == (5, 2)
    assert page["next"].endswith(f"/{created['id']}/activity/?limit=2&offset=2")
    newest = page["results"][0]
    assert newest["user"]["id"] == 1
    fields = {change["field"]: change for change in newest["detail"]["changes"]}
    assert set(fields) == {"enabled", "masking"}
    assert (fields["enabled"]["before"], fields["enabled"]["after"]) == (True, False)
    entries = (await history(hoglet, created))["results"]
    assert entries[-1]["activity"] == "created"
    assert "hush" not in str(entries)


async def test_restoring_brings_every_field_back_and_keeps_the_secret(hoglet):
    first = await made_and_changed(hoglet)
    entries = (await history(hoglet, first))["results"]
    answer = await restore(hoglet, first, activity_id=entries[-1]["id"])

    assert answer.status_code == 200, answer.text
    restored = answer.json()
    changing = {"updated_at", "status"}
    assert {k: v for k, v in restored.items() if k not in changing} == {
        k: v for k, v in first.items() if k not in changing
    }
    assert restored["inputs"]["token"] == {"secret": True}
    newest = (await history(hoglet, first))["results"][0]
    assert newest["activity"] == "updated"
    assert {change["field"] for change in newest["detail"]["changes"]} >= {"name", "hog", "enabled"}


async def test_restoring_to_a_time_undoes_only_what_came_later(hoglet):
    created = await made_and_changed(hoglet)
    entries = (await history(hoglet, created))["results"]
    answer = await restore(hoglet, created, to=entries[2]["created_at"])  # the filters were set

    restored = answer.json()
    assert (restored["name"], restored["enabled"], restored["masking"]) == ("two", True, None)
    assert restored["filters"]["events"][0]["id"] == "paid"
    assert restored["inputs"]["url"]["value"] == "https://a.example"


async def test_a_way_back_can_be_undone_too(hoglet):
    created = await made_and_changed(hoglet)
    before = (await history(hoglet, created))["results"][0]
    present = (await hoglet.call("GET", f"/{created['id']}/")).json()
    await restore(hoglet, created, to=created["updated_at"])
    again = (await restore(hoglet, created, activity_id=before["id"])).json()

    for field in ("name", "hog", "filters", "inputs", "masking", "enabled"):
        assert again[field] == present[field], field


async def test_moments_that_are_none_are_refused(hoglet):
    created = await made_and_changed(hoglet)
    other = await hoglet.create(name="other")
    foreign = (await history(hoglet, other))["results"][0]["id"]
    for body, attr in [
        ({}, None),
        ({"activity_id": foreign, "to": "2026-01-01"}, None),
        ({"activity_id": foreign}, "activity_id"),
        ({"activity_id": "x"}, "activity_id"),
        ({"to": "soon"}, "to"),
        ({"to": 5}, "to"),
        ({"to": "2001-01-01"}, "to"),
    ]:
        answer = await restore(hoglet, created, **body)
        assert (answer.status_code, answer.json()["attr"]) == (400, attr), body


async def test_what_the_present_rules_refuse_is_not_restored(hoglet):
    function = await hoglet.create(
        name="one", inputs_schema=[{"key": "a", "type": "string", "required": True}],
        inputs={"a": {"value": "x"}},
    )  # fmt: skip
    secret = [{"key": "a", "type": "string", "required": True, "secret": True}]
    await change(hoglet, function, inputs_schema=secret, inputs={"a": {"value": "hush"}})
    await change(hoglet, function, inputs_schema=[], inputs={})
    entries = (await history(hoglet, function))["results"]
    answer = await restore(hoglet, function, activity_id=entries[1]["id"])

    assert (answer.status_code, answer.json()["attr"]) == (400, "inputs__a")


TOKEN = [{"key": "t", "type": "string", "required": True}]
SECRET_TOKEN = [{**TOKEN[0], "secret": True}]


async def value_of(hoglet, function):
    loaded = await hoglet.service.loader.load_one(1, UUID(function["id"]))
    return [item.value for item in (loaded.mappings[0] if loaded.mappings else loaded).inputs]


async def test_a_value_that_becomes_secret_leaves_the_history(hoglet):
    function = await hoglet.create(
        inputs_schema=TOKEN, inputs={"t": {"value": "hush-1"}}, name="one"
    )
    await change(hoglet, function, inputs={"t": {"value": "hush"}}, name="two")
    assert "hush" in str(await history(hoglet, function))
    await change(hoglet, function, inputs_schema=SECRET_TOKEN)

    entries = await history(hoglet, function)
    assert "hush" not in str(entries)
    again = await restore(hoglet, function, activity_id=entries["results"][-1]["id"])
    assert again.status_code == 200, again.text
    assert (again.json()["name"], again.json()["inputs"]) == ("one", {"t": {"secret": True}})
    assert await value_of(hoglet, function) == ["hush"]


async def test_a_value_of_a_mapping_that_becomes_secret_leaves_the_history(hoglet):
    plain = {"name": "m", "inputs_schema": TOKEN, "inputs": {"t": {"value": "hush"}}}
    function = await hoglet.create(mappings=[plain])
    await change(hoglet, function, mappings=[{**plain, "disabled": True}])
    await change(hoglet, function, mappings=[{**plain, "inputs_schema": SECRET_TOKEN}])

    entries = await history(hoglet, function)
    assert "hush" not in str(entries)
    again = await restore(hoglet, function, activity_id=entries["results"][1]["id"])
    assert again.status_code == 200, again.text
    assert again.json()["mappings"][0]["disabled"] is True
    assert again.json()["mappings"][0]["inputs"] == {"t": {"secret": True}}
    assert await value_of(hoglet, function) == ["hush"]


async def test_a_secret_that_became_plain_stays_as_it_is(hoglet):
    function = await hoglet.create(
        inputs_schema=[*SECRET_TOKEN, {"key": "x", "type": "string"}],
        inputs={"t": {"value": "hush"}, "x": {"value": "1"}},
    )
    await change(hoglet, function, inputs_schema=TOKEN, inputs={"t": {"value": "open"}})
    await change(hoglet, function, inputs={"t": {"value": "other"}})

    entries = await history(hoglet, function)
    assert "hush" not in str(entries)
    again = await restore(hoglet, function, activity_id=entries["results"][1]["id"])
    assert (again.status_code, again.json()["inputs"]["t"]["value"]) == (200, "open")


async def test_a_value_that_was_secret_in_between_is_restored_as_it_is_now(hoglet):
    function = await hoglet.create(inputs_schema=TOKEN, inputs={"t": {"value": "hush"}}, name="one")
    await change(hoglet, function, inputs_schema=SECRET_TOKEN)
    await change(hoglet, function, inputs_schema=TOKEN, inputs={"t": {"value": "open"}}, name="two")

    entries = await history(hoglet, function)
    assert "hush" not in str(entries)
    again = await restore(hoglet, function, activity_id=entries["results"][-1]["id"])
    assert again.status_code == 200, again.text
    assert (again.json()["name"], again.json()["inputs"]["t"]["value"]) == ("one", "open")


async def test_a_secret_of_one_mapping_leaves_the_same_key_of_another_alone(hoglet):
    secret = {"name": "s", "inputs_schema": SECRET_TOKEN, "inputs": {"t": {"value": "hush"}}}
    plain = {"name": "p", "inputs_schema": TOKEN, "inputs": {"t": {"value": "open"}}}
    function = await hoglet.create(mappings=[secret, plain], name="one")
    masked = {**secret, "inputs": {"t": {"secret": True}}}
    await change(hoglet, function, name="two")
    await change(hoglet, function, mappings=[{**plain, "inputs": {"t": {"value": "wide"}}}, masked])
    entries = (await history(hoglet, function))["results"]
    named = await restore(hoglet, function, activity_id=entries[0]["id"])
    assert [mapping["name"] for mapping in named.json()["mappings"]] == ["p", "s"]
    again = await restore(hoglet, function, activity_id=entries[-1]["id"])

    assert again.status_code == 200, again.text
    first, second = again.json()["mappings"]
    assert (first["name"], first["inputs"]) == ("s", {"t": {"secret": True}})
    assert (second["name"], second["inputs"]["t"]["value"]) == ("p", "open")
    assert await value_of(hoglet, function) == ["hush"]
