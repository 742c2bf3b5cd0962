"""Explanations of matches: each condition of a function with its path and result."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import update

from hoglet.access.tables import ProjectRow
from hoglet.functions.tables import HogFunctionRow, MaskRow

EVENT = {
    "uuid": "0198c2a0-0000-7000-8000-000000000001",
    "event": "bought",
    "distinct_id": "ada",
    "timestamp": "2026-01-05T12:00:00Z",
    "properties": {"plan": "pro", "total": 3},
}
PERSON = {"id": "p1", "properties": {"email": "ada@example.org"}}
BOUGHT = {"id": "bought", "type": "events"}
PRO = {"key": "plan", "value": "pro", "operator": "exact", "type": "event"}
FREE = {**PRO, "value": "free"}
STAFF = {"key": "email", "value": "@hoglet", "operator": "icontains", "type": "person"}


async def explain(hoglet, id_, **body):
    response = await hoglet.call("POST", f"/{id_}/explain_match", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def failed(answer):
    return [(each["kind"], each["path"]) for each in answer["failed"]]


# Filters, and the kinds and paths of the conditions because of which EVENT of PERSON fails.
CASES = {
    "no filter": ({}, []),
    "the event": ({"events": [BOUGHT]}, []),
    "another event": ({"events": [{**BOUGHT, "id": "sold"}]}, [("events", "filters.events[0].id")]),
    "one of two events": ({"events": [{**BOUGHT, "id": "sold"}, BOUGHT]}, []),
    "neither of two": (
        {"events": [{**BOUGHT, "id": "a"}, {**BOUGHT, "id": "b"}]},
        [("events", "filters.events[0].id"), ("events", "filters.events[1].id")],
    ),
    "a property of the event": (
        {"events": [{**BOUGHT, "properties": [PRO, FREE]}]},
        [("properties", "filters.events[0].properties[1]")],
    ),
    "a global property": (
        {"events": [BOUGHT], "properties": [PRO, STAFF]},
        [("properties", "filters.properties[1]")],
    ),
    "both kinds": (
        {"events": [{**BOUGHT, "id": "sold"}], "properties": [FREE]},
        [("properties", "filters.properties[0]"), ("events", "filters.events[0].id")],
    ),
    "a group of properties": (
        {"properties": [PRO, {"type": "OR", "values": [FREE, STAFF]}]},
        [("properties", "filters.properties[1]")],
    ),
    "any event": ({"events": [{"id": None, "type": "events"}]}, []),
    "an entry without type": ({"events": [{"id": "sold"}]}, []),
    "any event with a property": (
        {"events": [{"id": None, "type": "events", "properties": [FREE]}]},
        [("properties", "filters.events[0].properties[0]")],
    ),
    "an incomplete property alone": (
        {"properties": [{"key": "plan"}]},
        [("properties", "filters.properties[0]")],
    ),
    "an incomplete property among others": ({"properties": [{"key": "plan"}, PRO]}, []),
    "an expression": (
        {"properties": [{"type": "hogql", "key": "properties.total > 3"}]},
        [("properties", "filters.properties[0]")],
    ),
    "no person property": (
        {"properties": [{**STAFF, "key": "name", "operator": "is_set"}]},
        [("properties", "filters.properties[0]")],
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_false_conditions_have_their_paths(hoglet, name):
    filters, expected = CASES[name]
    function = await hoglet.create(filters=filters, enabled=True)
    answer = await explain(hoglet, function["id"], event=EVENT, person=PERSON)

    assert failed(answer) == expected
    assert answer["matched"] is answer["would_run"] is (expected == [])
    assert (answer["reason"] is None) is (expected == [])
    assert answer["event"] == {
        key: EVENT[key] for key in ("uuid", "event", "distinct_id", "timestamp")
    }


@pytest.mark.parametrize("name", CASES)
async def test_test_runs_agree(hoglet, name):
    filters, _ = CASES[name]
    function = await hoglet.create(filters=filters)
    answer = await explain(hoglet, function["id"], event=EVENT, person=PERSON)
    globals_ = {"event": EVENT, "person": PERSON}
    run = await hoglet.call("POST", f"/{function['id']}/invocations", json={"globals": globals_})

    assert answer["matched"] is (run.json()["status"] == "success")


async def test_conditions_say_what_was_compared(hoglet):
    function = await hoglet.create(filters={"events": [{**BOUGHT, "properties": [FREE]}]})
    answer = await explain(hoglet, function["id"], event=EVENT)
    (entries,) = answer["conditions"]
    (entry,) = entries["parts"]

    assert (entries["kind"], entries["operator"]) == ("entries", "any")
    assert (entry["path"], entry["operator"], entry["matched"]) == (
        "filters.events[0]",
        "all",
        False,
    )
    assert [part["matched"] for part in entry["parts"]] == [True, False]
    assert entry["parts"][0]["condition"] == "event = 'bought'"
    assert entry["parts"][1]["condition"] == "properties.plan = 'free'"
    assert "properties.plan is 'pro'" in entry["parts"][1]["reason"]


async def test_test_accounts_are_named_by_their_setting(hoglet):
    settings = [{**STAFF, "operator": "not_icontains"}, {**PRO, "operator": "is_not"}]
    async with hoglet.database.write() as session:
        await session.execute(update(ProjectRow).values(test_account_filters=settings))
    hoglet.app.state.access.forget()
    filters = {"events": [BOUGHT], "filter_test_accounts": True}
    function = await hoglet.create(filters=filters, enabled=True)
    answer = await explain(hoglet, function["id"], event=EVENT, person=PERSON)

    assert failed(answer) == [("test_accounts", "project.test_account_filters[1]")]
    assert [each["kind"] for each in answer["conditions"]] == [
        "test_accounts",
        "test_accounts",
        "entries",
    ]


async def test_actions_are_conditions(hoglet):
    response = await hoglet.client.post(
        "/api/projects/1/actions/", json={"name": "buys", "steps": [{"event": "sold"}]}
    )
    entry = {"id": str(response.json()["id"]), "type": "actions", "properties": [PRO]}
    function = await hoglet.create(filters={"actions": [entry]})
    answer = await explain(hoglet, function["id"], event=EVENT)

    assert failed(answer)[0] == ("actions", "filters.actions[0].id")
    matched = await explain(hoglet, function["id"], event={**EVENT, "event": "sold"})
    assert matched["matched"]


async def test_filters_that_do_not_compile(hoglet):
    filters = {"actions": [{"id": "999", "type": "actions"}]}
    function = await hoglet.create(filters=filters)
    answer = await explain(hoglet, function["id"], event=EVENT)

    assert failed(answer)[0] == ("bytecode_error", "filters")
    assert "999" in answer["reason"]
    unsaved = await explain(
        hoglet, "new", event=EVENT, configuration={"hog": "return 1", "filters": filters}
    )
    assert failed(unsaved) == [("bytecode_error", "filters")]


async def test_mappings(hoglet):
    mappings = [
        {"name": "first", "filters": {"events": [{**BOUGHT, "id": "sold"}]}},
        {"name": "second", "filters": {"events": [BOUGHT]}, "disabled": True},
        {"name": "third", "filters": {"properties": [FREE]}},
    ]
    function = await hoglet.create(mappings=mappings, enabled=True)
    answer = await explain(hoglet, function["id"], event=EVENT)

    assert not answer["matched"]
    assert failed(answer) == [
        ("mappings", "mappings[0].filters.events[0].id"),
        ("mappings", "mappings[1].disabled"),
        ("mappings", "mappings[2].filters.properties[0]"),
    ]
    mappings[1]["disabled"] = False
    answer = await explain(
        hoglet, function["id"], event=EVENT, configuration={"mappings": mappings}
    )
    assert answer["would_run"]
    assert [each["matched"] for each in answer["mappings"]] == [False, True, False]
    assert [each["name"] for each in answer["mappings"]] == ["first", "second", "third"]


async def test_mappings_are_not_blamed_for_the_filter(hoglet):
    mappings = [{"name": "a", "filters": {"properties": [FREE]}}]
    function = await hoglet.create(mappings=mappings, filters={"properties": [FREE]}, enabled=True)
    answer = await explain(hoglet, function["id"], event=EVENT)

    assert failed(answer) == [("properties", "filters.properties[0]")]


async def test_masking_counts_as_the_next_run_would(hoglet):
    masking = {"ttl": 60, "hash": "{event.distinct_id}"}
    function = await hoglet.create(masking=masking, enabled=True)
    before = await explain(hoglet, function["id"], event=EVENT)
    now = hoglet.clock.now()
    digest = "8c8d357b5e872bbacd45197626bd5759"  # md5 of ada
    async with hoglet.database.write() as session:
        session.add(
            MaskRow(
                function_id=UUID(function["id"]),
                hash=digest,
                count=1,
                expires_at=now + timedelta(seconds=60),
            )
        )
    after = await explain(hoglet, function["id"], event=EVENT)
    other = await explain(hoglet, function["id"], event={**EVENT, "distinct_id": "bob"})
    hoglet.clock.advance(seconds=61)
    expired = await explain(hoglet, function["id"], event=EVENT)

    assert (before["matched"], before["would_run"], before["masking"]["masked"]) == (
        True,
        True,
        False,
    )
    assert (after["matched"], after["would_run"], failed(after)) == (
        True,
        False,
        [("masking", "masking")],
    )
    assert (after["masking"]["count"], after["masking"]["threshold"]) == (1, None)
    assert other["would_run"]
    assert expired["would_run"]
    async with hoglet.database.read() as session:
        counter = await session.get(MaskRow, (UUID(function["id"]), digest))
        assert counter.count == 1  # explanations count nothing


@pytest.mark.parametrize(("count", "masked"), [(0, False), (1, True), (2, False), (3, True)])
async def test_masking_lets_every_second_pass(hoglet, count, masked):
    masking = {"ttl": 60, "hash": "{event.distinct_id}", "threshold": 2}
    function = await hoglet.create(masking=masking, enabled=True)
    async with hoglet.database.write() as session:
        session.add(
            MaskRow(
                function_id=UUID(function["id"]),
                hash="8c8d357b5e872bbacd45197626bd5759",
                count=count,
                expires_at=hoglet.clock.now() + timedelta(seconds=60),
            )
        )
    answer = await explain(hoglet, function["id"], event=EVENT)

    assert answer["masking"]["masked"] is masked


async def test_inputs_that_cannot_be_built(hoglet):
    schema = [
        {"type": "string", "key": "token", "secret": True},
        {"type": "string", "key": "x"},
    ]
    inputs = {
        "token": {"value": "s3cret-token"},
        "x": {"value": "{jsonParse(inputs.token)}"},
    }
    function = await hoglet.create(inputs_schema=schema, inputs=inputs, enabled=True)
    response = await hoglet.call("POST", f"/{function['id']}/explain_match", json={"event": EVENT})
    answer = response.json()

    assert (answer["matched"], answer["would_run"]) == (True, False)
    assert failed(answer) == [("inputs", "inputs")]
    assert "s3cret-token" not in response.text


async def test_filters_that_raise(hoglet):
    raising = {"type": "hogql", "key": "jsonParse(properties.plan)"}
    filters = {"properties": [PRO, raising]}
    function = await hoglet.create(filters=filters, enabled=True)
    answer = await explain(hoglet, function["id"], event=EVENT)

    assert failed(answer) == [("properties", "filters.properties[1]")]
    assert answer["conditions"][1]["error"]
    short = {"properties": [FREE, raising]}  # the second is not reached in production
    answer = await explain(hoglet, function["id"], event=EVENT, configuration={"filters": short})
    assert failed(answer)[0] == ("properties", "filters.properties[0]")


async def test_a_disabled_function_matches_but_would_not_run(hoglet):
    function = await hoglet.create()
    answer = await explain(hoglet, function["id"], event=EVENT)

    assert (answer["matched"], answer["would_run"], failed(answer)) == (
        True,
        False,
        [("enabled", "enabled")],
    )


@pytest.mark.parametrize("state", [3, 12])
async def test_a_stopped_function_would_not_run(hoglet, state):
    function = await hoglet.create(enabled=True)
    async with hoglet.database.write() as session:
        row = await session.get(HogFunctionRow, UUID(function["id"]))
        row.state = state
    answer = await explain(hoglet, function["id"], event=EVENT)

    assert (answer["would_run"], failed(answer)) == (False, [("status", "status")])


async def test_unsaved_changes_are_explained_and_not_stored(hoglet):
    function = await hoglet.create(filters={"properties": [FREE]}, enabled=True)
    changed = {"filters": {"properties": [PRO]}}
    answer = await explain(hoglet, function["id"], event=EVENT, configuration=changed)

    assert answer["would_run"]
    assert not (await explain(hoglet, function["id"], event=EVENT))["matched"]


async def test_transformations_do_not_see_the_person(hoglet):
    hog = "return event"
    filters = {"properties": [{**STAFF, "value": "ada"}]}
    function = await hoglet.create(type="transformation", hog=hog, filters=filters, enabled=True)
    answer = await explain(hoglet, function["id"], event=EVENT, person=PERSON)

    assert not answer["matched"]
    assert answer["notes"]


async def test_person_updates_need_a_person(hoglet):
    function = await hoglet.create(filters={"source": "person-updates"}, enabled=True)
    without = await explain(hoglet, function["id"], event=EVENT)
    with_person = await explain(hoglet, function["id"], event=EVENT, person=PERSON)

    assert failed(without) == [("source", "filters.source")]
    assert with_person["matched"]


async def test_groups_are_seen(hoglet):
    property_ = {"key": "tier", "value": "gold", "type": "group", "group_type_index": 1}
    function = await hoglet.create(filters={"properties": [property_]}, enabled=True)
    groups = {"company": {"index": 1, "id": "acme", "properties": {"tier": "gold"}}}

    assert (await explain(hoglet, function["id"], event=EVENT, groups=groups))["matched"]
    assert not (await explain(hoglet, function["id"], event=EVENT))["matched"]


async def test_globals_and_rows_of_test_runs_are_accepted(hoglet):
    function = await hoglet.create(filters={"properties": [PRO]}, enabled=True)
    row = {**EVENT, "properties": '{"plan": "free"}'}

    assert (await explain(hoglet, function["id"], globals={"event": EVENT}))["matched"]
    assert not (await explain(hoglet, function["id"], clickhouse_event=row))["matched"]


REFUSED = {
    "nothing": ({}, 400, "required", "event"),
    "an unknown key": ({"event": EVENT, "persons": {}}, 400, "invalid_input", "persons"),
    "a bad uuid": ({"event_uuid": "x"}, 400, "invalid_input", "event_uuid"),
    "a bad uuid as event": ({"event": "x"}, 400, "invalid_input", "event"),
    "a number as uuid": ({"event_uuid": 5}, 400, "invalid_input", "event_uuid"),
    "an unknown event": ({"event_uuid": EVENT["uuid"]}, 400, "does_not_exist", "event_uuid"),
    "an unknown event as event": ({"event": EVENT["uuid"]}, 400, "does_not_exist", "event"),
    "a list": ({"event": []}, 400, "not_a_dict", "event"),
    "no name": ({"event": {"distinct_id": "a"}}, 400, "required", "event__event"),
    "properties": ({"event": {**EVENT, "properties": [1]}}, 400, "not_a_dict", "event__properties"),
    "a person": ({"event": EVENT, "person": "ada"}, 400, "not_a_dict", "person"),
    "person properties": (
        {"event": EVENT, "person": {"properties": "x"}},
        400,
        "not_a_dict",
        "person__properties",
    ),
    "groups": ({"event": EVENT, "groups": [1]}, 400, "not_a_dict", "groups"),
    "a group": ({"event": EVENT, "groups": {"a": 1}}, 400, "not_a_dict", "groups__a"),
    "globals": ({"globals": 5}, 400, "not_a_dict", "globals"),
    "an event in globals": ({"globals": {"event": 5}}, 400, "not_a_dict", "globals__event"),
    "configuration": ({"event": EVENT, "configuration": 5}, 400, "not_a_dict", "configuration"),
    "code": (
        {"event": EVENT, "configuration": {"hog": "let"}},
        400,
        "invalid_input",
        "configuration__hog",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_refusals(hoglet, attr_of, name):
    body, *expected = REFUSED[name]
    function = await hoglet.create()
    response = await hoglet.call("POST", f"/{function['id']}/explain_match", json=body)

    assert attr_of(response) == tuple(expected)


async def test_an_unknown_function(hoglet):
    path = f"/{EVENT['uuid']}/explain_match"
    assert (await hoglet.call("POST", path, json={"event": EVENT})).status_code == 404
    assert (await hoglet.call("POST", "/x/explain_match", json={"event": EVENT})).status_code == 404
    response = await hoglet.call("POST", "/new/explain_match", json={"event": EVENT})
    assert (response.status_code, response.json()["attr"]) == (400, "configuration")


async def test_webhooks_have_no_filter(hoglet):
    function = await hoglet.create(type="source_webhook", hog="return {}")
    response = await hoglet.call("POST", f"/{function['id']}/explain_match", json={"event": EVENT})

    assert (response.status_code, response.json()["attr"]) == (400, "type")
