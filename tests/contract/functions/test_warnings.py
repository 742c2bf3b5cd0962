"""Warnings of a save: code that compiles but looks wrong."""

import pytest

SCHEMA = [{"type": "string", "key": "url"}, {"type": "string", "key": "token", "secret": True}]


@pytest.mark.parametrize(
    ("hog", "message", "hint", "position"),
    [
        ("retrun 1", "Unknown global `retrun`", "Did you mean `return`?", (1, 1)),
        (
            "print(event.propertis.a)",
            "Unknown field `propertis` of `event`",
            "Did you mean `properties`?",
            (1, 7),
        ),
        (
            "print(person['nmae'])",
            "Unknown field `nmae` of `person`",
            "Did you mean `name`?",
            (1, 7),
        ),
        (
            "let a := 1;\n fecth(inputs.url)",
            "Unknown function `fecth`",
            "Did you mean `fetch`?",
            (2, 2),
        ),
        ("print(evnt.uuid)", "Unknown global `evnt`", "Did you mean `event`?", (1, 7)),
        ("fetch(inputs.urll)", "Unknown input `urll`", "Did you mean `url`?", (1, 7)),
        ("fetch(inputs['urll'])", "Unknown input `urll`", "Did you mean `url`?", (1, 7)),
        ("fetch(inputs?.urll)", "Unknown input `urll`", "Did you mean `url`?", (1, 7)),
        ("let f := () -> inputs.none", "Unknown input `none`", None, (1, 16)),
        ("print(record.body)", "Unknown global `record`", None, (1, 7)),
        ("print(request.body)", "Unknown global `request`", None, (1, 7)),
    ],
)
async def test_a_save_warns(hoglet, hog, message, hint, position):
    function = await hoglet.create(hog=hog, inputs_schema=SCHEMA)

    (warning,) = function["warnings"]
    assert (warning["message"], warning["hint"]) == (message, hint)
    assert (warning["line"], warning["column"], warning["attr"]) == (*position, "hog")


@pytest.mark.parametrize(
    ("kind", "hog"),
    [
        ("destination", "fetch(inputs.url, {'headers': {'a': inputs.token}})"),
        ("destination", "postHogCapture({'event': 'a'}); print(variables, groups, person, source)"),
        ("destination", "let inputs := {'urll': 1}; print(inputs.urll)"),
        ("destination", "let event := {'propertis': 1}; print(event.propertis, person.plan)"),
        ("destination", "print(event.url, event.captured_at, project.url, source.name)"),
        ("destination", "print(arrayMap(person -> person.nmae, []), event.properties.propertis)"),
        ("destination", "print(geoipLookup('1.1.1.1'), isKnownBotIp('x'), project.id)"),
        ("source_webhook", "print(request.body); return {'httpResponse': {'status': 200}}"),
        ("transformation", "print(cleanNullValues(event)); return event"),
        ("transformation_log", "return record"),
        ("internal_destination", "fetch(inputs.url)"),
    ],
)
async def test_sound_code_has_no_warnings(hoglet, kind, hog):
    function = await hoglet.create(type=kind, hog=hog, inputs_schema=SCHEMA)

    assert "warnings" not in function


@pytest.mark.parametrize("name", ["person.id", "fetch('https://a')", "request.body"])
async def test_what_transformations_lack_is_told(hoglet, name):
    function = await hoglet.create(type="transformation", hog=f"print({name}); return event")

    assert name.partition(".")[0].partition("(")[0] in function["warnings"][0]["message"]


async def test_warnings_follow_the_function_through_updates(hoglet):
    function = await hoglet.create(hog="fetch(inputs.url)", inputs_schema=SCHEMA)
    renamed = await hoglet.patch(function["id"], inputs_schema=[{"type": "string", "key": "uri"}])
    mended = await hoglet.patch(function["id"], hog="fetch(inputs.uri)")
    read = await hoglet.call("GET", f"/{function['id']}")

    assert renamed.json()["warnings"][0]["message"] == "Unknown input `url`"
    assert "warnings" not in mended.json()
    assert "warnings" not in read.json()


async def test_inputs_of_mappings_are_known(hoglet):
    schema = [{"type": "string", "key": "own"}]
    mappings = [{"inputs_schema": schema, "inputs": {"own": {"value": "x"}}}]
    function = await hoglet.create(
        hog="print(inputs.url, inputs.own)", inputs_schema=SCHEMA, mappings=mappings
    )
    patched = (await hoglet.patch(function["id"], name="other")).json()

    assert "warnings" not in function
    assert "warnings" not in patched


PARTS = [
    ({"inputs": {"url": {"value": "https://a/{evnt.event}"}}}, "inputs__url", "event"),
    ({"inputs": {"url": {"value": "{lowr(event.event)}"}}}, "inputs__url", "lower"),
    ({"inputs": {"url": {"value": "{event.propertis.a}"}}}, "inputs__url", "properties"),
    ({"inputs": {"url": {"value": "{inputs.tokn}"}}}, "inputs__url", "token"),
    ({"inputs": {"map": {"value": {"a": {"b": ["{persn.id}"]}}}}}, "inputs__map", "person"),
    ({"filters": {"properties": [{"type": "hogql", "key": "lowr(event) = 'a'"}]}},
     "filters", "lower"),
    ({"filters": {"events": [{"id": "a", "type": "events", "properties": [
        {"type": "hogql", "key": "person.propertis.a = 1"}]}]}}, "filters", "properties"),
    ({"masking": {"ttl": 60, "hash": "{persn.id}"}}, "masking__hash", "person"),
    ({"mappings": [{"inputs_schema": [{"type": "string", "key": "own"}],
                    "inputs": {"own": {"value": "{evnt.uuid}"}}}]},
     "mappings__0__inputs__own", "event"),
    ({"mappings": [{}, {"filters": {"properties": [{"type": "hogql", "key": "uper(event)"}]}}]},
     "mappings__1__filters", "upper"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("hi\n {{ person.name", "does not parse: expected '}}', found end of file", (2, 2)),
        ("{% nope %}", "does not parse: unexpected tag 'nope'", (1, 4)),
        ("{% if a %}b", "does not parse: expected tag endif", (1, 1)),
        ("{{ a }}\n{{ a | upcase | uper }}", "Unknown Liquid filter `uper`", (2, 17)),
        ("{{ a | upcase }} {% if b %}c{% endif %}", None, None),
        ("plain", None, None),
    ],
)
async def test_liquid_that_always_fails_is_told(hoglet, text, message, position):
    schema = [{"type": "json", "key": "body", "templating": "liquid"}]
    inputs = {"body": {"value": {"a": [text]}}}
    function = await hoglet.create(inputs_schema=schema, inputs=inputs)

    warnings = function.get("warnings", [])
    assert [(each["line"], each["column"]) for each in warnings] == [position] * bool(message)
    for each in warnings:
        assert message in each["message"]
        assert each["attr"] == "inputs__body"


async def test_all_parts_of_a_save_are_checked(hoglet):
    schema = [*SCHEMA, {"type": "json", "key": "map"}]
    for fields, attr, meant in PARTS:
        function = await hoglet.create(hog="return 1", inputs_schema=schema, **fields)

        (warning,) = function["warnings"]
        assert (warning["attr"], warning["hint"]) == (attr, f"Did you mean `{meant}`?"), fields


async def test_sound_parts_have_no_warnings(hoglet):
    inputs = {
        "url": {"value": "{inputs.token} {event.properties.propertis} {groups.x} {variables.y}"},
        "token": {"value": "{evnt.secret}"},
    }
    function = await hoglet.create(
        hog="return 1",
        inputs_schema=SCHEMA,
        inputs=inputs,
        masking={"ttl": 60, "hash": "{person.id}{event.event}"},
        filters={"properties": [{"type": "hogql", "key": "lower(properties.lowr) = person.id"}]},
    )

    assert "warnings" not in function


PLAN = {"key": "plan", "value": "pro", "type": "event"}
COUNTS_AS_MET = "It counts as met; alone it matches nothing."
MISTAKEN_FILTERS = [
    ({"properties": [PLAN, {"key": "plan", "value": "pro"}]},
     ("Property filter without `type`", COUNTS_AS_MET, "filters__properties__1")),
    ({"properties": [{"value": "pro", "type": "event"}]},
     ("Property filter without `key`", COUNTS_AS_MET, "filters__properties__0")),
    ({"events": [{"id": "a", "type": "events", "properties": [{"key": "b", "type": "person"}]}]},
     ("Property filter without `value`", COUNTS_AS_MET, "filters__events__0__properties__0")),
    ({"properties": [{"type": "OR", "values": [PLAN, {"key": "b", "type": "event"}]}]},
     ("Property filter without `value`", COUNTS_AS_MET, "filters__properties__0__values__1")),
    ({"events": [{"id": "a", "type": "events", "properties": {
        "type": "AND", "values": [{"key": "b", "type": "event", "value": None}]}}]},
     ("Property filter without `value`", COUNTS_AS_MET,
      "filters__events__0__properties__values__0")),
    ({"propertys": [PLAN]}, ("Unknown key `propertys`", "Did you mean `properties`?", "filters")),
    ({"event": [{"id": "a"}]}, ("Unknown key `event`", "Did you mean `events`?", "filters")),
]  # fmt: skip


@pytest.mark.parametrize(("filters", "expected"), MISTAKEN_FILTERS)
async def test_filters_that_restrict_nothing_are_reported(hoglet, filters, expected):
    function = await hoglet.create(hog="return 1", filters=filters)

    (warning,) = function["warnings"]
    assert (warning["message"], warning["hint"], warning["attr"]) == expected


async def test_complete_and_empty_filters_are_not_reported(hoglet):
    properties = [
        PLAN,
        {},
        {"type": "empty"},
        {"key": "plan", "type": "person", "operator": "is_set"},
        {"key": "plan", "type": "event", "operator": "is_not_set", "value": None},
        {"key": "event = 'a'", "type": "hogql"},
        {"key": "plan", "type": "event", "value": 0},
    ]
    function = await hoglet.create(
        hog="return 1",
        filters={
            "properties": properties,
            "events": [{"id": None, "name": "All", "type": "events", "order": 0}],
            "filter_test_accounts": True,
            "binary": "x",
        },
    )

    assert "warnings" not in function


async def test_inputs_are_not_checked_without_a_schema(hoglet):
    assert "warnings" not in await hoglet.create(hog="fetch(inputs.url);", inputs={})


LOG = {"type": "transformation_log", "hog": "return record"}


@pytest.mark.parametrize(
    ("fields", "attr"),
    [
        ({"filters": {"events": [{"id": "a", "type": "events"}]}}, "filters"),
        ({"filters": {"actions": [{"id": "1", "type": "actions"}]}}, "filters"),
        ({"filters": {"properties": [{"key": "a", "type": "event", "value": "b"}]}}, "filters"),
        ({"filters": {"filter_test_accounts": True}}, "filters"),
        ({"hog": "fetch('https://a'); return record"}, "hog"),
        ({"hog": "if (record.x) { fetch('https://a') } return record"}, "hog"),
        ({"hog": "let f := fetch; return record"}, "hog"),
        ({"hog": "postHogCapture({'event': 'a'}); return record"}, "hog"),
        ({"hog": "sendEmail({}); return record"}, "hog"),
        ({"hog": "return event"}, "hog"),
        ({"hog": "print(person.properties.email); return record"}, "hog"),
        ({"hog": "return arrayMap(x -> event.uuid, [1])"}, "hog"),
        ({"hog": "fn f() { return groups } return record"}, "hog"),
        ({"hog": "print(source.url, request.body); return record"}, "hog"),
        ({"hog": "print(event); let event := 1; return record"}, "hog"),
        ({"hog": "let f := [fetch]; f[1]('https://a'); return record"}, "hog"),
        ({"hog": "return f'{event.uuid}'"}, "hog"),
        ({"inputs": {"a": {"value": "{event.uuid}"}}}, "inputs__a"),
        ({"inputs": {"a": {"value": "{fetch('https://a')}"}}}, "inputs__a"),
        ({"inputs": {"a": {"value": "{arrayMap(x -> postHogCapture(x), [1])}"}}}, "inputs__a"),
        ({"inputs": {"a": {"value": "x {person.id}"}}}, "inputs__a"),
    ],
)
@pytest.mark.parametrize("enabled", [True, False])
async def test_log_transformations_have_no_events(hoglet, fields, attr, enabled):
    schema = [{"type": "string", "key": "a"}]
    body = {"name": "l", "inputs_schema": schema, "enabled": enabled, **LOG, **fields}
    refused = await hoglet.call("POST", json=body)
    function = await hoglet.create(**LOG, inputs_schema=schema)
    patched = await hoglet.patch(function["id"], **fields)

    for answer in (refused, patched):
        assert answer.status_code == 400, answer.text
        problem = answer.json()
        assert (problem["type"], problem["code"]) == ("validation_error", "invalid_input")
        assert problem["attr"] == attr


@pytest.mark.parametrize(
    "hog",
    [
        "return record",
        "let event := record; event.seen := true; return event",
        "let r := record; r.body := upper(r.body); return r",
        "return null",
        "let x := {'event': 1}; return record",
        "fun fetch(x) { return x } print(fetch(1)); return record",
        "return arrayMap(event -> event.x, [record])",
    ],
)
async def test_sound_log_transformations_are_saved(hoglet, hog):
    schema = [{"type": "string", "key": "a"}]
    inputs = {"a": {"value": "{record.body} {project.id} {upper('a')}"}}
    function = await hoglet.create(
        type="transformation_log", hog=hog, inputs_schema=schema, inputs=inputs, filters={}
    )

    assert function["inputs"]["a"]["value"] == inputs["a"]["value"]


@pytest.mark.parametrize(
    ("hog", "result", "status"),
    [
        ("let r := record; r.body := upper(r.body); return r", {"body": "SAID", "n": 1}, "success"),
        ("return {'body': inputs.a}", {"body": "said!"}, "success"),
        ("return null", None, "success"),
        ("throw Error('x')", {"body": "said", "n": 1}, "error"),
        ("return 5", {"body": "said", "n": 1}, "success"),
    ],
)
async def test_a_test_run_of_a_log_transformation_gives_the_record(hoglet, hog, result, status):
    configuration = {
        "type": "transformation_log",
        "hog": hog,
        "inputs_schema": [{"type": "string", "key": "a"}],
        "inputs": {"a": {"value": "{record.body}!"}},
    }
    event = {"uuid": "0198c2a0-0000-7000-8000-000000000001", "event": "e", "distinct_id": "a"}
    sent = {"event": event, "record": {"body": "said", "n": 1}}
    body = {"configuration": configuration, "globals": sent}
    done = (await hoglet.call("POST", "/new/invocations", json=body)).json()

    assert (done["result"], done["status"]) == (result, status)
