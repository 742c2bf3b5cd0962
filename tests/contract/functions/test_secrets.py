"""Secrets are never exposed: docs/spec/hog-functions.md#44-secrets, in every view of a function."""

import pytest
from sqlalchemy import select, text

from hoglet.access.tables import ActivityRow
from hoglet.store.database import Base

FIRST, SECOND, IN_MAPPING = "s3cret-number-one", "s3cret-number-two", "s3cret-of-mapping"
SCHEMA = [
    {"type": "string", "key": "url", "required": True},
    {"type": "string", "key": "token", "secret": True},
]
SECRET = [{"type": "string", "key": "inner", "secret": True}]
GLOBALS = {"event": {"event": "seen", "distinct_id": "a", "properties": {}}}


async def make(hoglet, **fields):
    inputs = {"url": {"value": "https://a"}, "token": {"value": FIRST}}
    mappings = [{"inputs_schema": SECRET, "inputs": {"inner": {"value": IN_MAPPING}}}]
    code = "print(inputs); throw Error(concat('with ', inputs.token, ' and ', inputs.inner))"
    body = {"inputs_schema": SCHEMA, "inputs": inputs, "mappings": mappings, "hog": code}
    return await hoglet.create(**{**body, **fields})


async def stored(hoglet, function_id):
    from hoglet.functions.service import read_id

    function = await hoglet.service.loader.load_one(1, read_id(function_id))
    plain = {item.key: item.value for item in function.inputs}
    inner = {item.key: item.value for item in function.mappings[0].inputs}
    return plain.get("token"), inner.get("inner")


@pytest.mark.parametrize(
    "sent", [None, {}, {"secret": True}, {"secret": True, "value": "********"}]
)
async def test_a_secret_is_kept_unless_it_is_replaced(hoglet, sent):
    integration = await make(hoglet)
    url = {"url": {"value": "https://b"}}
    inputs = url if sent is None else {**url, "token": sent}
    mapping = {"inputs_schema": SECRET, "inputs": {} if sent is None else {"inner": sent}}
    changed = await hoglet.patch(integration["id"], inputs=inputs, mappings=[mapping])

    assert changed.status_code == 200, changed.text
    assert changed.json()["inputs"]["token"] == {"secret": True}
    assert changed.json()["mappings"][0]["inputs"]["inner"] == {"secret": True}
    assert await stored(hoglet, integration["id"]) == (FIRST, IN_MAPPING)
    replaced = {**url, "token": {"value": SECOND}}
    assert (await hoglet.patch(integration["id"], inputs=replaced)).status_code == 200
    assert await stored(hoglet, integration["id"]) == (SECOND, IN_MAPPING)


@pytest.mark.parametrize(
    "sent", [{"secret": True}, {"secret": True, "value": "********"}, {"value": "********"}]
)
async def test_nothing_can_be_kept_where_nothing_is(hoglet, attr_of, sent):
    inputs = {"url": {"value": "https://a"}, "token": sent}
    body = {"type": "destination", "hog": "return 1", "inputs_schema": SCHEMA}
    refused = await hoglet.call("POST", json={**body, "inputs": inputs})
    function = await hoglet.create(inputs_schema=SCHEMA, inputs={"url": {"value": "https://a"}})

    assert attr_of(refused) == (400, "invalid_input", "inputs__token")
    assert attr_of(await hoglet.patch(function["id"], inputs=inputs))[2] == "inputs__token"
    mapping = {"inputs_schema": SECRET, "inputs": {"inner": sent}}
    in_mapping = await hoglet.patch(function["id"], mappings=[mapping])
    assert attr_of(in_mapping) == (400, "invalid_input", "mappings__0__inputs__inner")


async def test_the_mask_itself_is_never_stored(hoglet, attr_of):
    integration = await make(hoglet)
    inputs = {"url": {"value": "https://a"}, "token": {"value": "********"}}

    assert attr_of(await hoglet.patch(integration["id"], inputs=inputs))[2] == "inputs__token"
    assert (await stored(hoglet, integration["id"]))[0] == FIRST


async def test_a_secret_goes_with_its_key_and_never_turns_plain(hoglet):
    integration = await make(hoglet)
    plain = [SCHEMA[0], {"type": "string", "key": "token"}]
    opened = (await hoglet.patch(integration["id"], inputs_schema=plain)).json()
    assert FIRST not in str(opened)
    await hoglet.patch(integration["id"], inputs_schema=[SCHEMA[0]])
    await hoglet.patch(integration["id"], inputs_schema=SCHEMA)

    assert (await stored(hoglet, integration["id"]))[0] is None


async def test_secrets_are_in_no_answer_and_no_row(hoglet):
    created = await make(hoglet, enabled=True)
    id_ = created["id"]
    for token in (SECOND, FIRST):
        inputs = {"url": {"value": "https://a"}, "token": {"value": token}}
        await hoglet.patch(id_, inputs=inputs)
    await hoglet.patch(id_, name="renamed", inputs_schema=[*SCHEMA, {"type": "json", "key": "x"}])
    run = await hoglet.call("POST", f"/{id_}/invocations", json={"globals": GLOBALS})
    history = await hoglet.call("GET", f"/{id_}/activity")
    first = history.json()["results"][-1]["id"]
    back = await hoglet.call("POST", f"/{id_}/restore", json={"activity_id": first})
    answers = [
        run,
        history,
        back,
        await hoglet.call("GET", f"/{id_}"),
        await hoglet.call("GET", "?full=true"),
        await hoglet.call("GET", "?search=renamed"),
        await hoglet.client.get("/api/projects/1/activity_log/"),
    ]

    assert run.json()["status"] == "error"
    assert "***REDACTED*** and ***REDACTED***" in run.json()["errors"][0]
    assert back.status_code == 200
    for answer in answers:
        assert not any(each in answer.text for each in (FIRST, SECOND, IN_MAPPING)), answer.url
    assert (await stored(hoglet, id_)) == (FIRST, IN_MAPPING)
    async with hoglet.database.read() as session:
        for table in Base.metadata.sorted_tables:
            rows = (await session.execute(text(f'SELECT * FROM "{table.name}"'))).all()
            assert not any(each in str(rows) for each in (FIRST, SECOND, IN_MAPPING)), table.name
        entries = (await session.scalars(select(ActivityRow))).all()
    changes = [change for entry in entries for change in entry.detail["changes"]]
    masked = [(c["before"], c["after"]) for c in changes if c["field"] == "encrypted_inputs"]
    assert masked.count(("masked", "masked")) == len(masked) >= 2


async def test_a_secret_of_null_is_removed(hoglet):
    integration = await make(hoglet)
    inputs = {"url": {"value": "https://a"}, "token": {"value": None}}
    mapping = {"inputs_schema": SECRET, "inputs": {"inner": {"value": None}}}
    changed = (await hoglet.patch(integration["id"], inputs=inputs, mappings=[mapping])).json()

    assert "token" not in changed["inputs"]
    assert "inner" not in changed["mappings"][0]["inputs"]
    assert await stored(hoglet, integration["id"]) == (None, None)
    again = await hoglet.patch(integration["id"], inputs={**inputs, "token": {"secret": True}})
    assert (again.status_code, again.json()["attr"]) == (400, "inputs__token")
