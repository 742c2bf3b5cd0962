"""Templates: the table of the specification, valid code, and cases of each.

``tests/e2e/test_template_files.py`` runs the cases with ``hoglet test``. A place needs a GeoIP
database, which cases of files do not have: it is looked up here.
"""

import msgspec
import pytest
import yaml

from hoglet.functions.compile.function import compile_function_parts
from hoglet.functions.compile.messages import CompileInput
from hoglet.functions.executable.matching import Conditions
from hoglet.functions.executable.model import HostConfig
from hoglet.functions.executable.transform import Transformation
from hoglet.functions.loader import executable_from_values
from hoglet.functions.save.plan import NEW
from hoglet.functions.schemas import read_schema
from hoglet.functions.templates.registry import PREFIX, Templates
from support.geoip_database import LINKOPING, write_database
from support.template_project import SITE_TYPES, cases_of

TEMPLATES = Templates()
LOCATION = {
    "city_name": "Linköping",
    "subdivision_1_name": "Östergötland County",
    "subdivision_1_code": "E",
    "country_name": "Sweden",
    "country_code": "SE",
    "continent_name": "Europe",
    "continent_code": "EU",
    "postal_code": "581 00",
    "latitude": 58.4167,
    "longitude": 15.6167,
    "accuracy_radius": 76,
    "time_zone": "Europe/Stockholm",
}
ADDRESS = "89.160.20.129"


def executable(template):
    parts = CompileInput(
        type=template.type,
        hog=template.code,
        inputs_schema=read_schema(template.inputs_schema),
        inputs={},
        filters={"source": "events"},
    )
    compiled = compile_function_parts(parts)
    columns = {
        **NEW,
        "type": template.type,
        "hog": template.code,
        "inputs": compiled.inputs,
        "secrets": {},
        "mapping_secrets": {},
        "matcher": msgspec.to_builtins(compiled.matcher),
    }
    return executable_from_values(columns, function_id="f", project_id=1)


def located(properties, tmp_path):
    database = write_database(tmp_path / "places.mmdb", {f"{ADDRESS}/32": LINKOPING})
    function = msgspec.structs.replace(
        executable(TEMPLATES.find("template-geoip")),
        facilities=HostConfig(geoip_database=str(database)),
    )
    event = {"uuid": "u", "event": "$pageview", "distinct_id": "ada", "properties": properties}
    project = {"id": 1, "name": "Shop", "url": "https://hoglet.example/project/1"}
    result = Transformation(function, project, Conditions()).run(event, now="2026-01-05T12:00:00Z")
    assert result.error is None
    return result.event["properties"]


def test_geoip_adds_the_place(tmp_path):
    assert located({"$ip": ADDRESS}, tmp_path) == {
        "$ip": ADDRESS,
        "$set": {f"$geoip_{key}": value for key, value in LOCATION.items()},
        "$set_once": {f"$initial_geoip_{key}": value for key, value in LOCATION.items()},
        **{f"$geoip_{key}": value for key, value in LOCATION.items()},
    }


def test_geoip_leaves_events_alone_that_ask_for_it(tmp_path):
    properties = {"$ip": ADDRESS, "$geoip_disable": True}
    assert located(dict(properties), tmp_path) == properties


def test_the_table_of_the_specification_is_complete():
    assert len(TEMPLATES.all) == 26
    hidden = {each.id for each in TEMPLATES.all.values() if each.status == "hidden"}
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
    listed = [
        f"{item['key']} {item['type']} {'r' * item['required']}{'s' * item['secret']}".strip()
        for item in template.inputs_schema
        if not item["hidden"]
    ]
    assert listed == [each.strip() for each in inputs.split(",") if each.strip()]
    for item in template.inputs_schema:
        if item["type"] == "choice":
            values = [choice["value"] for choice in item["choices"]]
            assert all(set(choice) == {"label", "value"} for choice in item["choices"])
            assert item["default"] in values


def test_every_template_has_cases_for_success_and_failure():
    for template in TEMPLATES.all.values():
        cases = yaml.safe_load(cases_of(template)) or []
        if template.type == "destination":
            statuses = [case["expect"]["status"] for case in cases]
            assert {"success", "failed"} <= set(statuses), template.id
        assert cases or template.type in SITE_TYPES, template.id


@pytest.mark.parametrize("template", list(TEMPLATES.all.values()), ids=lambda value: value.id)
def test_code_and_schema_of_a_template_are_valid(template):
    needs = any(i["required"] and i.get("default") is None for i in template.inputs_schema)
    if template.code_language == "hog" and not needs:
        assert executable(template)
    assert read_schema(template.inputs_schema) == template.inputs_schema
