"""Mappings: docs/spec/hog-functions.md#45-mappings."""

from uuid import UUID

from hoglet.functions.tables import BackfillRow
from support.runs import ScriptedReceiver, open_runs

PAGE = {"events": [{"id": "$pageview", "type": "events"}]}
SCHEMA = [
    {"type": "string", "key": "x", "required": True},
    {"type": "string", "key": "d", "default": "filled"},
    {"type": "string", "key": "token", "secret": True},
]


async def test_mappings_are_compiled_and_take_over_events(hoglet):
    inputs = {"x": {"value": "{event.event}"}, "token": {"value": "s3cret"}}
    mapping = {"name": "one", "inputs_schema": SCHEMA, "inputs": inputs, "filters": PAGE}
    filters = {**PAGE, "actions": [], "properties": []}
    created = await hoglet.create(filters=filters, mappings=[mapping, {"disabled": True}])
    first, second = created["mappings"]

    assert created["filters"] == {"source": "events", "properties": [], "bytecode": ["_H", 1, 29]}
    assert first["inputs"]["x"]["bytecode"] == ["_H", 1, 32, "event", 32, "event", 1, 2]
    assert first["inputs"]["d"]["value"] == "filled"
    assert first["inputs"]["token"] == {"secret": True}
    assert first["filters"]["bytecode"][2:] == [32, "$pageview", 32, "event", 1, 1, 11]
    assert first["filters"]["source"] == "events"
    assert second == {"disabled": True}
    masked_inputs = {"x": {"value": "y"}, "token": {"secret": True}}
    changed = await hoglet.patch(created["id"], mappings=[{**mapping, "inputs": masked_inputs}])
    assert changed.status_code == 200, changed.text
    function = (await hoglet.service.loader.load_runnable(1)) or [await load(hoglet, created)]
    values = {item.key: item.value for item in function[0].mappings[0].inputs}
    assert values == {"x": "y", "d": "filled", "token": "s3cret"}
    assert "s3cret" not in (await hoglet.call("GET", "?full=true")).text


async def load(hoglet, function):
    from uuid import UUID

    return await hoglet.service.loader.load_one(1, UUID(function["id"]))


async def test_errors_name_the_mapping(hoglet, attr_of):
    body = {"hog": "return 1", "mappings": [{}, {"inputs_schema": SCHEMA, "inputs": {}}]}
    missing = await hoglet.call("POST", json=body)
    bad = {**body, "mappings": [{"inputs_schema": [{"type": "nope", "key": "a"}]}]}
    schema = await hoglet.call("POST", json=bad)
    enabled = {**body, "enabled": True, "mappings": [{"filters": {"actions": [{"id": 9}]}}]}
    filters = await hoglet.call("POST", json=enabled)

    assert attr_of(missing) == (400, "invalid_input", "mappings__1__inputs__x")
    assert attr_of(schema)[2] == "mappings__0__inputs_schema__0__type"
    assert attr_of(filters)[2] == "mappings__0__filters__non_field_errors"


async def test_an_empty_list_on_create_is_null(hoglet):
    function = await hoglet.create(mappings=[], filters=PAGE)

    assert function["mappings"] is None
    assert function["filters"]["events"] == PAGE["events"]


async def secrets_of(hoglet, function):
    """``{"a": "secret of a"}``: what each mapping's program would see, by the mapping's name."""
    loaded = await load(hoglet, function)
    record = (await hoglet.call("GET", f"/{function['id']}/")).json()["mappings"]
    names = [mapping.get("name") or mapping["filters"]["events"][0]["id"] for mapping in record]
    return dict(
        zip(
            names,
            ({i.key: i.value for i in mapping.inputs} for mapping in loaded.mappings),
            strict=True,
        )
    )


def with_secret(name, *, is_named=True):
    return {
        **({"name": name} if is_named else {}),
        "inputs_schema": [{"type": "string", "key": "token", "secret": True}],
        "inputs": {"token": {"value": f"secret of {name}"}},
        "filters": {"events": [{"id": name, "type": "events"}]},
    }


async def test_a_mapping_keeps_its_own_secret_when_it_moves(hoglet):
    for is_named in (True, False):
        mappings = [with_secret(name, is_named=is_named) for name in "abc"]
        function = await hoglet.create(mappings=mappings)
        a, b, c = function["mappings"]

        await hoglet.patch(function["id"], mappings=[c, a, b])
        everyone = {name: {"token": f"secret of {name}"} for name in "abc"}
        assert await secrets_of(hoglet, function) == everyone
        await hoglet.patch(function["id"], mappings=[b])
        assert await secrets_of(hoglet, function) == {"b": {"token": "secret of b"}}
        gone = await hoglet.patch(function["id"], mappings=[b, a])
        assert gone.status_code == 400  # the secret of a went with it
        assert gone.json()["attr"] == "mappings__1__inputs__token"


async def test_a_mapping_that_is_renamed_and_refiltered_keeps_its_secret_in_its_place(hoglet):
    function = await hoglet.create(mappings=[with_secret(name) for name in "ab"])
    a, b = function["mappings"]

    await hoglet.patch(function["id"], mappings=[{**a, "name": "z", "filters": {}}, b])
    assert await secrets_of(hoglet, function) == {
        "z": {"token": "secret of a"},
        "b": {"token": "secret of b"},
    }


async def _replay(hoglet, function, *, events):
    """A replay through the filters whose events were all read and queued."""
    enabled = await hoglet.call("POST", f"/{function['id']}/enable_backfills")
    path = f"/api/projects/1/batch_exports/{enabled.json()['batch_export_id']}/backfills"
    started = await hoglet.client.post(path, json={"with_filters": True})
    async with hoglet.database.write() as session:
        row = await session.get(BackfillRow, UUID(started.json()["id"]))
        row.status, row.all_read = "Running", True
        row.events_total = row.events_queued = events
    return row


async def _read(hoglet, replay):
    async with hoglet.database.read() as session:
        return await session.get(BackfillRow, replay.id)


async def test_a_replay_ends_with_the_last_mapping_of_its_last_event(hoglet):
    receiver = ScriptedReceiver()
    hog = f"fetch('{receiver.url}')"
    function = await hoglet.create(enabled=True, hog=hog, mappings=[{}, {}, {}])
    replay = await _replay(hoglet, function, events=2)
    receiver.script["/"] = [(200, {}), (200, {}), (503, {}), (503, {}), (503, {}), (400, {})]
    async with open_runs(hoglet) as runs:
        start = {"start_at": "filter", "backfill_id": replay.id}
        await runs.trigger(function, "1", "2", start=start)
        await runs.work()
        waiting = await _read(hoglet, replay)
        await runs.work_for(10)
        ended = await _read(hoglet, replay)
    receiver.close()

    assert (waiting.status, waiting.events_queued) == ("Running", 6)
    assert (ended.status, ended.events_queued, ended.events_total) == ("Completed", 6, 6)
    assert (ended.runs_succeeded, ended.runs_failed) == (5, 1)
