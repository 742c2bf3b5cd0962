"""Drafts: live code stays as it is until they are published."""

from uuid import UUID

import pytest
from cryptography.fernet import Fernet

from hoglet.functions.secrets.box import SecretBox
from hoglet.functions.secrets.rotation import reencrypt_all
from hoglet.functions.tables import HogFunctionRow

EVENT = {
    "uuid": "0198c2a0-0000-7000-8000-000000000001",
    "event": "bought",
    "distinct_id": "ada",
    "properties": {"plan": "pro"},
}
BOUGHT = {"events": [{"id": "bought", "type": "events"}]}
SOLD = {"events": [{"id": "sold", "type": "events"}]}
SCHEMA = [{"type": "string", "key": "url"}, {"type": "string", "key": "token", "secret": True}]
INPUTS = {"url": {"value": "https://a.example"}, "token": {"value": "live-secret"}}
KEYS = {"draft", "draft_updated_at", "version"}


async def draft(hoglet, id_, **fields):
    response = await hoglet.patch(id_, draft=fields)
    assert response.status_code == 200, response.text
    return response.json()


async def get(hoglet, id_):
    return (await hoglet.call("GET", f"/{id_}")).json()


async def publish(hoglet, id_):
    response = await hoglet.call("POST", f"/{id_}/publish")
    assert response.status_code == 200, response.text
    return response.json()


async def executable(hoglet, id_):
    return await hoglet.service.loader.load_one(1, UUID(id_))


async def run(hoglet, id_, **body):
    url = f"/{id_}/invocations"
    response = await hoglet.call("POST", url, json={"globals": {"event": EVENT}, **body})
    assert response.status_code == 200, response.text
    return [line["message"] for line in response.json()["logs"]]


async def test_a_draft_changes_nothing_that_is_live(hoglet):
    function = await hoglet.create(hog="print('live')", filters=BOUGHT, enabled=True)
    before, stamp = (
        await executable(hoglet, function["id"]),
        await hoglet.service.loader.version_stamp(1),
    )
    saved = await draft(hoglet, function["id"], hog="print('next')", filters=SOLD)

    assert {key: saved[key] for key in function} == function
    assert saved["draft"]["hog"] == "print('next')"
    assert saved["draft"]["filters"] == {"source": "events", **SOLD}
    assert saved["draft_updated_at"] is not None
    assert await executable(hoglet, function["id"]) == before
    assert await hoglet.service.loader.version_stamp(1) == stamp
    assert await get(hoglet, function["id"]) == saved


async def test_saves_of_drafts_have_warnings(hoglet):
    function = await hoglet.create(hog="print(1)")
    saved = await draft(hoglet, function["id"], hog="prnt(1)")
    published = await hoglet.call("POST", f"/{function['id']}/publish")

    assert [each["attr"] for each in saved["warnings"]] == ["draft__hog"]
    assert [each["attr"] for each in published.json()["warnings"]] == ["hog"]


async def test_functions_without_a_draft_have_no_new_keys(hoglet):
    function = await hoglet.create()
    assert not KEYS & function.keys()
    listed = (await hoglet.call("GET")).json()["results"]
    assert not KEYS & listed[0].keys()


async def test_publishing_makes_the_draft_live(hoglet):
    function = await hoglet.create(hog="print('live')", filters=BOUGHT, enabled=True)
    await draft(hoglet, function["id"], hog="print('next')", filters=SOLD, name="Next")
    done = await publish(hoglet, function["id"])

    assert (done["hog"], done["name"], done["enabled"]) == ("print('next')", "Next", True)
    assert done["filters"]["events"] == SOLD["events"]
    assert done["bytecode"] != function["bytecode"]
    assert (done["draft"], done["draft_updated_at"]) == (None, None)
    assert done["version"] == 2
    assert (await executable(hoglet, function["id"])).hog == "print('next')"
    again = await hoglet.call("POST", f"/{function['id']}/publish")
    assert (again.status_code, again.json()["attr"]) == (400, "draft")


async def test_a_draft_is_the_complete_next_version(hoglet):
    function = await hoglet.create(
        name="Live", description="d", inputs_schema=SCHEMA, inputs=INPUTS, hog="return 1"
    )
    saved = await draft(hoglet, function["id"], hog="return 2")

    assert saved["draft"] == {
        "name": "Live",
        "description": "d",
        "hog": "return 2",
        "inputs_schema": function["inputs_schema"],
        "inputs": function["inputs"],
        "filters": {"source": "events"},
        "masking": None,
        "mappings": None,
        "icon_url": None,
        "retry": None,
        "delivery": None,
    }


async def test_live_changes_of_other_fields_stay(hoglet):
    function = await hoglet.create(name="Old", hog="return 1")
    await draft(hoglet, function["id"], hog="return 2")
    renamed = (await hoglet.patch(function["id"], name="New")).json()
    assert renamed["draft"]["name"] == "New"
    done = await publish(hoglet, function["id"])
    assert (done["name"], done["hog"]) == ("New", "return 2")


async def test_drafts_accumulate_and_are_discarded(hoglet):
    function = await hoglet.create(hog="return 1", name="a")
    await draft(hoglet, function["id"], hog="return 2")
    both = await draft(hoglet, function["id"], name="b")
    assert (both["draft"]["hog"], both["draft"]["name"]) == ("return 2", "b")
    gone = (await hoglet.patch(function["id"], draft=None)).json()
    assert (gone["draft"], gone["draft_updated_at"], gone["hog"]) == (None, None, "return 1")


async def test_secrets_of_drafts_are_kept_and_never_shown(hoglet):
    function = await hoglet.create(inputs_schema=SCHEMA, inputs=INPUTS, hog="print(inputs.token)")
    changed = {**INPUTS, "token": {"value": "next-secret"}}
    saved = await draft(hoglet, function["id"], inputs=changed)
    marked = {"url": {"value": "https://b.example"}, "token": {"secret": True}}
    again = await draft(hoglet, function["id"], inputs=marked)
    for record in (saved, again):
        assert record["draft"]["inputs"]["token"] == {"secret": True}
        assert "next-secret" not in str(record)
    async with hoglet.database.read() as session:
        row = await session.get(HogFunctionRow, UUID(function["id"]))
        assert "next-secret" not in row.draft
    assert _secret(await executable(hoglet, function["id"])) == "live-secret"
    published = await publish(hoglet, function["id"])
    assert published["inputs"]["url"]["value"] == "https://b.example"
    assert _secret(await executable(hoglet, function["id"])) == "next-secret"
    history = await hoglet.call("GET", f"/{function['id']}/activity")
    assert "next-secret" not in history.text


def _secret(function):
    return next(item.value for item in function.inputs if item.key == "token")


async def test_a_marked_secret_is_that_of_the_live_function(hoglet):
    function = await hoglet.create(inputs_schema=SCHEMA, inputs=INPUTS)
    marked = {"url": {"value": "https://b.example"}, "token": {"secret": True}}
    saved = await draft(hoglet, function["id"], inputs=marked)
    assert saved["draft"]["inputs"]["token"] == {"secret": True}
    only = await draft(hoglet, function["id"], inputs={"url": {"value": "https://c.example"}})
    assert only["draft"]["inputs"]["token"] == {"secret": True}
    await publish(hoglet, function["id"])
    assert _secret(await executable(hoglet, function["id"])) == "live-secret"


async def test_secrets_of_drafted_mappings(hoglet):
    mapping = {"name": "m", "inputs_schema": SCHEMA, "inputs": INPUTS}
    created = await hoglet.create()
    saved = await draft(hoglet, created["id"], mappings=[mapping])
    assert "live-secret" not in str(saved)
    marked = {**mapping, "inputs": {**INPUTS, "token": {"secret": True}}}
    await draft(hoglet, created["id"], mappings=[marked])
    done = await publish(hoglet, created["id"])
    assert done["mappings"][0]["inputs"]["token"] == {"secret": True}
    function = await executable(hoglet, created["id"])
    assert {item.key: item.value for item in function.mappings[0].inputs}["token"] == "live-secret"


async def test_secret_keys_are_rotated_with_drafts(hoglet):
    function = await hoglet.create(inputs_schema=SCHEMA, inputs=INPUTS)
    await draft(hoglet, function["id"], inputs={**INPUTS, "token": {"value": "next-secret"}})
    async with hoglet.database.read() as session:
        row = await session.get(HogFunctionRow, UUID(function["id"]))
        fields = hoglet.service.box.open(row.draft)
    old = hoglet.service.box._box._fernets[0]
    new = Fernet.generate_key()
    box = SecretBox([new])
    box._box._fernets.append(old)
    assert (await reencrypt_all(hoglet.database, box)).unreadable == 0
    async with hoglet.database.read() as session:
        row = await session.get(HogFunctionRow, UUID(function["id"]))
        assert SecretBox([new]).open(row.draft) == fields


async def test_test_runs_of_the_draft(hoglet):
    function = await hoglet.create(hog="print('live')", filters=SOLD)
    await draft(hoglet, function["id"], hog="print('next')", filters=BOUGHT)

    assert (await run(hoglet, function["id"]))[0].startswith("Skipped")
    assert (await run(hoglet, function["id"], draft=True))[0] == "next"
    more = {"hog": "print('more')"}
    assert (await run(hoglet, function["id"], draft=True, configuration=more))[0] == "more"
    for body in ({"draft": True}, {"draft": 1}):
        other = await hoglet.create(hog="print(1)")
        sent = {"globals": {"event": EVENT}, **body}
        response = await hoglet.call("POST", f"/{other['id']}/invocations", json=sent)
        assert (response.status_code, response.json()["attr"]) == (400, "draft")


async def test_matches_of_the_draft_are_explained(hoglet):
    function = await hoglet.create(filters=SOLD, enabled=True)
    await draft(hoglet, function["id"], filters=BOUGHT)
    url = f"/{function['id']}/explain_match"

    live = (await hoglet.call("POST", url, json={"event": EVENT})).json()
    next_ = (await hoglet.call("POST", url, json={"event": EVENT, "draft": True})).json()
    assert (live["matched"], next_["would_run"]) == (False, True)


REFUSED = [
    ("a text", 5, "not_a_dict", "draft"),
    ("a list", [], "not_a_dict", "draft"),
    ("an unknown field", {"hgo": "return 1"}, "invalid_input", "draft__hgo"),
    ("a field of the live function", {"enabled": True}, "invalid_input", "draft__enabled"),
    ("its type", {"type": "transformation"}, "invalid_input", "draft__type"),
    ("code", {"hog": "let"}, "invalid_input", "draft__hog"),
    ("no code", {"hog": ""}, "blank", "draft__hog"),
    ("inputs", {"inputs": []}, "not_a_dict", "draft__inputs"),
    ("a source", {"filters": {"source": "x"}}, "invalid_choice", "draft__filters__source"),
    ("masking", {"masking": {"ttl": 1, "hash": "a"}}, "min_value", "draft__masking__ttl"),
    (
        "filters of an enabled function",
        {"filters": {"actions": [{"id": "999", "type": "actions"}]}},
        "invalid_input",
        "draft__filters__non_field_errors",
    ),
    (
        "an unknown secret",
        {"inputs_schema": SCHEMA, "inputs": {"token": {"secret": True}}},
        "invalid_input",
        "draft__inputs__token",
    ),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
async def test_refused_drafts(hoglet, attr_of, number):
    _, sent, code, attr = REFUSED[number]
    function = await hoglet.create(enabled=True)
    response = await hoglet.patch(function["id"], draft=sent)

    assert attr_of(response) == (400, code, attr)
    assert await get(hoglet, function["id"]) == function


async def test_a_draft_is_sent_alone(hoglet, attr_of):
    function = await hoglet.create()
    response = await hoglet.patch(function["id"], draft={"hog": "return 2"}, name="b")
    assert attr_of(response) == (400, "invalid_input", "draft")
    assert await get(hoglet, function["id"]) == function


async def test_a_new_function_has_no_draft(hoglet, attr_of):
    response = await hoglet.call("POST", json={"hog": "return 1", "draft": {"hog": "return 2"}})
    assert attr_of(response) == (400, "invalid_input", "draft")


async def test_a_draft_that_became_invalid_is_not_published(hoglet):
    url = "/api/projects/1/actions/"
    action = (await hoglet.client.post(url, json={"name": "a", "steps": [{"event": "x"}]})).json()
    function = await hoglet.create(enabled=True)
    filters = {"actions": [{"id": str(action["id"]), "type": "actions"}]}
    await draft(hoglet, function["id"], filters=filters)
    await hoglet.client.patch(f"{url}{action['id']}/", json={"deleted": True})
    response = await hoglet.call("POST", f"/{function['id']}/publish")

    assert response.status_code == 400
    assert response.json()["attr"] == "draft__filters__non_field_errors"
    assert (await get(hoglet, function["id"]))["draft"] is not None


async def test_a_draft_that_changes_while_it_is_published_is_published_as_changed(
    hoglet, monkeypatch
):
    function = await hoglet.create(hog="return 1")
    await draft(hoglet, function["id"], hog="return 2")
    compile_plan, changes = hoglet.service.planner.compile, iter(["return 3"])

    async def change_once_and_compile(project, plan):
        for hog in changes:
            hoglet.clock.advance(seconds=1)
            await draft(hoglet, function["id"], hog=hog)
        return await compile_plan(project, plan)

    monkeypatch.setattr(hoglet.service.planner, "compile", change_once_and_compile)
    done = await publish(hoglet, function["id"])

    assert (done["hog"], done["draft"]) == ("return 3", None)


async def test_unknown_and_deleted_functions(hoglet):
    function = await hoglet.create()
    await draft(hoglet, function["id"], hog="return 2")
    await hoglet.patch(function["id"], deleted=True)
    for id_ in (function["id"], EVENT["uuid"], "x"):
        assert (await hoglet.call("POST", f"/{id_}/publish")).status_code == 404
        assert (await hoglet.patch(id_, draft={"hog": "return 3"})).status_code == 404


async def test_the_history_of_drafts(hoglet):
    function = await hoglet.create(hog="return 1")
    await draft(hoglet, function["id"], hog="return 2")
    await publish(hoglet, function["id"])
    entries = (await hoglet.call("GET", f"/{function['id']}/activity")).json()["results"]

    assert [entry["activity"] for entry in entries] == ["published", "updated", "created"]
    (change,) = entries[0]["detail"]["changes"]
    assert (change["field"], change["before"], change["after"]) == ("hog", "return 1", "return 2")
    assert entries[1]["detail"]["changes"][0]["after"] == ["hog"]
    restored = await hoglet.call(
        "POST", f"/{function['id']}/restore", json={"activity_id": entries[1]["id"]}
    )
    assert restored.json()["hog"] == "return 1"


async def test_transformations_have_drafts(hoglet):
    function = await hoglet.create(type="transformation", hog="return event", enabled=True)
    await draft(hoglet, function["id"], hog="return null")
    assert (await get(hoglet, function["id"]))["execution_order"] == function["execution_order"]
    done = await publish(hoglet, function["id"])
    assert (done["hog"], done["execution_order"]) == ("return null", function["execution_order"])
