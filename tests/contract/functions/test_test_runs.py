"""Test runs: docs/spec/hog-functions.md#92-invocations-test-run."""

from typing import Any

import pytest

EVENT = {"uuid": "0198c2a0-0000-7000-8000-000000000001", "event": "$pageview", "distinct_id": "a"}
GLOBALS = {"event": {**EVENT, "properties": {"plan": "pro"}}}
FETCH = "let r := fetch(inputs.url, {'headers': {'X': inputs.token}, 'body': {'a': 1}}); print(r)"
SCHEMA = [
    {"type": "string", "key": "url", "required": True},
    {"type": "string", "key": "token", "secret": True},
]
INPUTS = {"url": {"value": "https://example.com/{event.event}"}, "token": {"value": "s3cret"}}


async def start_test_run(hoglet, id_, **body):
    return await hoglet.call("POST", f"/{id_}/invocations", json=body)


async def test_a_mocked_run_logs_its_calls(hoglet):
    function = await hoglet.create(hog=FETCH, inputs_schema=SCHEMA, inputs=INPUTS)
    response = await start_test_run(hoglet, function["id"], globals=GLOBALS)
    done = response.json()

    assert response.status_code == 200
    assert (done["result"], done["status"], done["errors"]) == (None, "success", [])
    assert [log["level"] for log in done["logs"]] == ["info", "info", "info", "debug"]
    assert "fetch" in done["logs"][0]["message"]
    assert done["logs"][1]["message"] == (
        "fetch('https://example.com/$pageview', {\n"
        '  "headers": {\n    "X": "***REDACTED***"\n  },\n  "body": {\n    "a": 1\n  }\n})'
    )
    assert done["logs"][2]["message"] == '{"status":200,"body":{}}'
    times = [log["timestamp"] for log in done["logs"]]
    assert sorted(set(times)) == times
    assert "s3cret" not in response.text


async def test_events_may_come_as_rows(hoglet):
    function = await hoglet.create(hog="print(event.properties.a, person.name)")
    row = {**EVENT, "properties": '{"a": 5}', "person_id": "p", "timestamp": "2026-01-01 00:00:00"}
    row["person_properties"] = '{"email": "x@y.z"}'
    done = (await start_test_run(hoglet, function["id"], clickhouse_event=row)).json()

    assert done["logs"][0]["message"] == "5, x@y.z"


UNUSABLE: list[tuple[dict[str, Any], str]] = [
    ({"clickhouse_event": {**EVENT, "properties": "{a: 1}"}}, "clickhouse_event__properties"),
    ({"clickhouse_event": {**EVENT, "properties": "[1]"}}, "clickhouse_event__properties"),
    (
        {"clickhouse_event": {**EVENT, "person_id": "p", "person_properties": "nan"}},
        "clickhouse_event__person_properties",
    ),
    ({"clickhouse_event": [EVENT]}, "clickhouse_event"),
    ({"globals": {"event": {**EVENT, "properties": ["a"]}}}, "globals__event__properties"),
]


@pytest.mark.parametrize(("body", "attr"), UNUSABLE)
async def test_what_is_no_object_is_refused(hoglet, body: dict[str, Any], attr: str):
    """An empty object in its place would be a run with other properties than those given."""
    function = await hoglet.create(hog="print(event.properties.a)")
    response = await start_test_run(hoglet, function["id"], **{"globals": GLOBALS, **body})

    assert response.status_code == 400
    assert response.json()["attr"] == attr
    assert response.json()["status"] == "error"


async def test_a_filter_that_does_not_match_skips(hoglet):
    filters = {"events": [{"id": "other", "type": "events"}]}
    function = await hoglet.create(filters=filters)
    done = (await start_test_run(hoglet, function["id"], globals=GLOBALS)).json()
    own = (
        await start_test_run(hoglet, function["id"], globals=GLOBALS, configuration={"filters": {}})
    ).json()

    assert done["status"] == "skipped"
    assert own["status"] == "success"


async def test_mappings_run_one_by_one(hoglet):
    page = {"events": [{"id": "$pageview", "type": "events"}]}
    other = {"events": [{"id": "other", "type": "events"}]}
    schema = [{"type": "string", "key": "x"}]
    mappings = [
        {"name": "one", "filters": page, "inputs_schema": schema, "inputs": {"x": {"value": "1"}}},
        {"name": "two", "filters": other},
        {"name": "three", "inputs_schema": schema, "inputs": {"x": {"value": "3"}}},
    ]
    function = await hoglet.create(hog="print(inputs.x)", mappings=mappings)
    done = (await start_test_run(hoglet, function["id"], globals=GLOBALS)).json()

    messages = [log["message"] for log in done["logs"] if log["level"] == "info"]
    assert "two" in messages[0]
    assert messages[1:] == ["1", "3"]


async def test_transformations_answer_the_event(hoglet):
    function = await hoglet.create(
        type="transformation", hog="let e := event; e.properties.x := 1; return e"
    )
    done = (await start_test_run(hoglet, function["id"], globals=GLOBALS)).json()
    dropped = await start_test_run(
        hoglet, function["id"], globals=GLOBALS, configuration={"hog": "return null"}
    )

    assert done["result"]["properties"] == {"plan": "pro", "x": 1}
    assert (dropped.json()["result"], dropped.json()["status"]) == (None, "success")


async def test_a_run_that_fails(hoglet):
    function = await hoglet.create(hog="throw Error('no')")
    done = (await start_test_run(hoglet, function["id"], globals=GLOBALS)).json()

    assert done["status"] == "error"
    assert done["errors"] == ["no"]
    assert done["logs"][-1]["level"] == "error"


async def test_new_functions_are_run_from_their_configuration(hoglet, attr_of):
    configuration = {"type": "destination", "hog": "print('hi')"}
    done = await start_test_run(hoglet, "new", globals=GLOBALS, configuration=configuration)
    flat = await start_test_run(hoglet, "new", globals=GLOBALS, **configuration)
    unknown = await start_test_run(hoglet, "nothing", globals=GLOBALS, **configuration)
    nothing = await start_test_run(hoglet, "new", globals=GLOBALS)

    for response in (done, flat, unknown):
        assert response.json()["logs"][0]["message"] == "hi"
    assert attr_of(nothing) == (400, "required", "configuration")


async def test_a_bad_configuration_is_named_in_both_shapes(hoglet, attr_of):
    function = await hoglet.create(inputs_schema=SCHEMA, inputs=INPUTS)
    refused = await start_test_run(
        hoglet, function["id"], globals=GLOBALS, configuration={"inputs": {}}
    )

    assert attr_of(refused) == (400, "invalid_input", "configuration__inputs__url")
    assert refused.json()["configuration"] == {"inputs": {"url": ["This field is required."]}}


@pytest.mark.parametrize(
    "body", [{"globals": {}}, {"globals": GLOBALS, "invocation_id": "x"}, {"globals": None}]
)
async def test_refusals_carry_a_status(hoglet, body):
    function = await hoglet.create()
    refused = await start_test_run(hoglet, function["id"], **body)

    assert refused.status_code == 400
    assert refused.json()["status"] == "error"


async def test_some_types_cannot_be_tested(hoglet):
    function = await hoglet.create(type="source_webhook")
    refused = await start_test_run(hoglet, function["id"], globals=GLOBALS)

    assert (refused.status_code, refused.json()["status"]) == (400, "error")


@pytest.mark.parametrize(
    ("thrown", "message"),
    [
        ("throw Error('no')", "no"),
        ("throw Error('no', {'a': 1})", "no"),
        ("throw Error('it\\'s\\nno')", "it's\nno"),
        ("throw Error('')", "An error occurred"),
        ("throw RetryError('no')", "RetryError: no"),
        ("throw NotImplementedError('')", "NotImplementedError: An error occurred"),
        ("throw Error(concat('a', 1))", "a1"),
    ],
)
async def test_errors_are_the_message_that_was_thrown(hoglet, thrown, message):
    body = {"configuration": {"hog": thrown}, "globals": GLOBALS}
    done = (await start_test_run(hoglet, "new", **body)).json()

    assert done["errors"] == [message]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:9/", "not allowed"),
        ("http://no-such-host.invalid/", "cannot be resolved"),
        ("ftp://a/", "http:// and https://"),
    ],
)
async def test_a_request_without_an_answer_has_no_status(hoglet, url, reason):
    body = {"configuration": {"hog": f"fetch('{url}')"}, "globals": GLOBALS}
    done = (await start_test_run(hoglet, "new", mock_async_functions=False, **body)).json()

    assert done["status"] == "error"
    assert reason in done["errors"][0]
    assert "status 500" not in done["errors"][0]


@pytest.mark.parametrize(
    "hog",
    [
        "fetch('http://127.0.0.1/', {'headers': {f'X\\n{inputs.key}': '1'}})",
        "fetch(f'http://{inputs.key}.invalid/')",
        "fetch('http://127.0.0.1/', {'method': inputs.key})",
    ],
)
async def test_the_problem_of_a_request_does_not_show_secrets(hoglet, hog):
    schema = [{"key": "key", "type": "string", "secret": True}]
    configuration = {
        "hog": hog,
        "mappings": [{"inputs_schema": schema, "inputs": {"key": {"value": "Sesame7key"}}}],
    }
    body = {"configuration": configuration, "globals": GLOBALS}
    done = await start_test_run(hoglet, "new", mock_async_functions=False, **body)

    assert done.json()["status"] == "error"
    assert "sesame" not in done.text.lower()
    assert "***REDACTED***" in done.text


PLAN = {"key": "plan", "type": "event", "operator": "exact", "value": "free"}
SKIPPED = [
    ({"events": [{"id": "other", "type": "events"}]}, "event = 'other'", "event is '$pageview'"),
    ({"properties": [PLAN]}, "properties.plan = 'free'", "properties.plan is 'pro'"),
    (
        {"events": [{"id": "$pageview", "type": "events"}], "properties": [PLAN]},
        "properties.plan = 'free'",
        "properties.plan is 'pro'",
    ),
    (
        {"events": [{"id": "a", "type": "events"}, {"id": "b", "type": "events"}]},
        "none of 2 alternatives holds",
        "event = 'b'",
    ),
    (
        {"properties": [{**PLAN, "type": "person", "key": "email", "operator": "icontains"}]},
        "person.properties.email",
        "person.properties.email is null",
    ),
    ({"properties": [{**PLAN, "value": ["a", "b"]}]}, "properties.plan in ('a', 'b')", "'pro'"),
    ({"properties": [{"key": "x", "type": "event"}]}, "does not hold", ""),
    (
        {"properties": [{"key": "event like 'x' or 1 = 2", "type": "hogql"}]},
        "none of 2 alternatives holds",
        "1 = 2",
    ),
]


@pytest.mark.parametrize("kind", ["destination", "transformation"])
@pytest.mark.parametrize(("filters", "condition", "actual"), SKIPPED)
async def test_a_skipped_run_says_why(hoglet, kind, filters, condition, actual):
    hog = "return event" if kind == "transformation" else "return 1"
    body = {"configuration": {"type": kind, "hog": hog, "filters": filters}, "globals": GLOBALS}
    done = (await start_test_run(hoglet, "new", **body)).json()

    assert done["status"] == "skipped"
    (line,) = [line["message"] for line in done["logs"] if "Skipped" in line["message"]]
    assert condition in line
    assert actual in line


async def test_mappings_that_do_not_match_say_why(hoglet):
    other = {"events": [{"id": "other", "type": "events"}]}
    mappings = [{"name": "two", "filters": other}, {"name": "off", "disabled": True}]
    body = {"configuration": {"hog": "return 1", "mappings": mappings}, "globals": GLOBALS}
    done = (await start_test_run(hoglet, "new", **body)).json()

    messages = [line["message"] for line in done["logs"]]
    assert done["status"] == "skipped"
    assert "The mapping two does not match the event: event = 'other' does not hold" in messages[0]
    assert messages[-1] == "Skipped: no enabled mapping matches the event"


async def test_a_filter_that_matches_says_nothing(hoglet):
    body = {"configuration": {"hog": "return 1", "filters": {}}, "globals": GLOBALS}
    done = (await start_test_run(hoglet, "new", **body)).json()

    assert not [line for line in done["logs"] if "Skipped" in line["message"]]


async def test_a_run_is_traced_when_asked_to(hoglet):
    hog = "let n := 1 + 1\nlet r := fetch(inputs.url, {'headers': {'X': inputs.token}})\nreturn n"
    function = await hoglet.create(hog=hog, inputs_schema=SCHEMA, inputs=INPUTS)
    plain = (await start_test_run(hoglet, function["id"], globals=GLOBALS)).json()
    response = await start_test_run(hoglet, function["id"], globals=GLOBALS, trace=True)
    steps = response.json()["trace"]

    assert "trace" not in plain
    assert [step["line"] for step in steps] == [1, 2, 3]
    assert steps[0] == {"line": 1, "values": {"n": "2"}, "calls": []}
    assert steps[1]["calls"][0].startswith("fetch(): ")
    assert "s3cret" not in response.text


async def test_secrets_are_redacted_in_traces(hoglet):
    hog = "let t := inputs.token\nreturn 1"
    function = await hoglet.create(hog=hog, inputs_schema=SCHEMA, inputs=INPUTS)
    response = await start_test_run(hoglet, function["id"], globals=GLOBALS, trace=True)

    assert response.json()["trace"][0]["values"] == {"t": "***REDACTED***"}
    assert "s3cret" not in response.text


async def test_transformations_are_traced(hoglet):
    hog = "let changed := event\nreturn changed"
    function = await hoglet.create(type="transformation", hog=hog)
    done = (await start_test_run(hoglet, function["id"], globals=GLOBALS, trace=True)).json()

    assert [step["line"] for step in done["trace"]] == [1, 2]
