"""Dead letters: docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further."""

from datetime import timedelta
from uuid import UUID

import pytest

from hoglet.functions.dead_letters import repository
from hoglet.functions.dead_letters.service import DeadLetterSettings, NewDeadLetter
from hoglet.functions.jobs import INVOKE_QUEUE, decode_invoke
from hoglet.functions.tables import DeadLetterRow
from hoglet.kit.clock import new_id

ITEM = {
    "id", "class", "invocation_id", "event_uuid", "event", "distinct_id", "attempts", "error",
    "first_failed_at", "last_failed_at", "redriven_at",
}  # fmt: skip


async def add(hoglet, function, *, error_class="fetch", invocation=None, name="e", **fields):
    letters = hoglet.app.state.dead_letters
    letter = NewDeadLetter(
        project_id=1,
        function_id=UUID(function["id"]),
        error_class=error_class,
        invocation_id=invocation or new_id(),
        globals={"event": {"uuid": "u", "event": name, "distinct_id": "d"}, "inputs": {"a": "s"}},
        error="status 400",
        **fields,
    )
    async with hoglet.database.write() as session:
        return await letters.add(session, [letter])


async def listed(hoglet, function, query=""):
    response = await hoglet.call("GET", f"/{function['id']}/dead_letters{query}")
    assert response.status_code == 200
    return response.json()


async def jobs(hoglet):
    leased = await hoglet.queue.lease(INVOKE_QUEUE, limit=100, duration=timedelta(seconds=1))
    return [decode_invoke(job.payload) for job in leased]


async def test_dead_letters_are_listed_newest_first_and_filtered(hoglet):
    function = await hoglet.create(enabled=True)
    await add(hoglet, function, name="first")
    await add(hoglet, function, error_class="hog", name="second")
    everything = await listed(hoglet, function)

    assert [result["event"] for result in everything["results"]] == ["second", "first"]
    assert everything["count"] == 2
    assert set(everything["results"][0]) == ITEM
    assert (await listed(hoglet, function, "?class=fetch,timeout"))["count"] == 1
    assert (await listed(hoglet, function, "?redriven=true"))["count"] == 0
    after = everything["results"][1]["last_failed_at"]
    assert (await listed(hoglet, function, f"?after={after}"))["count"] == 1
    assert (await listed(hoglet, function, f"?before={after}"))["count"] == 0
    assert len((await listed(hoglet, function, "?limit=1"))["results"]) == 1
    for query, attr in (("class=nope", "class"), ("redriven=nope", "redriven")):
        bad = await hoglet.call("GET", f"/{function['id']}/dead_letters?{query}")
        assert (bad.status_code, bad.json()["attr"]) == (400, attr)


async def test_one_letter_shows_its_globals_without_inputs_and_can_be_deleted(hoglet):
    function = await hoglet.create()
    await add(hoglet, function)
    id_ = (await listed(hoglet, function))["results"][0]["id"]
    path = f"/{function['id']}/dead_letters/{id_}"
    letter = (await hoglet.call("GET", path)).json()

    assert letter["globals"] == {"event": {"uuid": "u", "event": "e", "distinct_id": "d"}}
    assert (await hoglet.call("DELETE", path)).status_code == 204
    assert (await hoglet.call("GET", path)).status_code == 404


async def test_a_redrive_enqueues_each_letter_once(hoglet):
    function = await hoglet.create(enabled=True)
    await add(hoglet, function, error_class="filter")
    await add(hoglet, function)
    path = f"/{function['id']}/dead_letters/redrive"
    first = await hoglet.call("POST", path, json={"class": ["filter"]})
    rest = await hoglet.call("POST", path, json={"all": True})
    again = await hoglet.call("POST", path, json={"all": True})

    assert first.json() == {"queued": 1, "skipped": 0}
    assert rest.json() == {"queued": 1, "skipped": 1}
    assert again.json() == {"queued": 0, "skipped": 2}
    queued = await jobs(hoglet)
    assert sorted(job.start_at for job in queued) == ["filter", "inputs"]
    assert all(job.is_redrive for job in queued)
    assert (await listed(hoglet, function, "?redriven=true"))["count"] == 2


async def test_dead_letters_of_other_functions_are_out_of_reach(hoglet):
    function, other = await hoglet.create(enabled=True), await hoglet.create(enabled=True)
    await add(hoglet, other)
    id_ = (await listed(hoglet, other))["results"][0]["id"]
    path = f"/{function['id']}/dead_letters"

    for method in ("GET", "DELETE"):
        assert (await hoglet.call(method, f"{path}/{id_}")).status_code == 404
    redriven = await hoglet.call("POST", f"{path}/redrive", json={"ids": [id_]})
    assert redriven.json() == {"queued": 0, "skipped": 1}
    assert (await listed(hoglet, other, "?redriven=false"))["count"] == 1


async def test_a_redrive_runs_the_oldest_failure_first_and_its_mapping(hoglet):
    function = await hoglet.create(enabled=True)
    now = hoglet.clock.now()
    for number, hours in enumerate((1, 3, 2)):
        failed = now - timedelta(hours=hours)
        await add(hoglet, function, first_failed_at=failed, mapping=number, error_class="filter")
    await hoglet.call("POST", f"/{function['id']}/dead_letters/redrive", json={"all": True})

    assert [job.mapping for job in await jobs(hoglet)] == [1, 2, 0]


async def test_dead_letters_are_retained_from_their_last_failure(hoglet):
    function, letters = await hoglet.create(), hoglet.app.state.dead_letters
    days = letters.settings.keep_days
    await add(hoglet, function, first_failed_at=hoglet.clock.now() - timedelta(days=days + 1))
    async with hoglet.database.write() as session:
        assert await letters.prune(session) == 0
    hoglet.clock.advance(seconds=days * 86_400 + 1)
    async with hoglet.database.write() as session:
        assert await letters.prune(session) == 1


async def test_a_redrive_of_many_dead_letters_reads_few_at_once(hoglet, monkeypatch):
    """Their events may be megabytes each."""
    function = await hoglet.create(enabled=True)
    for number in range(45):
        await add(hoglet, function, name=f"e{number}")
    sizes = []
    real = repository.read_whole

    async def noting(session, ids):
        sizes.append(len(ids))
        assert not [row for row in session.identity_map.values() if isinstance(row, DeadLetterRow)]
        return await real(session, ids)

    monkeypatch.setattr(repository, "read_whole", noting)
    path = f"/{function['id']}/dead_letters/redrive"
    done = await hoglet.call("POST", path, json={"all": True})

    assert done.json() == {"queued": 45, "skipped": 0}
    assert sizes == [20, 20, 5]
    assert [job.globals["event"]["event"] for job in await jobs(hoglet)] == [
        f"e{number}" for number in range(45)
    ]


async def test_a_failed_redrive_updates_its_letter(hoglet):
    function = await hoglet.create(enabled=True)
    invocation = new_id()
    await add(hoglet, function, invocation=invocation)
    await hoglet.call("POST", f"/{function['id']}/dead_letters/redrive", json={"all": True})
    await add(hoglet, function, invocation=invocation, error_class="hog")
    letters = (await listed(hoglet, function))["results"]

    assert [(letter["class"], letter["attempts"]) for letter in letters] == [("hog", 2)]
    assert letters[0]["redriven_at"] is None
    assert letters[0]["first_failed_at"] < letters[0]["last_failed_at"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ids": []},
        {"ids": ["x"]},
        {"all": False},
        {"all": True, "class": ["fetch"]},
        {"all": True, "ids": [str(UUID(int=1))]},
        {"ids": [str(UUID(int=1))], "after": "2026-01-01T00:00:00Z"},
        {"before": "2030-01-01T00:00:00Z", "clas": ["fetch"]},
    ],
)
async def test_a_redrive_needs_a_choice(hoglet, body):
    function = await hoglet.create(enabled=True)
    response = await hoglet.call("POST", f"/{function['id']}/dead_letters/redrive", json=body)

    assert response.status_code == 400


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({"ids": "x"}, "ids"),
        ({"ids": True, "all": True}, "ids"),
        ({"all": "false"}, "all"),
        ({"all": 1}, "all"),
        ({"all": 0, "class": ["hog"]}, "all"),
        ({"class": 0, "all": True}, "class"),
        ({"class": {}, "all": True}, "class"),
    ],
)
async def test_a_selection_of_another_type_is_refused_by_its_path(hoglet, attr_of, body, attr):
    """Reading it as absent could redrive more than was requested."""
    function = await hoglet.create(enabled=True)
    refused = await hoglet.call("POST", f"/{function['id']}/dead_letters/redrive", json=body)

    assert attr_of(refused)[::2] == (400, attr)


async def test_dead_letters_of_a_disabled_function_are_not_redriven(hoglet, attr_of):
    function = await hoglet.create()
    refused = await hoglet.call(
        "POST", f"/{function['id']}/dead_letters/redrive", json={"all": True}
    )

    assert attr_of(refused) == (400, "invalid_input", None)


async def test_the_oldest_dead_letters_are_dropped(hoglet):
    function = await hoglet.create()
    hoglet.app.state.dead_letters.settings = DeadLetterSettings(keep_per_function=2)
    for name in ("a", "b"):
        assert await add(hoglet, function, name=name) == []
    (line,) = await add(hoglet, function, name="c")
    assert (line.source_id, line.level) == (function["id"], "WARN")
    assert await add(hoglet, function, name="d") == []  # reported once an hour at most

    assert [result["event"] for result in (await listed(hoglet, function))["results"]] == ["d", "c"]
    hoglet.clock.advance(seconds=8 * 24 * 3600)
    async with hoglet.database.write() as session:
        assert await hoglet.app.state.dead_letters.prune(session) == 2


async def test_a_dry_run_tells_and_runs_nothing(hoglet, attr_of):
    function = await hoglet.create(enabled=True)
    await add(hoglet, function)
    await add(hoglet, function, error_class="hog")
    path = f"/{function['id']}/dead_letters/redrive"
    reported = await hoglet.call("POST", path, json={"class": ["hog"], "dry_run": True})

    assert reported.json() == {"queued": 1, "skipped": 0}
    assert await jobs(hoglet) == []
    assert (await listed(hoglet, function, "?redriven=true"))["count"] == 0
    bad = await hoglet.call("POST", path, json={"all": True, "dry_run": "maybe"})
    assert attr_of(bad) == (400, "invalid_input", "dry_run")
