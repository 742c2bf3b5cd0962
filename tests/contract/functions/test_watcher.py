"""State transitions of the watcher: docs/spec/hog-functions.md#7-status-and-the-watcher."""

import random
from uuid import UUID

import pytest

from hoglet.functions import repository
from hoglet.functions.watcher.service import RunObservation
from support.seeds import seeds

OFF, HEALTHY, DEGRADED, DISABLED, FORCED_DEGRADED, FORCED_DISABLED = 0, 1, 2, 3, 11, 12
SHOWN_ENABLED = {HEALTHY, DEGRADED, FORCED_DEGRADED}


async def status(hoglet, function):
    record = (await hoglet.call("GET", f"/{function['id']}")).json()
    return record["status"]["state"], record["enabled"]


async def observe(hoglet, function, *, failed=0, fine=0, milliseconds=0.0):
    function_id = UUID(function["id"])
    seen = [RunObservation(function_id=function_id, failed=True)] * failed
    timings = [("hog", milliseconds)]
    seen += [RunObservation(function_id=function_id, failed=False, timings=timings)] * fine
    async with hoglet.database.write() as session:
        return await hoglet.service.watcher.observe(session, seen)


async def force(hoglet, function, state):
    async with hoglet.database.write() as session:
        row = await repository.find_anywhere(session, UUID(function["id"]))
        if row is not None:  # else it is deleted
            await hoglet.service.watcher.force(session, row, state)


@pytest.mark.parametrize("seed", seeds(3, 12))
async def test_status_and_enabled_never_disagree(hoglet, seed):
    chance = random.Random(seed)  # noqa: S311 (moves, not secrets)
    function = await hoglet.create(enabled=True)
    moves = {
        "enable": lambda: hoglet.patch(function["id"], enabled=True),
        "disable": lambda: hoglet.patch(function["id"], enabled=False),
        "rename": lambda: hoglet.patch(function["id"], name=str(chance.random())),
        "delete": lambda: hoglet.patch(function["id"], deleted=True),
        "revive": lambda: hoglet.patch(function["id"], deleted=False),
        "fail": lambda: observe(hoglet, function, failed=chance.choice((20, 100, 200))),
        "be slow": lambda: observe(hoglet, function, fine=50, milliseconds=3000),
        "be fine": lambda: observe(hoglet, function, fine=300),
        "force 11": lambda: force(hoglet, function, FORCED_DEGRADED),
        "force 12": lambda: force(hoglet, function, FORCED_DISABLED),
        "release": lambda: force(hoglet, function, HEALTHY),
    }
    done: list[str] = []
    for _ in range(40):
        move = chance.choice(list(moves))
        before = await hoglet.call("GET", f"/{function['id']}")
        answer = await moves[move]()
        done.append(move)
        hoglet.clock.advance(seconds=chance.choice((1, 61, 1900)))
        response = await hoglet.call("GET", f"/{function['id']}")
        if response.status_code == 404:
            continue
        record = response.json()
        state, enabled = record["status"]["state"], record["enabled"]
        assert enabled == (state in SHOWN_ENABLED), (done, state, enabled)
        if before.status_code == 200 and move == "enable":
            was = before.json()["status"]["state"]
            assert answer.status_code == (400 if was == FORCED_DISABLED else 200), done
            if was == DISABLED:
                assert state == DEGRADED, done
        if before.status_code == 200 and move == "disable":
            was = before.json()["status"]["state"]
            assert state == (FORCED_DISABLED if was == FORCED_DISABLED else OFF), (done, was, state)


async def test_the_watcher_tells_of_what_it_does(hoglet):
    heard = []

    async def listen(_session, change):
        heard.append((change.before, change.after))

    hoglet.service.watcher.listeners.append(listen)
    function = await hoglet.create(enabled=True)
    await observe(hoglet, function, failed=19)
    assert await status(hoglet, function) == (HEALTHY, True)
    await observe(hoglet, function, failed=1)
    assert await status(hoglet, function) == (DEGRADED, True)
    hoglet.clock.advance(seconds=30)
    await observe(hoglet, function, failed=80)
    assert await status(hoglet, function) == (DEGRADED, True)  # locked for a minute
    hoglet.clock.advance(seconds=31)
    await observe(hoglet, function, failed=1)
    assert await status(hoglet, function) == (DISABLED, False)
    assert heard == [(HEALTHY, DEGRADED), (DEGRADED, DISABLED)]
    log = (await hoglet.call("GET", f"/{function['id']}/activity")).json()["results"]
    (change,) = log[0]["detail"]["changes"]
    assert (change["field"], change["before"], change["after"]) == ("enabled", True, False)
    assert (await hoglet.patch(function["id"], enabled=True)).json()["status"]["state"] == DEGRADED
    await observe(hoglet, function, failed=100)
    assert await status(hoglet, function) == (DEGRADED, True)  # switching on locks as well
