"""Step-by-step execution of runs.

Source: docs/spec/hog-functions.md#13-run-time.
"""

import time
from datetime import UTC, datetime

import msgspec
import pytest

from hoglet.functions.executable.model import (
    ExecutableFunction,
    ExecutableInput,
    ExecutableMapping,
)
from hoglet.functions.runtime.engine import EvaluationFailed
from hoglet.functions.runtime.host_calls import new_journal, resume
from hoglet.functions.runtime.liquid_templates import render_liquid
from hoglet.functions.runtime.messages import StepRequest
from hoglet.functions.runtime.step import run_step
from hoglet.functions.worker_operations import run_step as run_step_operation

EVENT = {"uuid": "u1", "event": "paid", "distinct_id": "ada", "properties": {"a": 1}, "url": "U"}


def function(hog, *inputs, **fields):
    return ExecutableFunction(
        id="f", project_id=1, type="destination", hog=hog, inputs=inputs, **fields
    )


def run(function_, answers=(), *, event=EVENT, mapping=None):
    """All steps of a run, through plain values as the sandbox carries them."""
    journal = new_journal(datetime(2026, 1, 5, tzinfo=UTC), 7)
    steps = []
    waiting = iter(answers)
    while True:
        request = StepRequest(
            function=function_, globals={"event": event}, journal=journal, mapping=mapping
        )
        plain = msgspec.json.decode(msgspec.json.encode(msgspec.to_builtins(request)))
        step = msgspec.convert(run_step_operation(plain), type(run_step(request)))
        steps.append(step)
        if step.outcome != "call":
            return steps
        journal = resume(step, next(waiting))


def test_a_run_without_calls_finishes_in_one_step():
    (step,) = run(function("return event.event"))

    assert (step.outcome, step.result) == ("finished", "paid")
    assert step.logs[0].level == "debug"
    assert "'U'" in step.logs[0].message


def test_replay_logs_and_captures_once():
    code = """
        print('one')
        let before := randomFloat()
        let a := fetch('https://a')
        postHogCapture({'event': 'x'})
        print('two', before == before)
        let b := fetch('https://b')
        print('three', a.status, b.body)
        return before
    """
    answers = [{"status": 200, "body": ""}, {"status": 200, "body": {"x": 1}}]
    steps = run(function(code), answers)

    lines = [[line.message for line in step.logs] for step in steps]
    assert lines[0] == ["one"]
    assert lines[1] == ["two, true"]
    assert lines[2][0] == 'three, 200, {"x":1}'
    assert [len(step.captures) for step in steps] == [0, 1, 0]
    assert [step.call.request["url"] for step in steps[:2]] == ["https://a", "https://b"]
    assert steps[2].fetches == 2
    assert 0 <= steps[2].result < 1


def test_a_waiting_step_asks_again_without_repeating_its_lines():
    f = function("print('once'); postHogCapture({'event': 'x'}); fetch('https://a')")
    first = run_step(
        StepRequest(function=f, globals={"event": EVENT}, journal=new_journal(datetime.now(UTC), 1))
    )
    again = run_step(StepRequest(function=f, globals={"event": EVENT}, journal=first.journal))

    assert (len(first.logs), len(first.captures)) == (1, 1)
    assert (again.outcome, again.call) == ("call", first.call)
    assert (again.logs, again.captures) == ([], [])
    done = run_step(
        StepRequest(function=f, globals={"event": EVENT}, journal=resume(again, {"status": 200}))
    )
    assert (done.outcome, len(done.logs), done.captures) == ("finished", 1, [])


@pytest.mark.parametrize(
    ("status", "outcome"), [(200, "finished"), (399, "finished"), (400, "failed")]
)
def test_a_bad_final_status_fails_the_run(status, outcome):
    steps = run(function("try { fetch('https://a') } catch {} return 1"), [{"status": status}])

    assert steps[-1].outcome == outcome
    assert steps[-1].error_class == ("fetch" if outcome == "failed" else None)


@pytest.mark.parametrize("codes", [[404], ["4xx"], [500, 404]])
def test_listed_statuses_are_no_failure(codes):
    item = ExecutableInput(key="codes", value=codes, type="non_failure_status_codes")
    step = run(function("fetch('https://a')", item), [{"status": 404}])[-1]

    assert step.outcome == "finished"
    assert (step.logs[0].level, "404" in step.logs[0].message) == ("info", True)


@pytest.mark.parametrize(
    ("code", "error", "error_class"),
    [
        ("throw Error('no')", "no", "hog"),
        ("nothing()", "Unsupported function call: nothing", "hog"),
        ("while (true) {}", "timed out", "timeout"),
        ("let a := []; while (true) { a := arrayPushBack(a, 'xxxxxxxxxxxxxxx') }", "", "timeout"),
        ("fetch()", "URL", "hog"),
        ("postHogCapture({})", "event name", "hog"),
        ("postHogCapture({'event': 'a'}); postHogCapture({'event': 'b'})", "once", "hog"),
        ("sendEmail({})", "sendEmail", "hog"),
    ],
)
def test_how_runs_fail(code, error, error_class):
    step = run(function(code))[-1]

    assert step.outcome == "failed"
    assert error in step.error
    assert step.error_class == error_class
    assert step.logs[-1].level == "error"
    assert "u1" in step.logs[-1].message


def test_at_most_five_async_steps():
    code = "for (let i := 0; i < 6; i := i + 1) { fetch('https://a') }"
    steps = run(function(code), [{"status": 200}] * 6)

    assert (len(steps), steps[-1].error_class) == (6, "timeout")


def test_the_25th_print_is_the_last():
    step = run(function("for (let i := 0; i < 40; i := i + 1) { print(i) }"))[-1]

    assert [line.level for line in step.logs] == ["info"] * 24 + ["warn", "debug"]
    assert "u1" in step.logs[24].message


def test_an_endless_loop_ends_within_its_time():
    begun = time.thread_time()
    run(function("while (true) {}"))

    assert time.thread_time() - begun < 2


def test_capture_chains_end():
    event = {**EVENT, "properties": {"$hog_function_execution_count": 10}}
    step = run(function("postHogCapture({'event': 'a'})"), event=event)[-1]

    assert (step.outcome, step.captures, step.logs[0].level) == ("finished", [], "warn")


def test_secrets_are_redacted():
    token = ExecutableInput(key="token", value="s3cret {event.event}", secret=True)
    code = "print(inputs.token, {'Authorization': 'Bearer abc'}); throw Error(inputs.token)"
    step = run(function(code, token))[-1]

    text = " ".join(line.message for line in step.logs) + step.error
    assert "s3cret" not in text
    assert "abc" not in text
    assert text.count("***REDACTED***") >= 3


def test_inputs_are_built_in_order_with_mappings_on_top():
    f = function(
        "return inputs",
        ExecutableInput(key="a", value="{event.event}"),
        ExecutableInput(key="b",
                      value={"x": "{inputs.a}!", "$$_extend_object": "{event.properties}"},
                      type="json"),
        ExecutableInput(key="c", value="{{ event.event | upcase }}", templating="liquid"),
        ExecutableInput(key="d", value="{raw", type="choice"),
        mappings=(ExecutableMapping(number=0, inputs=(ExecutableInput(key="a", value="over"),)),),
    )  # fmt: skip

    assert run(f)[-1].result == {"a": "paid", "b": {"x": "paid!", "a": 1}, "c": "PAID", "d": "{raw"}
    assert run(f, mapping=0)[-1].result["a"] == "over"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ event.properties | json }}", '{"n":1,"l":["é\\"",null,2.5]}'),
        ("{{ event.properties.l | jsonify: 1 }}", '[\n "é\\"",\n null,\n 2.5\n]'),
        ("{{ event.event | inspect }}{{ event.event | raw }}", '"paid"paid'),
        ("[{{ event.missing | json }}]{{ nil | json }}", "[]null"),
        ("{{ 'a,b' | split: ',' | json }}{{ (1..2) | json }}", '["a","b"][1,2]'),
    ],
)
def test_liquid_writes_json(template, expected):
    values = {"event": {"event": "paid", "properties": {"n": 1.0, "l": ['é"', None, 2.5]}}}

    assert render_liquid(template, values) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ 2.5 | round }} {{ 0.5 | round }} {{ -2.5 | round }} {{ 2.4 | round }}", "3 1 -2 2"),
        ("{{ 1.25 | round: 1 }} {{ 1234.5 | round: -2 }} {{ 1.25 | round: 400 }}", "1.3 1200 1.25"),
        ("{{ '2.5' | round }} {{ 'x' | round }} {{ 2.5 | round: nothing }}", "3 0 3"),
        ("{{ huge | round: 15 }}", "1e+300"),
        ("{{ price }} {{ 3.0 | times: 2 }} {{ 0.1 | times: 3.0 }}", "10 6 0.3"),
        ("{{ object }}", '{"a":[1,null]}'),
        ("{% echo object %}{% liquid echo list %}{% echo price %}", '{"a":[1,null]}1b2.510'),
        ("{{ list }}|{{ list | join: ',' }}", "1b2.5|1,b,,2.5"),
        ("{% for item in list %}<{{ item }}>{% endfor %}", "<1><b><><2.5>"),
        ("{{ (1..3) }} {{ true }} {{ nothing }}", "1..3 true "),
    ],
)
def test_liquid_prints_values_as_json_and_numbers_as_people_write_them(template, expected):
    values = {"price": 10.0, "huge": 1e300, "object": {"a": [1, None]}, "list": [1, "b", None, 2.5]}

    assert render_liquid(template, values) == expected


def test_liquid_failures_name_their_place():
    with pytest.raises(EvaluationFailed, match=r"^Liquid: .*nofilter.* \(line 2, column 12\)$"):
        render_liquid("a\n{{ event | nofilter }}", {"event": {}})


@pytest.mark.parametrize(
    "item",
    [
        ExecutableInput(key="a", value="{event.event.x()}"),
        ExecutableInput(key="a", value="{{ event | nofilter }}", templating="liquid"),
        ExecutableInput(key="a", value="{% for i in (1..999999999) %}x{% endfor %}",
                      templating="liquid"),
    ],
)  # fmt: skip
def test_inputs_that_cannot_be_built_fail_the_run(item):
    step = run(function("return 1", item))[-1]

    assert (step.outcome, step.error_class) == ("failed", "inputs")
    assert "u1" in step.logs[-1].message


def test_fetch_arguments_are_normalised():
    code = "fetch('https://a', {'headers': {'X': 'y', 'N': 1}, 'body': {'a': 1}})"
    assert run(function(code), [{"status": 200}])[0].call.request == {
        "url": "https://a",
        "method": "POST",
        "headers": {"X": "y"},
        "body": '{"a":1}',
        "aws_sigv4": None,
    }
    bare = run(function("fetch('https://a', {'method': 'get', 'body': 'x'})"), [{"status": 200}])
    assert bare[0].call.request == {
        "url": "https://a",
        "method": "GET",
        "headers": {"Content-Type": "application/json"},
        "body": None,
        "aws_sigv4": None,
    }


def test_fetching_our_own_capture_routes_counts_as_a_capture():
    code = "fetch('http://host:80/batch/', {'body': {'batch': [{'event': 'a'}]}})"
    project = {"url": "http://host/project/1"}

    def first(count):
        event = {**EVENT, "properties": {"$hog_function_execution_count": count}}
        journal = new_journal(datetime(2026, 1, 5, tzinfo=UTC), 7)
        run_globals = {"event": event, "project": project}
        return run_step(StepRequest(function=function(code), globals=run_globals, journal=journal))

    assert first(3).call.request["body"] == (
        '{"batch":[{"event":"a","properties":{"$hog_function_execution_count":4}}]}'
    )
    assert (first(10).outcome, "refused" in first(10).error) == ("failed", True)


@pytest.mark.parametrize(
    ("code", "outcome", "error_class"),
    [
        ("event = 'paid'", "finished", None),
        ("event = 'other'", "finished", None),
        ("jsonParse('{') = 1", "failed", "filter"),
    ],
)
def test_a_redrive_may_begin_with_the_filter(code, outcome, error_class):
    from hoglet.functions.compile.hog import template_tree

    condition = msgspec.to_builtins(template_tree("{" + code + "}"))
    f = function("return 5", filter=condition, version=hash(code))
    journal = new_journal(datetime(2026, 1, 5, tzinfo=UTC), 7)
    step = run_step(
        StepRequest(function=f, globals={"event": EVENT}, journal=journal, from_filter=True)
    )

    assert (step.outcome, step.error_class) == (outcome, error_class)
    assert step.result == (5 if "paid" in code else None)
    assert "u1" in step.logs[-1].message or "U" in step.logs[-1].message


def test_a_redrive_from_the_filter_runs_the_mappings_that_match():
    from hoglet.functions.compile.hog import template_tree

    def condition(code):
        return msgspec.to_builtins(template_tree("{" + code + "}"))

    mappings = tuple(
        ExecutableMapping(
            number=number, filter=condition(code), inputs=(ExecutableInput(key="a", value=code),)
        )
        for number, code in enumerate(("event = 'no'", "event = 'paid'", "true"))
    )
    f = function("return inputs.a", filter=condition("true"), mappings=mappings, version=77)
    journal = new_journal(datetime(2026, 1, 5, tzinfo=UTC), 7)
    step = run_step(
        StepRequest(function=f, globals={"event": EVENT}, journal=journal, from_filter=True)
    )

    assert (step.mappings, step.result) == ([1, 2], "event = 'paid'")
