"""What the fuzzing client finds in the server: one of everything, and some to be deleted."""

import time
from dataclasses import dataclass, field
from typing import Any

from support.clients import Post
from support.server import TOKEN, RunningServer

P = "/api/projects/{project_id}"
SPARES = 12  # of each kind that can be deleted
LETTERS = 30
SECONDS = 60
HOG = "print(event.event)"
SCHEMA = [
    {"type": "string", "key": "url", "label": "URL", "required": False},
    {"type": "string", "key": "token", "label": "Token", "secret": True, "required": False},
]
INPUTS = {"url": {"value": "http://127.0.0.1:1/"}, "token": {"value": "s3cret"}}
FUNCTIONS = {
    "destination": "print(event.event); fetch(inputs.url)",
    "transformation": "return event",
    "site_app": "export function onLoad() {}",
    "source_webhook": "return {'httpResponse': {'status': 201, 'body': 'ok'}}",
}
EVENT = {"event": "$pageview", "distinct_id": "u", "properties": {"$browser": "Firefox"}}
FAILING_EVENT = {"event": "failing", "distinct_id": "u"}
CAPTURES = ("batch", "capture", "e", "engage", "i/v0/e", "track")

type Json = dict[str, Any]


@dataclass
class Seeds:
    """Given to the hooks as JSON.

    Attributes:
        project: the parameter of nearly every path.
        places: parameters that belong together, by the beginning of the path.
        spares: parameters of things to be deleted, by path.
        query: values by parameter, by operation ("GET /path").
        bodies: valid bodies by operation; ``$number`` becomes another number each time.
    """

    project: Json = field(
        default_factory=lambda: {"project_id": "1", "organization_id": "@current"}
    )
    places: dict[str, list[Json]] = field(default_factory=lambda: {"": [{"token": TOKEN}]})
    spares: dict[str, list[Json]] = field(default_factory=dict[str, list[Json]])
    query: dict[str, Json] = field(default_factory=dict[str, Json])
    bodies: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])

    def take(self, method: str, path: str, *bodies: Any) -> None:
        """These bodies are valid there; a PUT is the same as a PATCH."""
        self.bodies[f"{method} {path}"] = list(bodies)
        if method == "PATCH":
            self.bodies[f"PUT {path}"] = list(bodies)


def seed(server: RunningServer, post: Post) -> Seeds:
    """Make one of everything."""
    seeds = Seeds()
    _capture_bodies(seeds)
    _functions(seeds, server, post)
    _failures(seeds, server, post)
    variable = post("insight_variables", {"name": "n", "type": "Number", "default_value": 1})
    _endpoints(seeds, server, post, queries(variable["id"]))
    _small_things(seeds, server, post, variable["id"])
    return seeds


def queries(variable_id: str) -> dict[str, Json]:
    """Queries of several kinds by name of the endpoint."""
    definition = {"variableId": variable_id, "code_name": "n", "value": 1}
    return {
        "plain": hogql("SELECT event, count() FROM events GROUP BY event"),
        "filtered": hogql("SELECT count() FROM events WHERE {filters}"),
        "kept": hogql("SELECT event, timestamp FROM events"),
        "variable": hogql("SELECT number FROM numbers(9) WHERE number >= {variables.n}")
        | {"variables": {variable_id: definition}},
        "trend": {
            "kind": "TrendsQuery",
            "series": [{"kind": "EventsNode", "event": "$pageview"}],
            "breakdownFilter": {"breakdown": "$browser", "breakdown_type": "event"},
        },
    }


def hogql(query: str) -> Json:
    """The query of an endpoint."""
    return {"kind": "HogQLQuery", "query": query}


def _capture_bodies(seeds: Seeds) -> None:
    batch = {"api_key": TOKEN, "batch": [EVENT]}
    for name in CAPTURES:
        seeds.take("POST", f"/{name}", batch, EVENT | {"api_key": TOKEN})
    for name in ("decide", "flags"):
        seeds.take("POST", f"/{name}", {"token": TOKEN, "distinct_id": "u"})


def _functions(seeds: Seeds, server: RunningServer, post: Post) -> None:
    path = P + "/hog_functions"
    made: dict[str, str] = {}
    for kind, hog in FUNCTIONS.items():
        body: Json = {"type": kind, "name": kind, "hog": hog, "enabled": True}
        if kind == "destination":
            body |= {"inputs_schema": SCHEMA, "inputs": INPUTS}
        made[kind] = post("hog_functions", body)["id"]
    one = f"{path}/{{function_id}}"
    functions = [{"function_id": each} for each in made.values()]
    seeds.places[path] = functions
    seeds.places["/site_function"] = [{"function_id": made["site_app"], "stamp": "1"}]
    seeds.places["/public/webhooks"] = [{"name": made["source_webhook"]}]
    seeds.spares[one] = [
        {"function_id": post("hog_functions", {"hog": HOG})["id"]} for _ in range(SPARES)
    ]
    seeds.places[f"{one}/enable_backfills"] = [
        {"function_id": post("hog_functions", {"hog": HOG})["id"]} for _ in range(SPARES)
    ]
    seeds.take("POST", path, {"type": "destination", "hog": HOG, "name": "fuzz"})
    seeds.take("PATCH", one, {"name": "other", "inputs_schema": SCHEMA, "inputs": INPUTS})
    seeds.take("PATCH", f"{path}/rearrange", {"orders": {made["transformation"]: 2}})
    seeds.places[f"{one}/invocations"] = [
        {"function_id": made[kind]} for kind in ("destination", "transformation")
    ] + [{"function_id": "new"}]
    configuration = {"type": "destination", "hog": HOG, "inputs_schema": [], "inputs": {}}
    run = {"globals": {"event": EVENT}}
    seeds.take("POST", f"{one}/invocations", run, run | {"configuration": configuration})
    server.client.patch(f"/api/projects/1/hog_functions/{made['destination']}", json={"name": "d"})
    activity = server.client.get(f"/api/projects/1/hog_functions/{made['destination']}/activity")
    seeds.places[f"{one}/restore"] = [{"function_id": made["destination"]}]
    seeds.take(
        "POST", f"{one}/restore", *({"activity_id": x["id"]} for x in activity.json()["results"])
    )
    export = server.client.post(
        f"/api/projects/1/hog_functions/{made['destination']}/enable_backfills"
    ).json()
    _backfills(seeds, server, export)


def _backfills(seeds: Seeds, server: RunningServer, export: Json) -> None:
    path = f"{P}/batch_exports/{{batch_export_id}}/backfills"
    window = {"start_at": "2026-01-01T00:00:00Z", "end_at": "2026-01-02T00:00:00Z"}
    url = f"/api/projects/1/batch_exports/{export['batch_export_id']}/backfills"
    seeds.places[path] = [
        {**export, "backfill_id": _paused_backfill(server, url, window), "verb": verb}
        for verb in ("pause", "resume", "cancel")
    ]
    seeds.take("POST", path, window)


def _paused_backfill(server: RunningServer, url: str, window: Json) -> str:
    """One that is not at its end yet; nothing is to be done, so the pause may come too late."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        made = server.client.post(url, json=window)
        assert made.status_code == 201, made.text
        if server.client.post(f"{url}/{made.json()['id']}/pause").status_code == 200:
            return made.json()["id"]
    raise AssertionError("no backfill could be paused")


def _failures(seeds: Seeds, server: RunningServer, post: Post) -> None:
    """A function whose invocations all ended as dead letters."""
    filters = {"events": [{"id": FAILING_EVENT["event"], "type": "events"}]}
    body: Json = {"name": "failing", "hog": "throw Error('no')", "enabled": True}
    function_id = post("hog_functions", body | {"filters": filters})["id"]
    batch = {"api_key": TOKEN, "batch": [EVENT, *[FAILING_EVENT] * LETTERS]}
    assert server.client.post("/batch/", json=batch).status_code == 200
    url = f"/api/projects/1/hog_functions/{function_id}/dead_letters"
    deadline = time.monotonic() + SECONDS
    while (page := server.client.get(url).json())["count"] < LETTERS:
        assert time.monotonic() < deadline, page
        time.sleep(0.2)
    letters = [
        {"function_id": function_id, "letter_id": letter["id"]} for letter in page["results"]
    ]
    path = f"{P}/hog_functions/{{function_id}}/dead_letters"
    seeds.places[path] = letters[SPARES:]
    seeds.spares[f"{path}/{{letter_id}}"] = letters[:SPARES]
    seeds.take("POST", f"{path}/redrive", {"ids": [letters[-1]["letter_id"]]}, {"all": True})


def _endpoints(seeds: Seeds, server: RunningServer, post: Post, queries: dict[str, Json]) -> None:
    path = P + "/endpoints"
    one = f"{path}/{{name}}"
    for name, query in queries.items():
        post("endpoints", {"name": name, "query": query, "is_materialized": name == "kept"})
        url = f"/api/projects/1/endpoints/{name}"
        if name == "plain":
            server.client.patch(url, json={"query": hogql("SELECT count() FROM events")})
        answer = server.client.put(f"{url}/aliases/prod", json={"version": 1})
        assert answer.status_code == 201, answer.text
    spares = [f"spare_{number}" for number in range(SPARES)]
    for name in spares:
        post("endpoints", {"name": name, "query": queries["plain"]})
        server.client.put(f"/api/projects/1/endpoints/{name}/aliases/prod", json={"version": 1})
    numbers = {"version_number": "1", "a": "1", "b": "2", "alias": "prod"}
    seeds.places[path] = [{"name": name, **numbers} for name in queries]
    seeds.places[f"{one}/versions/{{a}}"] = [{"name": "plain", **numbers}]
    seeds.spares[one] = [{"name": name} for name in spares[::2]]
    seeds.spares[f"{one}/aliases/{{alias}}"] = [
        {"name": name, "alias": "prod"} for name in spares[1::2]
    ]
    for verb in ("POST", "PATCH"):
        seeds.take(
            verb,
            path if verb == "POST" else one,
            *({"name": "fuzz_$number", "query": query} for query in queries.values()),
        )
    seeds.take("POST", f"{one}/run", {}, {"refresh": "force"}, {"refresh": "async"})
    seeds.take("POST", f"{one}/materialization_preview", {})
    seeds.take("POST", f"{path}/last_execution_times", {"names": list(queries)})
    seeds.take("PATCH", f"{one}/aliases/{{alias}}", {"version": 1})


def _small_things(seeds: Seeds, server: RunningServer, post: Post, variable_id: str) -> None:
    action: Json = {"name": "a", "steps": [{"event": "$pageview"}]}
    integration = {"kind": "slack", "access_token": "t"}
    variable = {"name": "v$number", "type": "String"}
    made: dict[str, tuple[str, Json, Json]] = {
        "actions": ("action_id", action, {"name": "b"}),
        "integrations": ("integration_id", integration, {"display_name": "b"}),
        "insight_variables": ("variable_id", variable, {"default_value": "x"}),
    }
    for noun, (parameter, body, change) in made.items():
        one = f"{P}/{noun}/{{{parameter}}}"
        seeds.take("POST", f"{P}/{noun}", body)
        seeds.take("PATCH", one, change)
        seeds.places[f"{P}/{noun}"] = [{parameter: str(post(noun, body)["id"])}]
        seeds.spares[one] = [
            {parameter: str(post(noun, body | {"name": f"spare {number}"})["id"])}
            for number in range(SPARES)
        ]
    seeds.places[f"{P}/insight_variables"].append({"variable_id": variable_id})
    templates = [{"template_id": each} for each in ("template-slack", "template-geoip")]
    seeds.places[f"{P}/hog_function_templates"] = templates
    seeds.places["/api/public_hog_function_templates"] = templates
    seeds.places["/static/services"] = [{"name": "slack"}, {"name": "webhook"}]
    seeds.take("PATCH", P, {"name": "Fuzzed", "timezone": "Europe/Berlin"})
