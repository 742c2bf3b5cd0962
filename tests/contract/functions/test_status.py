"""``status`` and ``enabled``: docs/spec/hog-functions.md#7-status-and-the-watcher."""

from uuid import UUID

import pytest

from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.watcher.service import RunObservation


async def force(hoglet, function, state):
    async with hoglet.database.write() as session:
        row = await session.get(HogFunctionRow, UUID(function["id"]))
        await hoglet.service.watcher.force(session, row, state)


async def enabled_and_state(hoglet, function):
    record = (await hoglet.call("GET", f"/{function['id']}")).json()
    return record["enabled"], record["status"]["state"]


@pytest.mark.parametrize(
    ("state", "expected"), [(2, (True, 2)), (3, (False, 3)), (11, (True, 11)), (12, (False, 12))]
)
async def test_enabled_and_status_never_disagree(hoglet, state, expected):
    function = await hoglet.create(enabled=True)
    await force(hoglet, function, state)

    assert await enabled_and_state(hoglet, function) == expected


async def test_what_the_owner_can_do_about_a_disabled_function(hoglet):
    function = await hoglet.create(enabled=True)
    await force(hoglet, function, 3)
    on = (await hoglet.patch(function["id"], enabled=True)).json()
    assert (on["enabled"], on["status"]["state"]) == (True, 2)
    await force(hoglet, function, 3)
    off = (await hoglet.patch(function["id"], enabled=False)).json()
    assert (off["enabled"], off["status"]) == (False, {"state": 0, "tokens": 0})
    again = (await hoglet.patch(function["id"], enabled=True)).json()
    assert again["status"]["state"] == 1


async def test_an_administrators_word_stands(hoglet, attr_of):
    function = await hoglet.create(enabled=True)
    await force(hoglet, function, 12)

    assert attr_of(await hoglet.patch(function["id"], enabled=True)) == (
        400,
        "invalid_input",
        "enabled",
    )


async def observe(hoglet, function, count, **fields):
    observation = RunObservation(function_id=UUID(function["id"]), **fields)
    async with hoglet.database.write() as session:
        return await hoglet.service.watcher.observe(session, [observation] * count)


async def test_failures_degrade_then_disable_and_are_logged(hoglet):
    from hoglet.access.activity import list_activities

    function = await hoglet.create(enabled=True)
    changes = await observe(hoglet, function, 20, failed=True)
    assert [(c.before, c.after) for c in changes] == [(1, 2)]
    assert await observe(hoglet, function, 80, failed=True) == []  # locked for a minute
    hoglet.clock.advance(seconds=61)
    changes = await observe(hoglet, function, 1, failed=True)
    assert [(c.before, c.after) for c in changes] == [(2, 3)]
    assert await enabled_and_state(hoglet, function) == (False, 3)
    async with hoglet.database.read() as session:
        entries = await list_activities(
            session, 1, scope="HogFunction", item_id=function["id"], limit=1, offset=0
        )
    assert entries[0].user_id is None
    assert entries[0].detail["changes"][0]["field"] == "enabled"


async def test_slow_runs_cost_tokens_that_come_back(hoglet):
    function = await hoglet.create(enabled=True)
    await observe(hoglet, function, 10, failed=False, timings=[("hog", 550.0)])
    record = (await hoglet.call("GET", f"/{function['id']}")).json()
    assert 8990 <= record["status"]["tokens"] <= 9010
    hoglet.clock.advance(seconds=50)
    record = (await hoglet.call("GET", f"/{function['id']}")).json()
    assert 9490 <= record["status"]["tokens"] <= 9510
