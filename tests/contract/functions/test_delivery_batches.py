"""Batches of a function: docs/spec/hog-functions.md#139-batches."""

import asyncio
import contextlib

import pytest

from hoglet.functions.runtime.loop_guard import DEPTH_PROPERTY, MAX_DEPTH

BATCH = {"batch": {"max_events": 3, "max_seconds": 300}}
SOON = {"batch": {"max_events": 100, "max_seconds": 0.1}}
NAMES = "arraySort(arrayMap(e -> e.event.event, events))"


def posting(receiver, then=""):
    return f"let r := fetch(f'{receiver.url}/{{arrayStringConcat({NAMES}, '-')}}')\n{then}"


async def destination(hoglet, hog, delivery=BATCH, **fields):
    return await hoglet.create(enabled=True, hog=hog, delivery=delivery, **fields)


async def dead_letters_of(hoglet, function):
    letters = (await hoglet.call("GET", f"/{function['id']}/dead_letters")).json()["results"]
    return sorted((each["event"], each["class"]) for each in letters)


async def test_full_batches_run_at_once_and_the_rest_after_its_time(hoglet, runs, receiver):
    full = await destination(hoglet, posting(receiver))
    await runs.trigger(full, *"abcdef")
    await runs.work()
    assert sorted(len(path.split("-")) for path in receiver.paths()) == [3, 3]
    assert sorted("".join(receiver.paths()).replace("/", "").replace("-", "")) == [*"abcdef"]

    rest = await destination(hoglet, posting(receiver), SOON)
    await runs.trigger(rest, *"xy")
    await runs.work()
    assert receiver.paths()[2:] == ["/x-y"]
    counts = await runs.counts()
    assert (counts["success/succeeded"], counts["other/fetch"]) == (8, 3)


async def test_more_events_than_a_lane_may_hold_fit_into_one_batch(hoglet, runs, receiver):
    many = {"batch": {"max_events": 120, "max_seconds": 300}}
    function = await destination(hoglet, f"fetch(f'{receiver.url}/{{length(events)}}')", many)
    await runs.trigger(function, *map(str, range(120)))
    executor = asyncio.create_task(runs.executor.run())
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(60):
            while not receiver.arrivals:  # noqa: ASYNC110 (polls on purpose)
                await asyncio.sleep(0.05)
    runs.executor.stop()
    await executor
    assert receiver.paths() == ["/120"]


async def test_a_stopping_server_runs_what_waits(hoglet, runs, receiver):
    function = await destination(hoglet, posting(receiver))
    await runs.trigger(function, *"ab")
    await runs.executor._lease_some()
    while runs.executor._batches.waiting.total() < 2:  # noqa: ASYNC110 (polls on purpose)
        await asyncio.sleep(0.01)
    runs.executor.stop()
    await asyncio.wait(list(runs.executor._running))
    assert receiver.paths() == ["/a-b"]


async def _change_while_waiting(hoglet, runs, receiver, **changes):
    """Change a function while a batch of two events waits for a third one, then send that."""
    function = await destination(hoglet, posting(receiver))
    await runs.trigger(function, *"ab")
    await runs.executor._lease_some()
    while runs.executor._batches.waiting.total() < 2:  # noqa: ASYNC110 (polls on purpose)
        await asyncio.sleep(0.01)
    assert (await hoglet.patch(function["id"], **changes)).status_code == 200
    runs.executor._batches.stop()  # as after max_seconds
    await runs.work()


@pytest.mark.parametrize("change", [{"enabled": False}, {"deleted": True}])
async def test_a_function_that_is_switched_off_runs_no_batch_that_waits(
    hoglet, runs, receiver, change
):
    await _change_while_waiting(hoglet, runs, receiver, **change)

    assert receiver.paths() == []
    assert "success/succeeded" not in await runs.counts()
    logged = [entry.message for entry in await runs.lines_of_log("WARN")]
    assert logged == ["Not run: the function is disabled"] * 2 * ("enabled" in change)


async def test_a_batch_that_waits_runs_the_code_that_was_saved_meanwhile(hoglet, runs, receiver):
    hog = f"fetch(f'{receiver.url}/new-{{length(events)}}')"
    await _change_while_waiting(hoglet, runs, receiver, hog=hog)

    assert receiver.paths() == ["/new-2"]
    assert (await runs.counts())["success/succeeded"] == 2


async def test_events_that_wait_run_alone_once_their_function_has_no_batches(
    hoglet, runs, receiver
):
    hog = f"fetch(f'{receiver.url}/{{event.event}}')"
    await _change_while_waiting(hoglet, runs, receiver, hog=hog, delivery=None)

    assert sorted(receiver.paths()) == ["/a", "/b"]


async def test_what_waited_in_a_killed_process_runs_in_the_next(hoglet, runs, receiver):
    function = await destination(hoglet, posting(receiver))
    await runs.trigger(function, *"ab")
    await runs.executor._lease_some()
    while runs.executor._batches.waiting.total() < 2:  # noqa: ASYNC110 (polls on purpose)
        await asyncio.sleep(0.01)
    held = list(runs.executor._running)
    for task in held:
        task.cancel()
    await asyncio.gather(*held, return_exceptions=True)
    await runs.restart()
    await runs.trigger(function, "c")
    await runs.work()
    assert receiver.paths() == ["/a-b-c"]
    assert (await runs.counts())["success/succeeded"] == 3


RESULTS = "return arrayMap(e -> {}, events)"


async def test_failed_events_become_dead_letters_alone(hoglet, runs, receiver):
    hog = RESULTS.format("e.event.event == 'b' ? {'error': 'no such user'} : {'status': 200}")
    function = await destination(hoglet, hog.replace("{{", "{").replace("}}", "}"))
    await runs.trigger(function, *"abc")
    await runs.work()
    assert await dead_letters_of(hoglet, function) == [("b", "hog")]
    counts = await runs.counts()
    assert (counts["success/succeeded"], counts["failure/failed"]) == (2, 1)
    letter = (await hoglet.call("GET", f"/{function['id']}/dead_letters")).json()["results"][0]
    assert letter["error"] == "no such user"


@pytest.mark.parametrize(
    ("result", "dead_letters", "retried"),
    [
        ("false", [("b", "hog")], 0),
        ("true", [], 0),
        ("null", [], 0),
        ("'text'", [], 0),
        ("0", [], 0),
        ("{'status': 399}", [], 0),
        ("{'status': 404}", [("b", "fetch")], 0),
        ("{'status': 503, 'retry': false}", [("b", "fetch")], 0),
        ("{'status': 503}", [("b", "fetch")], 1),
        ("{'status': '503'}", [("b", "fetch")], 1),
        ("{'status': '404'}", [("b", "fetch")], 0),
        ("{'status': 500.5}", [("b", "fetch")], 1),
        ("{'status': 4000}", [("b", "fetch")], 0),
        ("{'status': 'failed'}", [], 0),
        ("{'status': true}", [], 0),
        ("{'status': 1 / 0}", [], 0),
        ("{'error': 'busy', 'retry': true}", [("b", "hog")], 1),
        ("{'error': ''}", [], 0),
        ("{'error': 5}", [("b", "hog")], 0),
    ],
)
async def test_results(hoglet, runs, result, dead_letters, retried):
    retry = {"max_attempts": 2, "initial_delay_seconds": 1}
    hog = RESULTS.replace("{}", f"e.event.event == 'b' ? {result} : null")
    function = await destination(hoglet, hog, SOON, retry=retry)
    await runs.trigger(function, *"abc")
    await runs.work_for(3)
    assert await dead_letters_of(hoglet, function) == dead_letters
    counts = await runs.counts()
    assert counts.get("other/retried", 0) == retried
    assert counts["success/succeeded"] == 3 - len(dead_letters)


async def test_a_retried_event_succeeds_later_alone(hoglet, runs, receiver):
    hog = (
        f"let r := fetch(f'{receiver.url}/{{length(events)}}')\n"
        "return arrayMap(e -> e.event.event == 'b' and length(events) > 1 "
        "? {'status': 503} : null, events)"
    )
    function = await destination(hoglet, hog, SOON)
    await runs.trigger(function, *"abc")
    await runs.work_for(3)
    assert receiver.paths() == ["/3", "/1"]
    assert await dead_letters_of(hoglet, function) == []
    assert (await runs.counts())["success/succeeded"] == 3


async def test_a_request_that_may_pass_is_retried_for_all(hoglet, runs, receiver):
    function = await destination(hoglet, posting(receiver), SOON)
    receiver.script["/a-b"] = [(503, {})]
    await runs.trigger(function, *"ab")
    await runs.work_for(3)
    assert receiver.paths() == ["/a-b", "/a-b"]
    assert (await runs.counts())["success/succeeded"] == 2


async def test_a_batch_that_waits_for_a_paused_host_is_logged_once(hoglet, runs, receiver):
    hog = "postHogCapture({'event': 'seen', 'distinct_id': 'x'})\nprint('once')\n" + posting(
        receiver
    )
    function = await destination(hoglet, hog, SOON)
    receiver.script["/a"] = [(503, {"retry-after": "5"})]
    await runs.trigger(function, "a")
    await runs.work()
    ids = await runs.trigger(function, "b", "c")
    await runs.work_for(2)
    assert receiver.paths() == ["/a"]
    names = {str(run) for run in ids}
    assert not [line for line in await runs.lines_of_log() if line.instance_id in names]
    await runs.work_for(6)
    assert sorted("".join(receiver.paths()).replace("/", "").replace("-", "")) == [*"aabc"]
    lines = [line.message for line in await runs.lines_of_log() if line.instance_id in names]
    assert lines.count("once") <= 1
    assert (await runs.counts())["success/succeeded"] == 3


async def test_batches_do_not_capture_in_an_endless_circle(hoglet, runs):
    function = await destination(hoglet, "postHogCapture({'event': 'x', 'distinct_id': 'd'})", SOON)
    await runs.trigger(function, "a")
    await runs.trigger(function, "b", **{DEPTH_PROPERTY: MAX_DEPTH})
    await runs.work()
    (warning,) = await runs.lines_of_log("WARN")
    assert "postHogCapture refused" in warning.message


async def test_a_refused_request_is_a_dead_letter_for_each_to_redrive(hoglet, runs, receiver):
    function = await destination(hoglet, posting(receiver), SOON)
    receiver.script["/a-b"] = [(400, {})]
    await runs.trigger(function, *"ab")
    await runs.work()
    assert await dead_letters_of(hoglet, function) == [("a", "fetch"), ("b", "fetch")]
    answer = await hoglet.call(
        "POST", f"/{function['id']}/dead_letters/redrive", json={"all": True}
    )
    assert answer.json() == {"queued": 2, "skipped": 0}
    await runs.work()
    counts = await runs.counts()
    assert (counts["success/succeeded"], counts["other/redriven"]) == (2, 2)


@pytest.mark.parametrize(
    "poison", ["throw Error('bad')", "while (true) {}", "return [1, 2, 3, 4, 5, 6, 7]"]
)
async def test_an_event_that_breaks_the_program_does_not_take_the_others_along(
    hoglet, runs, receiver, poison
):
    hog = (
        "for (let e in events) { if (e.event.event == 'c') { "
        + poison
        + " } }\n"
        + posting(receiver)
    )
    function = await destination(hoglet, hog, {"batch": {"max_events": 5, "max_seconds": 300}})
    await runs.trigger(function, *"abcde")
    await runs.work()
    assert [name for name, _ in await dead_letters_of(hoglet, function)] == ["c"]
    assert sorted("".join(receiver.paths()).replace("/", "").replace("-", "")) == [*"abde"]


async def test_inputs_are_those_of_each_event(hoglet, runs, receiver):
    hog = (
        f"fetch(f'{receiver.url}/{{inputs.fixed}}-{{inputs.text ?? 'none'}}-"
        "{arrayStringConcat(arraySort(arrayMap(e -> e.inputs.text, events)), '-')}')"
    )
    function = await destination(
        hoglet,
        hog,
        inputs_schema=[{"key": "text", "type": "string"}, {"key": "fixed", "type": "string"}],
        inputs={"text": {"value": "is-{event.event}"}, "fixed": {"value": "same"}},
    )
    await runs.trigger(function, *"abc")
    await runs.work()
    assert receiver.paths() == ["/same-none-is-a-is-b-is-c"]


async def test_the_log_of_a_batch_names_its_events(hoglet, runs):
    function = await destination(hoglet, "print(length(events))")
    ids = await runs.trigger(function, *"abc")
    await runs.work()
    lines = await runs.lines_of_log()
    (batch,) = [line for line in lines if line.message.startswith("Batch of 3 events: ")]
    assert all(str(run) in batch.message for run in ids)
    assert {line.instance_id for line in lines if line.message == "3"} == {batch.instance_id}
    assert {line.instance_id for line in lines} == {str(run) for run in ids}
    (closing,) = [line for line in lines if line.message.startswith("Function completed in ")]
    assert closing.message.endswith(" Batch: 3 events")


@pytest.mark.parametrize(
    ("hog", "status"),
    [
        ("return events[1].event.event == 'try' and length(events) == 1", "success"),
        ("return [{'status': 404}]", "error"),
        ("return [null]", "success"),
    ],
)
async def test_a_test_run_is_a_batch_of_one(hoglet, hog, status):
    function = await destination(hoglet, hog)
    globals_ = {"event": {"uuid": "u", "event": "try", "distinct_id": "a", "properties": {}}}
    answer = await hoglet.call("POST", f"/{function['id']}/invocations", json={"globals": globals_})
    assert answer.json()["status"] == status, answer.text


@pytest.mark.parametrize(
    ("batch", "attr"),
    [
        ({}, "delivery__batch__max_events"),
        ({"max_events": 10}, "delivery__batch__max_seconds"),
        ({"max_events": 0, "max_seconds": 1}, "delivery__batch__max_events"),
        ({"max_events": 1001, "max_seconds": 1}, "delivery__batch__max_events"),
        ({"max_events": 10, "max_seconds": 0}, "delivery__batch__max_seconds"),
        ({"max_events": 10, "max_seconds": 301}, "delivery__batch__max_seconds"),
        ({"max_events": 10, "max_seconds": 1, "max_bytes": 1}, "delivery__batch__max_bytes"),
        ([], "delivery__batch"),
    ],
)
async def test_wrong_batches_are_refused(hoglet, batch, attr):
    answer = await hoglet.call(
        "POST", json={"type": "destination", "hog": "return 1", "delivery": {"batch": batch}}
    )
    assert (answer.status_code, answer.json()["attr"]) == (400, attr)


async def test_ordered_batches_are_refused(hoglet):
    delivery = {**BATCH, "ordered_by": "distinct_id"}
    answer = await hoglet.call(
        "POST", json={"type": "destination", "hog": "return 1", "delivery": delivery}
    )
    assert (answer.status_code, answer.json()["attr"]) == (400, "delivery__batch")


async def test_batches_are_stored_and_events_is_a_known_name(hoglet):
    function = await hoglet.create(hog="return length(events)", delivery=BATCH)
    assert function["delivery"] == BATCH
    assert not function.get("warnings")
