"""Runs the recorded cases of every template (``cases.yaml`` in its folder).

Requests really leave, and arrive at a receiver that gives the recorded answers.

A case: ``inputs`` (schema defaults fill the rest but for those in ``without``), ``globals``
over a page view of Ada, ``answers`` to the host calls in order (200 when left out), and what is
expected: ``calls`` (a count, or ``[name, request]`` with ``body_json`` for a JSON body),
``captures``, ``error`` (a part of it), ``logs`` (parts, in order), ``result``, ``properties`` (of
the event), ``dropped``.
"""

import contextlib
import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
import pytest
import yaml

from hoglet.functions.compile.unit import CompileInput, compile_function_parts
from hoglet.functions.executable.loader import executable_from_values
from hoglet.functions.executable.matching import Conditions
from hoglet.functions.executable.transform import Transformation
from hoglet.functions.inputs.schema import read_schema
from hoglet.functions.inputs.secrets import split_secrets
from hoglet.functions.integrations.placeholders import fill
from hoglet.functions.integrations.resolving import with_integrations
from hoglet.functions.runtime.fetch import (
    FetchRequest,
    shape_response,
    with_delivery_headers,
)
from hoglet.functions.runtime.host_config import HostConfig
from hoglet.functions.runtime.step import (
    StepRequest,
    new_journal,
    resume,
    run_step,
)
from hoglet.functions.save.plan import NEW
from hoglet.functions.templates.registry import PREFIX, Templates
from hoglet.outbound.client import Outbound
from hoglet.outbound.port import OutboundRequest, OutboundResponse
from support.places import write_places
from support.recorder import Recorder

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
PLACEHOLDER = "hoglet-integration-" + "0" * 32
TOKEN = "xoxb-real"
INTEGRATION = {"access_token": PLACEHOLDER}
PROJECT = {"id": 1, "name": "Shop", "url": "https://hoglet.example/project/1"}


def cases():
    for template in TEMPLATES.all.values():
        path = FOLDER / template.id.removeprefix(PREFIX) / "cases.yaml"
        for case in yaml.safe_load(path.read_text()) if path.is_file() else []:
            yield pytest.param(template, case, id=f"{template.id}: {case['name']}")


def function_of(template, inputs, without=()):
    schema = read_schema(template.inputs_schema)
    given = {
        item["key"]: item["default"]
        for item in schema
        if item.get("default") is not None and item["key"] not in without
    }
    values = {key: {"value": value} for key, value in {**given, **inputs}.items()}
    filters = template.filters or {"source": "events"}
    draft = CompileInput(
        type=template.type,
        hog=template.code,
        inputs_schema=schema,
        inputs=values,
        filters=filters if template.type != "transformation" else {"source": "events"},
    )
    compiled = compile_function_parts(draft)
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
    function = executable_from_values(columns, function_id="f", project_id=1)
    return with_integrations(function, {1: INTEGRATION})


@pytest.mark.parametrize(("template", "case"), list(cases()))
async def test_a_template_does_what_its_case_says(template, case, tmp_path):
    event = {**EVENT, **case.get("globals", {}).get("event", {})}
    function = function_of(template, case.get("inputs", {}), case.get("without", ()))
    if "geoip" in case:
        database = write_places(
            tmp_path / "p.mmdb", {f"{event['properties']['$ip']}/32": case["geoip"]}
        )
        facilities = HostConfig(geoip_database=str(database))
        function = msgspec.structs.replace(function, facilities=facilities)
    if template.type == "transformation":
        check_transformation(function, event, case)
    else:
        await check_run(function, event, case)


def check_transformation(function, event, case):
    transformation = Transformation(function, PROJECT, Conditions())
    result = transformation.run(event, now=event["timestamp"])

    assert result.error is None
    assert (result.event is None) == case.get("dropped", False)
    if "properties" in case:
        assert result.event["properties"] == case["properties"]


async def check_run(function, event, case):
    run = {"project": PROJECT, "event": event, "person": PERSON, "groups": {}}
    run |= case.get("globals", {}) | {"event": event}
    run |= {"source": {"name": "s", "url": "https://hoglet.example/source"}}
    run |= {"request": case["request"]} if "request" in case else {}
    calls, logs, captures = [], [], []
    journal = new_journal(datetime(2026, 1, 5, tzinfo=UTC), 1)
    async with receiving(case.get("answers", [])) as service:
        while True:
            step = run_step(StepRequest(function=function, globals=run, journal=journal))
            logs += [line.message for line in step.logs]
            captures += step.captures
            if step.outcome != "call":
                break
            calls.append([step.call.name, step.call.request])
            journal = resume(step, await service.answer(step.call.request))

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
    assert TOKEN not in str(logs)


class Service:
    """Plays the service of a template: requests really leave, and arrive on this machine."""

    def __init__(self, recorder, outbound):
        self._recorder = recorder
        self._outbound = outbound

    async def answer(self, request):
        wanted = msgspec.convert(request, FetchRequest)
        sent = with_delivery_headers(wanted, invocation_id="d", attempt=1)
        address = urlsplit(sent.url)
        path = urlunsplit(("", "", address.path or "/", address.query, ""))
        outgoing = OutboundRequest(
            self._recorder.url + path,
            sent.method,
            dict(sent.headers),
            None if sent.body is None else sent.body.encode(),
        )
        result = await self._outbound.fetch(fill(outgoing, {PLACEHOLDER: TOKEN}))
        assert isinstance(result, OutboundResponse), result
        self._check_arrival(sent, path)
        return shape_response(result.status, result.body)

    def _check_arrival(self, sent, path):
        got = self._recorder.requests[-1]
        assert (got.method, got.path) == (sent.method, path)
        assert got.body.decode() == (sent.body or "")
        assert (got.headers["x-hoglet-delivery"], got.headers["x-hoglet-attempt"]) == ("d", "1")
        for name, value in sent.headers.items():
            if "authorization" in name.lower():
                assert PLACEHOLDER not in got.headers[name.lower()]
            else:
                assert got.headers[name.lower()] == value


@contextlib.asynccontextmanager
async def receiving(answers):
    recorder = Recorder(*((one["status"], one["body"]) for one in answers))
    try:
        async with Outbound(allow_hosts=["127.0.0.1"]) as outbound:
            yield Service(recorder, outbound)
    finally:
        recorder.close()


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


# docs/spec/hog-functions.md#11-templates: key, type, then r for required and s for secret.
TABLE = """
webhook D: url string r, method choice, body json, headers dictionary, debug boolean
slack D: slack_workspace integration r, channel integration_field r, icon_emoji string,
  username string, blocks json, text string, thread_ts string
discord D: webhookUrl string r, content string r
microsoft-teams D: webhookUrl string r, text string r
hubspot D: oauth integration r, email string r, properties dictionary r
customerio D: site_id string r, token string rs, host choice r, identifier_key choice r,
  identifier_value string r, action choice r, include_all_properties boolean r,
  enable_profile_merging boolean, attributes dictionary
mailchimp D: apiKey string rs, audienceId string r, dataCenterId string r, email string r,
  doubleOptIn boolean r, include_all_properties boolean r, properties dictionary
intercom D: access_token string rs, host choice, email string r
sendgrid D: api_key string rs, email string r, properties dictionary r
rudderstack D: host string r, token string rs, identifier string r
zapier D: hook string r, body json, debug boolean
make D: webhookUrl string r, body json r
posthog-capture D: event string r, distinct_id string r, properties dictionary
geoip T:
ip-anonymization T:
pii-hashing T: propertiesToHash string r, hashDistinctId boolean, salt string s
hash-properties T: salt string rs, privateFields string r, includeSetProperties boolean
url-masking T: urlProperties dictionary r, maskWith string r
filter-properties T: propertiesToFilter string r
drop-events T:
downsampling T: percentage number r, randomSampling boolean, triggeringEvents string
bot-detection T: userAgent string r, filterKnownBotUserAgents boolean, customBotPatterns string,
  filterKnownBotIps boolean, customIpPrefixes string, keepUndefinedUseragent choice
blank-transformation T:
source-webhook S: event string r, distinct_id string r, properties json, auth_header string s,
  method choice, debug boolean
blank-site-destination SD: name string, userId string r, additionalProperties json r
blank-site-app SA: name string
""".replace("\n  ", " ")
TYPES = {
    "D": "destination",
    "T": "transformation",
    "S": "source_webhook",
    "SD": "site_destination",
    "SA": "site_app",
}


@pytest.mark.parametrize("row", TABLE.strip().splitlines(), ids=lambda row: row.split()[0])
def test_types_and_inputs_are_those_of_the_table(row):
    name, _, inputs = row.partition(":")
    folder, kind = name.split()
    template = TEMPLATES.find(PREFIX + folder)
    assert template.type == TYPES[kind]
    shown = [
        f"{item['key']} {item['type']} {'r' * item['required']}{'s' * item['secret']}".strip()
        for item in template.inputs_schema
        if not item["hidden"]
    ]
    assert shown == [one.strip() for one in inputs.split(",") if one.strip()]
    for item in template.inputs_schema:
        if item["type"] == "choice":
            values = [choice["value"] for choice in item["choices"]]
            assert all(set(choice) == {"label", "value"} for choice in item["choices"])
            assert item["default"] in values


def test_every_template_has_cases_for_success_and_failure():
    for template in TEMPLATES.all.values():
        path = FOLDER / template.id.removeprefix(PREFIX) / "cases.yaml"
        found = yaml.safe_load(path.read_text()) if path.is_file() else []
        if template.type == "destination":
            assert any("error" in case for case in found), template.id
            assert any("error" not in case for case in found), template.id
        assert found or template.type in {"site_app", "site_destination"}, template.id


@pytest.mark.parametrize("template", list(TEMPLATES.all.values()), ids=lambda one: one.id)
def test_code_and_schema_of_a_template_are_valid(template):
    if template.code_language == "hog":
        assert function_of(template, {}) if not _needs_inputs(template) else True
    assert read_schema(template.inputs_schema) == template.inputs_schema


def _needs_inputs(template):
    return any(i["required"] and i.get("default") is None for i in template.inputs_schema)
