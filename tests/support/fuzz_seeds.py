"""Seeds the fuzzing client's server with one of everything and spares to delete."""

import time

from hoglet.events.persons.model import person_id_of
from support.clients import Post
from support.fuzz_endpoints import seed_endpoints
from support.fuzz_functions import seed_failures, seed_functions
from support.fuzz_parameters import EVENT, Json, P, Seeds
from support.server import START_SECONDS, TOKEN, RunningServer

CAPTURES = ("batch", "capture", "e", "engage", "i/v0/e", "track")
TEMPLATES = [{"template_id": each} for each in ("template-slack", "template-geoip")]


def seed(server: RunningServer, post: Post, seeds: Seeds | None = None) -> Seeds:
    """Create one of everything."""
    seeds = seeds or Seeds()
    _capture_bodies(seeds)
    seed_functions(seeds, server, post)
    seed_failures(seeds, server, post)
    variable = post("insight_variables", {"name": "n", "type": "Number", "default_value": 1})
    seed_endpoints(seeds, server, post, variable["id"])
    _queries(seeds, server)
    _keys(seeds, server, post)
    _persons(seeds, server)
    _definitions(seeds, server)
    _announced_events(seeds, post)
    _cohorts(seeds, post)
    _small_things(seeds, post)
    seeds.places[f"{P}/insight_variables"].append({"variable_id": variable["id"]})
    for path in (f"{P}/hog_function_templates", "/api/public_hog_function_templates"):
        seeds.places[path] = TEMPLATES
    seeds.places["/static/services"] = [{"name": "slack"}, {"name": "webhook"}]
    seeds.take("PATCH", P, {"name": "Fuzzed", "timezone": "Europe/Berlin"})
    return seeds


def _keys(seeds: Seeds, server: RunningServer, post: Post) -> None:
    """Both kinds of keys, but not the one that the fuzzing client uses."""

    def personal(label: str) -> str:
        body = {"label": label, "scopes": ["query:read"]}
        answer = server.client.post("/api/personal_api_keys/", json=body)
        return str(answer.json()["id"])

    def secret(label: str) -> str:
        key = post("project_secret_api_keys", {"label": label, "scopes": ["query:read"]})
        return str(key["id"])

    for path, make, spares in (
        ("/api/personal_api_keys", personal, 3),
        (f"{P}/project_secret_api_keys", secret, seeds.spare_count),
    ):
        item = f"{path}/{{key_id}}"
        seeds.take("POST", path, {"label": "k$number", "scopes": ["query:read"]})
        seeds.take("PATCH", item, {"label": "l$number"})
        seeds.places[path] = [{"key_id": make("read")}]
        seeds.change(item, {"key_id": make("changed")})
        seeds.spares[item] = [{"key_id": make(f"spare {number}")} for number in range(spares)]


def _queries(seeds: Seeds, server: RunningServer) -> None:
    query = {"kind": "HogQLQuery", "query": "SELECT 1"}
    events = {"kind": "EventsQuery", "select": ["*", "person", "count() -- n"], "limit": 1}
    text = {"language": "hogQL", "query": "SELECT properties. FROM events", "filters": {}}
    editors = (
        {"kind": "DatabaseSchemaQuery"},
        {"kind": "HogQLMetadata", **text, "variables": {}, "globals": {"inputs": {"a": 1}}},
        {"kind": "HogQLAutocomplete", **text, "startPosition": 18, "endPosition": 18},
    )
    for path in (f"{P}/query", f"{P}/query/{{kind}}", f"{P}/query/upgrade"):
        seeds.take("POST", path, *({"query": node} for node in (query, events, *editors)))
    seeds.take("POST", f"{P}/query/check_auth_for_async", {})
    seeds.take("POST", f"{P}/mcp_tools/execute_sql", {"args": {"query": "SELECT 1"}})
    for path in (f"{P}/mcp", "/mcp"):
        seeds.take("POST", path, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    taxonomy = {"query": {"kind": "event_properties", "event_name": "paid"}}
    seeds.take("POST", f"{P}/mcp_tools/read_taxonomy", {"args": taxonomy})
    spares = [f"spare {number}" for number in range(seeds.spare_count)]
    for query_id in ("seed", *spares):
        started = {"query": query, "refresh": "force_async", "client_query_id": query_id}
        server.client.post("/api/projects/1/query/", json=started)
    seeds.spares[f"{P}/query/{{query_id}}"] = [{"query_id": each} for each in spares]
    seeds.places[f"{P}/query/{{kind}}"] = [{"kind": "HogQLQuery"}, {"kind": "EventsQuery"}]
    seeds.places[f"{P}/query/{{query_id}}"] = [{"query_id": "seed"}]
    seeds.places[f"{P}/query/{{query_id}}/log"] = [{"query_id": "seed"}]


def _cohorts(seeds: Seeds, post: Post) -> None:
    """A static cohort to read and change, a dynamic one to copy."""
    leaf = {"type": "person", "key": "email", "operator": "icontains", "value": "@"}
    often = {
        "type": "behavioral",
        "value": "performed_event_multiple",
        "key": "e",
        "event_type": "events",
        "time_value": 7,
        "time_interval": "day",
        "operator": "gte",
        "operator_value": 2,
        "event_filters": [{"type": "event", "key": "k", "value": 1}],
    }
    filters = {"properties": {"type": "OR", "values": [leaf, often]}}
    static: Json = {"name": "s", "is_static": True, "_create_static_person_ids": []}
    dynamic: Json = {"name": "d", "filters": filters}
    grouped: Json = {"name": "g", "groups": [{"event_id": "e", "days": 7, "count": 1}]}
    item = f"{P}/cohorts/{{cohort_id}}"
    seeds.take("POST", f"{P}/cohorts", static, dynamic, grouped)
    static_place = {"cohort_id": post("cohorts", static)["id"]}
    other = {"cohort_id": post("cohorts", dynamic)["id"]}
    for path in (
        item,
        f"{item}/activity",
        f"{item}/calculation_history",
        f"{item}/persons",
        f"{item}/used_in",
    ):
        seeds.places[path] = [static_place, other]
    seeds.places[f"{item}/duplicate_as_static_cohort"] = [other]
    person = str(person_id_of(1, "seed"))
    for name, body in (
        ("add_persons_to_static_cohort", {"person_ids": [person]}),
        ("remove_person_from_static_cohort", {"person_id": person}),
    ):
        seeds.places[f"{item}/{name}"] = [static_place]
        seeds.take("PATCH", f"{item}/{name}", body)
    seeds.change(item, other)
    seeds.spares[item] = [
        {"cohort_id": post("cohorts", static)["id"]} for _ in range(seeds.spare_count)
    ]
    seeds.take("PATCH", item, {"name": "n"}, {"filters": filters})


def _persons(seeds: Seeds, server: RunningServer) -> None:
    """A person with an event; the bodies change only properties."""
    event = EVENT | {"uuid": "01890000-0000-7000-8000-000000000001", "distinct_id": "seed"}
    server.client.post("/batch", json={"api_key": TOKEN, "batch": [event]})
    person = str(person_id_of(1, "seed"))
    item = f"{P}/persons/{{person_id}}"
    seeds.places[item] = [{"person_id": person}]
    seeds.places[f"{P}/events/{{event_id}}"] = [{"event_id": event["uuid"]}]
    seeds.change(item, {"person_id": person})
    seeds.take("PATCH", item, {"properties": {"plan": "pro"}})
    spares = [f"spare {number}" for number in range(seeds.spare_count)]
    batch = [EVENT | {"distinct_id": each} for each in spares]
    server.client.post("/batch", json={"api_key": TOKEN, "batch": batch})
    seeds.spares[item] = [{"person_id": str(person_id_of(1, each))} for each in spares]
    seeds.take("POST", f"{P}/persons/bulk_delete", {"distinct_ids": ["bulk $number"]})
    seeds.query[f"GET {P}/persons/cohorts"] = {"person_id": [person]}
    joined = {"$anon_distinct_id": "part"}
    merge = {"event": "$identify", "distinct_id": "whole", "properties": joined}
    for event in (EVENT | {"distinct_id": "whole"}, merge):
        server.client.post("/batch", json={"api_key": TOKEN, "batch": [event]})
    seeds.places[f"{item}/split"] = [{"person_id": str(person_id_of(1, "whole"))}]
    seeds.take("POST", f"{item}/split", {"main_distinct_id": "whole"})
    for name, body in (
        ("update_property", {"key": "plan", "value": "pro"}),
        ("delete_property", {"$unset": "plan"}),
    ):
        seeds.places[f"{item}/{name}"] = [{"person_id": person}]
        seeds.take("POST", f"{item}/{name}", body)


def _definitions(seeds: Seeds, server: RunningServer) -> None:
    """Properties to read, change and delete; storing events defines them."""
    names = [f"defined {number}" for number in range(seeds.spare_count + 2)]
    event = EVENT | {"properties": dict.fromkeys(names, 1)}
    server.client.post("/batch", json={"api_key": TOKEN, "batch": [event]})
    listed = {"properties": ",".join(names)}
    deadline = time.monotonic() + START_SECONDS
    definitions: list[Json] = []
    while len(definitions) < len(names) and time.monotonic() < deadline:
        answer = server.client.get("/api/projects/1/property_definitions/", params=listed)
        definitions = answer.json()["results"]
        time.sleep(0.1)
    places = [{"definition_id": each["id"]} for each in definitions]
    item = f"{P}/property_definitions/{{definition_id}}"
    seeds.places[item] = places[:1]
    seeds.change(item, places[1])
    seeds.spares[item] = places[2:]
    seeds.take("PATCH", item, {"property_type": "Numeric"}, {"description": "d", "tags": ["t"]})


def _announced_events(seeds: Seeds, post: Post) -> None:
    places = [
        {"definition_id": post("event_definitions", {"name": f"announced {number}"})["id"]}
        for number in range(seeds.spare_count + 2)
    ]
    item = f"{P}/event_definitions/{{definition_id}}"
    seeds.places[item] = places[:1]
    seeds.change(item, places[1])
    seeds.spares[item] = places[2:]
    seeds.take("POST", f"{P}/event_definitions", {"name": "event $number"})
    seeds.take("PATCH", item, {"description": "d", "tags": ["t"]}, {"verified": True})


def _capture_bodies(seeds: Seeds) -> None:
    batch = {"api_key": TOKEN, "batch": [EVENT]}
    for name in CAPTURES:
        seeds.take("POST", f"/{name}", batch, EVENT | {"api_key": TOKEN})
    for name in ("decide", "flags"):
        seeds.take("POST", f"/{name}", {"token": TOKEN, "distinct_id": "u"})
    for name in ("surveys", "early_access_features", "web_experiments", "product_tours"):
        seeds.query[f"GET /api/{name}"] = {"token": [TOKEN]}


def _small_things(seeds: Seeds, post: Post) -> None:
    action: Json = {"name": "a", "steps": [{"event": "$pageview"}]}
    integration: Json = {"kind": "slack", "access_token": "t"}
    variable: Json = {"name": "v$number", "type": "String"}
    _small_thing(seeds, post, "actions", "action_id", action, {"name": "b"})
    _small_thing(seeds, post, "integrations", "integration_id", integration, {"hosts": None})
    _small_thing(seeds, post, "insight_variables", "variable_id", variable, {"default_value": "x"})


def _small_thing(
    seeds: Seeds, post: Post, noun: str, parameter: str, body: Json, change: Json
) -> None:
    path = f"{P}/{noun}"
    item = f"{path}/{{{parameter}}}"
    seeds.take("POST", path, body)
    seeds.take("PATCH", item, change)
    read, changed, *spares = (
        {parameter: str(post(noun, body | {"name": f"seed {number}"})["id"])}
        for number in range(seeds.spare_count + 2)
    )
    seeds.places[path] = [read]
    seeds.change(item, changed)
    seeds.spares[item] = spares
