"""Ordered delivery per distinct id: docs/adr/0009-delivery.md."""

import random
from uuid import UUID

import pytest

from support.seeds import seeds

ORDERED = {"ordered_by": "distinct_id"}


def hog(receiver):
    return f"fetch(f'{receiver.url}/{{event.distinct_id}}/{{event.event}}')"


async def test_a_later_run_waits_for_the_retries_of_an_earlier_one(hoglet, runs, receiver):
    function = await hoglet.create(enabled=True, hog=hog(receiver), delivery=ORDERED)
    receiver.script["/ada/1"] = [(503, {}), (503, {})]
    await runs.trigger(function, "1", "2", "3")
    await runs.trigger(function, "1", "2", distinct_id="bob")
    await runs.work()

    assert [path for path in receiver.paths() if "ada" in path] == ["/ada/1"]
    assert [path for path in receiver.paths() if "bob" in path] == ["/bob/1", "/bob/2"]
    await runs.work_for(10)
    assert [path for path in receiver.paths() if "ada" in path] == [
        *["/ada/1"] * 3,
        "/ada/2",
        "/ada/3",
    ]


async def test_without_the_option_nobody_waits(hoglet, runs, receiver):
    function = await hoglet.create(enabled=True, hog=hog(receiver))
    receiver.script["/ada/1"] = [(503, {})]
    await runs.trigger(function, "1", "2")
    await runs.work()

    assert sorted(receiver.paths()) == ["/ada/1", "/ada/2"]


async def test_a_run_that_fails_for_good_lets_the_next_go(hoglet, runs, receiver):
    function = await hoglet.create(enabled=True, hog=hog(receiver), delivery=ORDERED)
    receiver.script["/ada/1"] = [(400, {})]
    await runs.trigger(function, "1", "2")
    await runs.work()

    assert receiver.paths() == ["/ada/1", "/ada/2"]


async def test_dead_letters_of_an_ordered_function_run_again_in_their_order(hoglet, runs, receiver):
    function = await hoglet.create(enabled=True, hog=hog(receiver), delivery=ORDERED)
    for name in "12345":
        receiver.script[f"/ada/{name}"] = [(400, {})]
        await runs.trigger(function, name)
        await runs.work()
        hoglet.clock.advance(seconds=1)
    receiver.script["/ada/2"] = [(503, {}), (503, {})]
    answer = await hoglet.call(
        "POST", f"/{function['id']}/dead_letters/redrive", json={"all": True}
    )
    assert answer.json() == {"queued": 5, "skipped": 0}
    await runs.work()
    await runs.trigger(function, "6")  # waits behind what is run again
    await runs.work_for(10)

    again = ["/ada/1", *["/ada/2"] * 3, "/ada/3", "/ada/4", "/ada/5", "/ada/6"]
    assert receiver.paths() == [*[f"/ada/{name}" for name in "12345"], *again]


@pytest.mark.parametrize("replay", [None, UUID(int=5)])
async def test_further_mappings_of_a_run_that_starts_at_its_filter_line_up(
    hoglet, runs, receiver, replay
):
    schema = [{"key": "to", "type": "string"}]
    function = await hoglet.create(
        enabled=True,
        hog=f"fetch(f'{receiver.url}/{{event.event}}/{{inputs.to}}')",
        mappings=[{"inputs_schema": schema, "inputs": {"to": {"value": to}}} for to in "abc"],
        delivery=ORDERED,
    )
    receiver.script["/1/a"], receiver.script["/1/b"] = [(503, {})], [(503, {})]
    await runs.trigger(function, "1", "2", start={"start_at": "filter", "backfill_id": replay})
    await runs.work_for(10)

    behind = ["/1/b", "/1/b", "/1/c", "/2/b", "/2/c"]
    assert receiver.paths() == ["/1/a", "/1/a", "/2/a", *behind]


async def test_the_line_of_a_function_that_is_switched_off_empties(hoglet, runs, receiver):
    function = await hoglet.create(enabled=True, hog=hog(receiver), delivery=ORDERED)
    await runs.trigger(function, "1", "2", "3")
    await hoglet.patch(function["id"], enabled=False)
    await runs.work()
    await hoglet.patch(function["id"], enabled=True)
    await runs.restart()  # an executor may know the function as it was a second ago
    await runs.trigger(function, "4")
    await runs.work()

    assert receiver.paths() == ["/ada/4"]


@pytest.mark.parametrize("seed", seeds(3, 6))
async def test_the_order_holds_over_kills_and_failures(hoglet, runs, receiver, seed):
    """Each run is carried on for a random number of times before its process "dies"."""
    function = await hoglet.create(enabled=True, hog=hog(receiver), delivery=ORDERED)
    chance = random.Random(seed)  # noqa: S311 (instants, not secrets)
    names = [f"{number:02}" for number in range(12)]
    for who in ("ada", "bob"):
        for name in names:
            receiver.script[f"/{who}/{name}"] = [(503, {})] * chance.choice((0, 0, 1))
    for name in names:
        for who in ("ada", "bob"):
            await runs.trigger(function, name, distinct_id=who)
    for _ in range(60):
        if await runs.executor._lease_some() and chance.random() < 0.4:
            for task in list(runs.executor._running):
                task.cancel()
            runs.executor._running.clear()
            await runs.restart()
        await runs.work()
        hoglet.clock.advance(seconds=2)

    for who in ("ada", "bob"):
        arrived = [path for path in receiver.paths() if path.startswith(f"/{who}")]
        assert arrived == sorted(arrived)
        assert {path.rpartition("/")[2] for path in arrived} == set(names)


@pytest.mark.parametrize(
    ("delivery", "attr", "code"),
    [
        ({"ordered_by": "person"}, "delivery__ordered_by", "invalid_choice"),
        ({"concurrency": 0}, "delivery__concurrency", "min_value"),
        ({"concurrency": 257}, "delivery__concurrency", "max_value"),
        ({"requests_per_minute": 60001}, "delivery__requests_per_minute", "max_value"),
        ({"nope": 1}, "delivery__nope", "invalid_input"),
    ],
)
async def test_bad_options_are_refused(hoglet, attr_of, delivery, attr, code):
    body = {"type": "destination", "hog": "return 1", "delivery": delivery}
    assert attr_of(await hoglet.call("POST", json=body)) == (400, code, attr)


async def test_the_options_are_shown_only_where_they_are_set(hoglet):
    plain = await hoglet.create()
    function = await hoglet.create(delivery={"concurrency": 2})
    assert "delivery" not in plain
    assert function["delivery"] == {"concurrency": 2}
    cleared = await hoglet.patch(function["id"], delivery=None)
    assert "delivery" not in cleared.json()
