"""Every template against its recorded cases (``cases.yaml`` in its folder).

A case: ``inputs`` (schema defaults fill the rest), ``globals`` laid over a page view of Ada,
``answers`` to the host calls in order (200 when left out), and what is expected: ``calls`` (a
count, or ``[name, request]`` with ``body_json`` for a JSON body), ``captures``, ``error`` (a part
of it), ``logs`` (parts, in order), ``result``, ``properties`` (of the event), ``dropped``.
"""

import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import msgspec
import pytest
import yaml

from hoglet.functions.compile import Draft, compile_draft
from hoglet.functions.execution import StepRequest, new_journal, resume, run_step
from hoglet.functions.inputs.schema import read_schema
from hoglet.functions.inputs.secrets import split_secrets
from hoglet.functions.integrations.resolving import with_integrations
from hoglet.functions.loading import runnable_of_values
from hoglet.functions.matching import Conditions
from hoglet.functions.running.facilities import Facilities
from hoglet.functions.saving import NEW
from hoglet.functions.templates.registry import PREFIX, Templates
from hoglet.functions.transforming import transform
from support.places import write_places

TEMPLATES = Templates()
FOLDER = files("hoglet.functions.templates")
EVENT: dict[str, Any] = {
    "uuid": "0198c2a0-0000-7000-8000-000000000001",
    "event": "$pageview",
    "distinct_id": "ada",
    "properties": {"plan": "pro"},
    "elements_chain": "",
    "timestamp": "2026-01-05T12:00:00.000000Z",
    "url": "https://hoglet.example/project/1/events/x",
}
PERSON: dict[str, Any] = {
    "id": "0198c2a0-0000-7000-8000-00000000000a",
    "name": "ada@example.com",
    "url": "https://hoglet.example/project/1/person/ada",
    "properties": {"email": "ada@example.com"},
    "distinct_id": "ada",
}
INTEGRATION = {"access_token": "hoglet-integration-" + "0" * 32}
PROJECT = {"id": 1, "name": "Shop", "url": "https://hoglet.example/project/1"}


def cases():
    for template in TEMPLATES.all.values():
        path = FOLDER / template.id.removeprefix(PREFIX) / "cases.yaml"
        for case in yaml.safe_load(path.read_text()) if path.is_file() else []:
            yield pytest.param(template, case, id=f"{template.id}: {case['name']}")


def function_of(template, inputs):
    schema = read_schema(template.inputs_schema)
    given = {item["key"]: item["default"] for item in schema if item.get("default") is not None}
    values = {key: {"value": value} for key, value in {**given, **inputs}.items()}
    filters = template.filters or {"source": "events"}
    draft = Draft(
        type=template.type,
        hog=template.code,
        inputs_schema=schema,
        inputs=values,
        filters=filters if template.type != "transformation" else {"source": "events"},
    )
    compiled = compile_draft(draft)
    plain, secrets = split_secrets(schema, compiled.inputs)
    columns = {
        **NEW,
        "type": template.type,
        "hog": template.code,
        "inputs_schema": schema,
        "inputs": plain,
        "secrets": secrets,
        "mapping_secrets": {},
        "matcher": msgspec.to_builtins(compiled.matcher),
    }
    function = runnable_of_values(columns, function_id="f", project_id=1)
    return with_integrations(function, {1: INTEGRATION})


@pytest.mark.parametrize(("template", "case"), list(cases()))
def test_a_template_does_what_its_case_says(template, case, tmp_path):
    event = {**EVENT, **case.get("globals", {}).get("event", {})}
    function = function_of(template, case.get("inputs", {}))
    if "geoip" in case:
        database = write_places(
            tmp_path / "p.mmdb", {f"{event['properties']['$ip']}/32": case["geoip"]}
        )
        facilities = Facilities(geoip_database=str(database))
        function = msgspec.structs.replace(function, facilities=facilities)
    if template.type == "transformation":
        check_transformation(function, event, case)
    else:
        check_run(function, event, case)


def check_transformation(function, event, case):
    result = transform(
        function,
        event,
        PROJECT,
        now=event["timestamp"],
        conditions=Conditions(),
    )

    assert result.error is None
    assert (result.event is None) == case.get("dropped", False)
    if "properties" in case:
        assert result.event["properties"] == case["properties"]


def check_run(function, event, case):
    run = {"project": PROJECT, "event": event, "person": PERSON, "groups": {}}
    run |= {"source": {"name": "s", "url": "https://hoglet.example/source"}}
    run |= {"request": case["request"]} if "request" in case else {}
    answers = iter(case.get("answers", []))
    calls, logs, captures = [], [], []
    journal = new_journal(datetime(2026, 1, 5, tzinfo=UTC), 1)
    while True:
        step = run_step(StepRequest(function=function, globals=run, journal=journal))
        logs += [line.message for line in step.logs]
        captures += step.captures
        if step.outcome != "call":
            break
        calls.append([step.call.name, step.call.request])
        journal = resume(step, next(answers, {"status": 200, "body": {"ok": True}}))

    if isinstance(case.get("calls"), int):
        assert len(calls) == case["calls"]
    else:
        check_calls(calls, case.get("calls", []), event)
    if "error" in case:
        assert step.outcome == "failed"
        assert case["error"] in step.error
    else:
        assert step.error is None
    assert captures == case.get("captures", [])
    if "result" in case:
        assert step.result == case["result"]
    for part, message in zip(case.get("logs", []), logs, strict=False):
        assert part in message


def check_calls(calls, expected, event):
    assert [name for name, _ in calls] == [name for name, _ in expected]
    for (_, request), (_, wanted) in zip(calls, expected, strict=True):
        sent = dict(request)
        if "body_json" in wanted:
            sent["body_json"] = json.loads(request["body"])
            text = json.dumps(wanted["body_json"])
            text = text.replace('"$EVENT"', json.dumps(event))
            body = json.loads(text.replace('"$PERSON"', json.dumps(PERSON)))
            assert sent["body_json"] == body
        others = {key: value for key, value in wanted.items() if key != "body_json"}
        assert {key: sent[key] for key in others} == others


def test_the_table_of_the_specification_is_complete():
    assert len(TEMPLATES.all) == 26
    hidden = {one.id for one in TEMPLATES.all.values() if one.status == "hidden"}
    assert hidden == {"template-posthog-capture", "template-pii-hashing"}
    assert TEMPLATES.find("template-Intercom") is TEMPLATES.find("template-intercom")


@pytest.mark.parametrize("template", list(TEMPLATES.all.values()), ids=lambda one: one.id)
def test_code_and_schema_of_a_template_are_valid(template):
    if template.code_language == "hog":
        assert function_of(template, {}) if not _needs_inputs(template) else True
    assert read_schema(template.inputs_schema) == template.inputs_schema


def _needs_inputs(template):
    return any(i["required"] and i.get("default") is None for i in template.inputs_schema)
