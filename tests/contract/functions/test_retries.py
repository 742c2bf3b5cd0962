"""Retries: every row of docs/spec/hog-functions.md#134-retries-hoglet-goes-further, with a real
receiver."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

START = datetime(2026, 1, 5, 12, tzinfo=UTC)


async def destination(hoglet, receiver, **fields):
    hog = f"let a := fetch(f'{receiver.url}/{{event.event}}')\nprint(a.status)"
    return await hoglet.create(enabled=True, **{"hog": hog, **fields})


async def dead_letters_of(hoglet, function):
    return (await hoglet.call("GET", f"/{function['id']}/dead_letters")).json()["results"]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 0])
async def test_what_may_pass_is_tried_again(hoglet, runs, receiver, status):
    function = await destination(hoglet, receiver)
    receiver.script["/e"] = [(status, {})]
    await runs.trigger(function, "e")
    await runs.work_for(2)

    assert len(receiver.arrivals) == 2
    counts = await runs.counts()
    assert (counts["success/succeeded"], counts["other/retried"], counts["other/fetch"]) == (
        1,
        1,
        1,
    )
    assert await dead_letters_of(hoglet, function) == []


@pytest.mark.parametrize("status", [400, 401, 404, 409, 410, 422, 501, 505])
async def test_other_statuses_are_final(hoglet, runs, receiver, status):
    function = await destination(hoglet, receiver)
    receiver.script["/e"] = [(status, {"retry-after": "1"})]
    await runs.trigger(function, "e")
    await runs.work_for(3)

    assert len(receiver.arrivals) == 1
    (letter,) = await dead_letters_of(hoglet, function)
    assert (letter["class"], letter["attempts"]) == ("fetch", 1)
    counts = await runs.counts()
    assert counts["failure/failed"] == counts["other/dead_lettered"] == 1
    assert "other/retried" not in counts


@pytest.mark.parametrize("url", ["http://10.0.0.1/x", "ftp://example.com/x", "http://[::1/x"])
async def test_refused_urls_are_not_tried_again(hoglet, runs, url):
    function = await hoglet.create(enabled=True, hog=f"fetch('{url}')")
    await runs.trigger(function, "e")
    await runs.work_for(3)

    (letter,) = await dead_letters_of(hoglet, function)
    assert (letter["class"], letter["attempts"]) == ("fetch", 1)
    (line,) = [
        each.message for each in await runs.lines_of_log("ERROR") if "Attempt" in each.message
    ]
    assert line.startswith("Attempt 1 of fetch failed")
    assert line.endswith("no further attempts")


async def test_the_delays_grow_to_their_maximum(hoglet, runs, receiver):
    policy = {"initial_delay_seconds": 10, "multiplier": 3, "max_delay_seconds": 100}
    function = await destination(hoglet, receiver, retry=policy)
    receiver.script["/e"] = [(503, {})] * 5
    await runs.trigger(function, "e")
    due, seen = [0.0, 10, 40, 130, 230, 330], []
    for second in range(0, 340, 5):
        before = len(receiver.arrivals)
        await runs.work()
        seen += [second] * (len(receiver.arrivals) - before)
        hoglet.clock.advance(seconds=5)

    assert len(seen) == len(due)
    assert all(0 <= at - expected <= 5 for at, expected in zip(seen, due, strict=True)), seen


async def test_attempts_are_told_and_exhausted(hoglet, runs, receiver):
    function = await destination(hoglet, receiver, retry={"max_attempts": 3})
    receiver.script["/e"] = [(503, {})] * 9
    await runs.trigger(function, "e")
    await runs.work_for(20)

    assert [each.headers["x-hoglet-attempt"] for each in receiver.arrivals] == ["1", "2", "3"]
    lines = [each.message for each in await runs.lines_of_log("ERROR")]
    assert [line.partition(";")[2].strip() for line in lines[:3]] == [
        "next attempt in 1.0 s",
        "next attempt in 2.0 s",
        "no further attempts",
    ]
    assert all(f"Attempt {n} of fetch failed: status 503" in lines[n - 1] for n in (1, 2, 3))
    # The program continues with the last answer; the run still counts as failed.
    assert [each.message for each in await runs.lines_of_log("INFO")] == ["503"]
    (letter,) = await dead_letters_of(hoglet, function)
    assert (letter["class"], letter["attempts"]) == ("fetch", 3)
    assert letter["first_failed_at"] < letter["last_failed_at"]
    counts = await runs.counts()
    assert (counts["other/retried"], counts["failure/failed"]) == (2, 1)


async def test_one_attempt_means_no_retry(hoglet, runs, receiver):
    function = await destination(hoglet, receiver, retry={"max_attempts": 1})
    receiver.script["/e"] = [(503, {})]
    await runs.trigger(function, "e")
    await runs.work_for(5)

    assert len(receiver.arrivals) == 1
    assert len(await dead_letters_of(hoglet, function)) == 1


async def test_an_hour_of_503_then_200_is_one_success(hoglet, runs, receiver):
    function = await destination(hoglet, receiver)
    receiver.script["/e"] = [(503, {})] * 12  # 1 + 2 + 4 + … 1800 + 1800 s: over an hour
    await runs.trigger(function, "e")
    await runs.work_for(3 * 3600, step=60)

    counts = await runs.counts()
    assert counts["success/succeeded"] == 1
    assert await dead_letters_of(hoglet, function) == []
    assert len({arrival.headers["x-hoglet-delivery"] for arrival in receiver.arrivals}) == 1


@pytest.mark.parametrize("as_date", [False, True])
async def test_retry_after_is_a_lower_bound(hoglet, runs, receiver, as_date):
    function = await destination(hoglet, receiver)
    asked = format_datetime(START + timedelta(seconds=60), usegmt=True) if as_date else "60"
    receiver.script["/e"] = [(429, {"retry-after": asked})]
    await runs.trigger(function, "e")
    await runs.work_for(58)
    assert len(receiver.arrivals) == 1
    await runs.work_for(4)
    assert len(receiver.arrivals) == 2


@pytest.mark.parametrize(
    "retry_after",
    [
        "-5", "soon", "1e3", "Mon, 99 Foo", "\u0665",
        "Mon, 05 Jan 2026 12:00:00 +99999999999999999", f"Mon, 05 Jan {10**20} 12:00:00 GMT",
    ],
)  # fmt: skip
async def test_an_unreadable_retry_after_does_not_matter(hoglet, runs, receiver, retry_after):
    function = await destination(hoglet, receiver)
    receiver.script["/e"] = [(429, {"retry-after": retry_after.encode().decode("latin-1")})]
    await runs.trigger(function, "e")
    await runs.work_for(8)
    assert len(receiver.arrivals) == 2


@pytest.mark.parametrize("retry_after", ["21601", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_wait_past_the_end_gives_up_at_once(hoglet, runs, receiver, retry_after):
    function = await destination(hoglet, receiver)
    receiver.script["/e"] = [(503, {"retry-after": retry_after})]
    await runs.trigger(function, "e")
    await runs.work()

    (letter,) = await dead_letters_of(hoglet, function)
    assert letter["class"] == "fetch"
    await runs.trigger(function, "other")  # not held back by such a wait
    await runs.work()
    assert receiver.paths() == ["/e", "/other"]


async def test_retry_after_may_be_ignored(hoglet, runs, receiver):
    function = await destination(hoglet, receiver, retry={"respect_retry_after": False})
    receiver.script["/e"] = [(429, {"retry-after": "600"})]
    await runs.trigger(function, "e")
    await runs.trigger(function, "other")
    await runs.work_for(2)
    assert sorted(receiver.paths()) == ["/e", "/e", "/other"]


async def test_max_elapsed_ends_the_retries(hoglet, runs, receiver):
    function = await destination(hoglet, receiver, retry={"max_elapsed_seconds": 10})
    receiver.script["/e"] = [(503, {})] * 20
    await runs.trigger(function, "e")
    await runs.work_for(60)

    assert len(receiver.arrivals) == 4  # after 0, 1, 3 and 7 s; the next would be after 15
    assert len(await dead_letters_of(hoglet, function)) == 1


async def test_while_a_host_asks_to_wait_other_runs_of_the_function_wait_too(
    hoglet, runs, receiver
):
    function = await destination(hoglet, receiver)
    other = await destination(hoglet, receiver)
    receiver.script["/first"] = [(429, {"retry-after": "60"})]
    await runs.trigger(function, "first")
    await runs.work()
    await runs.restart()  # what a host asked for survives a kill
    await runs.trigger(function, "second")
    await runs.trigger(other, "another-function")
    await runs.work_for(55)
    assert receiver.paths() == ["/first", "/another-function"]
    await runs.work_for(7)
    assert sorted(receiver.paths()[2:]) == ["/first", "/second"]
    counted = [
        arrival.headers["x-hoglet-attempt"]
        for arrival in receiver.arrivals
        if arrival.path == "/second"
    ]
    assert counted == ["1"]  # waiting does not count as an attempt


async def test_the_delivery_id_stays_over_attempts_restarts_and_a_redrive(hoglet, runs, receiver):
    function = await destination(hoglet, receiver, retry={"max_attempts": 2})
    receiver.script["/e"] = [(503, {}), (503, {}), (503, {})]
    (run,) = await runs.trigger(function, "e")
    await runs.work()
    await runs.restart()
    await runs.work_for(3)
    answer = await hoglet.call(
        "POST", f"/{function['id']}/dead_letters/redrive", json={"all": True}
    )
    assert answer.json() == {"queued": 1, "skipped": 0}
    await runs.work_for(3)

    assert {arrival.headers["x-hoglet-delivery"] for arrival in receiver.arrivals} == {str(run)}
    assert [arrival.headers["x-hoglet-attempt"] for arrival in receiver.arrivals] == [
        "1",
        "2",
        "1",
        "2",
    ]
    assert all(arrival.headers["user-agent"].startswith("hoglet") for arrival in receiver.arrivals)
    assert (await runs.counts())["other/redriven"] == 1


async def test_a_redrive_has_its_own_time(hoglet, runs, receiver):
    policy = {"max_elapsed_seconds": 5, "initial_delay_seconds": 2}
    function = await destination(hoglet, receiver, retry=policy)
    receiver.script["/e"] = [(503, {})] * 20
    await runs.trigger(function, "e")
    await runs.work_for(20)
    first = len(receiver.arrivals)
    hoglet.clock.advance(seconds=3600)
    await hoglet.call("POST", f"/{function['id']}/dead_letters/redrive", json={"all": True})
    await runs.work_for(60)

    assert (first, len(receiver.arrivals)) == (2, 4)


async def test_a_program_may_set_the_headers_itself(hoglet, runs, receiver):
    headers = "{'X-Hoglet-Delivery': 'mine', 'x-hoglet-attempt': 'a', 'user-agent': 'me'}"
    hog = f"fetch('{receiver.url}/e', {{'headers': {headers}}})"
    function = await hoglet.create(enabled=True, hog=hog)
    await runs.trigger(function, "e")
    await runs.work()

    (arrival,) = receiver.arrivals
    names = ("x-hoglet-delivery", "x-hoglet-attempt", "user-agent")
    assert [arrival.headers[name] for name in names] == ["mine", "a", "me"]


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [
        ("max_attempts", (1, 0), (100, 101)),
        ("initial_delay_seconds", (0.1, 0.09), (3600, 3601)),
        ("multiplier", (1, 0.9), (10, 10.1)),
        ("max_delay_seconds", (1, 0.5), (86400, 86401)),
        ("max_elapsed_seconds", (0, -1), (604800, 604801)),
    ],
)
async def test_the_bounds_of_a_policy(hoglet, attr_of, key, low, high):
    for good in (low[0], high[0]):
        assert (await hoglet.create(retry={key: good}))["retry"] == {key: good}
    for bad, code in ((low[1], "min_value"), (high[1], "max_value")):
        body = {"type": "destination", "hog": "return 1", "retry": {key: bad}}
        assert attr_of(await hoglet.call("POST", json=body)) == (400, code, f"retry__{key}")
