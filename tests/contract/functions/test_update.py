"""Updating functions: docs/spec/hog-functions.md#3-writing-rows-2-and-4,
docs/spec/hog-functions.md#44-secrets and docs/spec/hog-functions.md#16-concrete-cases (4, 6).
"""

import pytest


async def test_patch_changes_only_what_is_sent_and_put_is_partial_too(hoglet):
    function = await hoglet.create(description="d")
    patched = (await hoglet.patch(function["id"], name="g")).json()
    put = (await hoglet.call("PUT", f"/{function['id']}/", json={"enabled": True})).json()

    assert (patched["name"], patched["description"]) == ("g", "d")
    assert (put["name"], put["enabled"]) == ("g", True)
    assert put["updated_at"] > patched["updated_at"] > function["updated_at"]


async def test_deleted_functions_vanish_until_deleted_false_restores_them(hoglet):
    function = await hoglet.create(enabled=True)
    deleted = await hoglet.patch(function["id"], deleted=True)

    assert deleted.status_code == 200
    assert (deleted.json()["deleted"], deleted.json()["enabled"]) == (True, True)
    assert (await hoglet.call("GET", f"/{function['id']}")).status_code == 404
    assert (await hoglet.patch(function["id"], name="x")).status_code == 404
    assert (await hoglet.patch(function["id"], deleted="false")).status_code == 404
    assert (await hoglet.call("GET")).json()["count"] == 0
    restored = await hoglet.patch(function["id"], deleted=False)
    assert (restored.status_code, restored.json()["deleted"]) == (200, False)
    assert (await hoglet.call("GET", f"/{function['id']}")).status_code == 200


async def test_saves_are_written_to_the_activity_log(hoglet):
    from hoglet.access.activity import list_activities

    function = await hoglet.create()
    await hoglet.patch(function["id"], deleted=True)
    async with hoglet.database.read() as session:
        entries = await list_activities(
            session, 1, scope="HogFunction", item_id=function["id"], limit=10, offset=0
        )

    assert [entry.activity for entry in entries] == ["updated", "created"]
    assert entries[0].detail["changes"] == [
        {
            "type": "HogFunction",
            "action": "changed",
            "field": "deleted",
            "before": False,
            "after": True,
        }
    ]


async def test_the_type_is_fixed_but_may_be_repeated(hoglet, attr_of):
    function = await hoglet.create()

    assert (await hoglet.patch(function["id"], type="destination")).status_code == 200
    refused = await hoglet.patch(function["id"], type="site_app")
    assert attr_of(refused) == (400, "invalid_input", "type")


async def test_a_stale_base_is_a_conflict_and_saves_nothing(hoglet):
    function = await hoglet.create()
    await hoglet.patch(function["id"], name="second")
    stale = await hoglet.patch(function["id"], name="third", base_updated_at=function["updated_at"])
    fresh = (await hoglet.call("GET", f"/{function['id']}")).json()

    assert stale.status_code == 409
    assert (stale.json()["type"], stale.json()["code"]) == ("server_error", "stale_update")
    assert fresh["name"] == "second"
    again = await hoglet.patch(function["id"], name="third", base_updated_at=fresh["updated_at"])
    assert again.status_code == 200


async def test_transformations_are_placed_in_order(hoglet):
    first = await hoglet.create(type="transformation", enabled=True, hog="return event")
    second = await hoglet.create(type="transformation", enabled=True, hog="return event")
    third = await hoglet.create(type="transformation", enabled=True, hog="return event")
    destination = await hoglet.create()

    assert [f["execution_order"] for f in (first, second, third)] == [1, 2, 3]
    assert destination["execution_order"] is None
    await hoglet.patch(second["id"], enabled=False)
    back = (await hoglet.patch(second["id"], enabled=True)).json()
    assert back["execution_order"] == 4
    same = (await hoglet.patch(third["id"], execution_order=1)).json()
    listed = (await hoglet.call("GET", "?type=transformation")).json()["results"]
    assert same["execution_order"] == 1
    assert [f["id"] for f in listed] == [third["id"], first["id"], second["id"]]


async def test_at_most_twenty_transformations_are_enabled(hoglet, attr_of):
    function = [
        await hoglet.create(type="transformation", enabled=True, hog="return event")
        for _ in range(20)
    ]
    fields = {"type": "transformation", "hog": "return event"}
    over = await hoglet.call("POST", json={**fields, "enabled": True})
    disabled = await hoglet.create(**fields)

    assert attr_of(over) == (400, "invalid_input", "type")
    assert attr_of(await hoglet.patch(disabled["id"], enabled=True))[2] == "type"
    await hoglet.patch(function[0]["id"], deleted=True)
    assert (await hoglet.patch(disabled["id"], enabled=True)).status_code == 200
    undelete = await hoglet.patch(function[0]["id"], deleted=False)
    assert attr_of(undelete) == (400, "invalid_input", "type")


async def test_rearrange_answers_the_array_in_the_new_order(hoglet):
    a = await hoglet.create(type="transformation", hog="return event")
    b = await hoglet.create(type="transformation", hog="return event")
    orders = {a["id"]: 2, b["id"]: 1}
    moved = await hoglet.call("PATCH", "/rearrange/", json={"orders": orders})

    assert [(f["id"], f["execution_order"]) for f in moved.json()] == [(b["id"], 1), (a["id"], 2)]
    minimal = await hoglet.call(
        "PATCH", "/rearrange", json={"orders": orders}, headers={"Prefer": "return=minimal"}
    )
    assert (minimal.status_code, minimal.content) == (200, b"")
    assert minimal.headers["preference-applied"] == "return=minimal"


@pytest.mark.parametrize("orders", [None, {}, {"nope": 1}, {"a": -1}])
async def test_rearrange_refuses(hoglet, orders):
    body = {} if orders is None else {"orders": orders}

    assert (await hoglet.call("PATCH", "/rearrange", json=body)).status_code == 400


async def test_rearrange_is_all_or_nothing(hoglet):
    a = await hoglet.create(type="transformation", hog="return event")
    orders = {a["id"]: 9, "00000000-0000-0000-0000-000000000000": 1}

    refused = await hoglet.call("PATCH", "/rearrange", json={"orders": orders})
    assert refused.status_code == 400
    assert "00000000" in refused.json()["detail"]
    assert (await hoglet.call("GET", f"/{a['id']}")).json()["execution_order"] == 1


SCHEMA = [
    {"type": "string", "key": "url", "label": "URL", "required": True},
    {"type": "string", "key": "token", "label": "Token", "secret": True, "required": True},
]


async def test_secrets_are_encrypted_retained_replaced_and_never_returned(hoglet, attr_of):
    inputs = {"url": {"value": "https://a"}, "token": {"value": "s3cret"}}
    function = await hoglet.create(inputs_schema=SCHEMA, inputs=inputs)

    assert function["inputs"]["token"] == {"secret": True}
    for value in ({}, {"secret": True}, {"secret": True, "value": "********"}, None):
        body = {"url": {"value": "https://b"}} | ({} if value is None else {"token": value})
        changed = await hoglet.patch(function["id"], inputs=body)
        assert changed.status_code == 200, changed.text
        assert changed.json()["inputs"]["token"] == {"secret": True}
        assert await secret_of(hoglet, function["id"]) == "s3cret"
    await hoglet.patch(function["id"], inputs={**inputs, "token": {"value": "new"}})
    assert await secret_of(hoglet, function["id"]) == "new"
    masked = await hoglet.patch(function["id"], inputs={**inputs, "token": {"value": "********"}})
    assert attr_of(masked) == (400, "invalid_input", "inputs__token")
    everything = (await hoglet.call("GET", "?full=true")).text
    assert "s3cret" not in everything
    assert '"new"' not in everything


async def test_a_secret_that_was_never_stored_cannot_be_kept(hoglet, attr_of):
    inputs = {"url": {"value": "https://a"}, "token": {"secret": True}}
    body = {"hog": "return 1", "inputs_schema": SCHEMA, "inputs": inputs}

    assert attr_of(await hoglet.call("POST", json=body)) == (400, "invalid_input", "inputs__token")


async def test_dropping_a_secret_from_the_schema_drops_its_value(hoglet):
    inputs = {"url": {"value": "https://a"}, "token": {"value": "s3cret"}}
    function = await hoglet.create(inputs_schema=SCHEMA, inputs=inputs)
    await hoglet.patch(function["id"], inputs_schema=SCHEMA[:1])

    assert await secret_of(hoglet, function["id"]) is None
    public = [SCHEMA[0], {"type": "string", "key": "token"}]
    record = (await hoglet.patch(function["id"], inputs_schema=public)).json()
    assert record["inputs"]["token"] is None


def use_box(hoglet, box):
    service = hoglet.service
    service.box = service.presenter.box = service.planner.box = service.loader.box = box


async def secret_of(hoglet, function_id):
    from hoglet.functions.service import read_id

    function = await hoglet.service.loader.load_one(1, read_id(function_id))
    return next((item.value for item in function.inputs if item.key == "token"), None)


async def test_secrets_move_to_a_new_key(hoglet):
    from cryptography.fernet import Fernet

    from hoglet.functions.secrets.box import SecretBox
    from hoglet.functions.secrets.rotation import reencrypt_all

    old, new = Fernet.generate_key(), Fernet.generate_key()
    use_box(hoglet, SecretBox([old]))
    inputs = {"url": {"value": "https://a"}, "token": {"value": "s3cret"}}
    function = await hoglet.create(inputs_schema=SCHEMA, inputs=inputs)
    assert await reencrypt_all(hoglet.database, SecretBox([new, old])) == (1, 0)
    assert await reencrypt_all(hoglet.database, SecretBox([Fernet.generate_key()])) == (0, 1)
    use_box(hoglet, SecretBox([new]))
    assert await secret_of(hoglet, function["id"]) == "s3cret"


async def test_a_lost_key_stops_one_function_only(hoglet):
    from cryptography.fernet import Fernet

    from hoglet.functions.secrets.box import SecretBox

    inputs = {"url": {"value": "https://a"}, "token": {"value": "s3cret"}}
    function = await hoglet.create(inputs_schema=SCHEMA, inputs=inputs, enabled=True)
    other = await hoglet.create(enabled=True)
    use_box(hoglet, SecretBox([Fernet.generate_key()]))

    loaded = {each.id: each for each in await hoglet.service.loader.load_runnable(1)}
    assert loaded.keys() == {function["id"], other["id"]}
    assert loaded[function["id"]].problem
    assert not loaded[other["id"]].problem
    record = (await hoglet.call("GET", f"/{function['id']}")).json()
    assert record["inputs"]["token"] == {"secret": True}
    assert (await hoglet.patch(function["id"], name="x")).status_code == 200
    again = await hoglet.patch(function["id"], inputs=inputs)
    assert again.status_code == 200
    assert await secret_of(hoglet, function["id"]) == "s3cret"
