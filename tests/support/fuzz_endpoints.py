"""Seeds the fuzzing client's server with endpoints, versions and aliases."""

from support.clients import Post
from support.fuzz_parameters import Json, P, Seeds
from support.server import RunningServer

ALL = P + "/endpoints"
ENDPOINT = ALL + "/{name}"
OF_VERSIONS = {"version_number": "1", "a": "1", "b": "2", "alias": "prod"}


def seed_endpoints(seeds: Seeds, server: RunningServer, post: Post, variable_id: str) -> None:
    """Endpoints of several kinds: to read, to change and to delete."""
    kinds = queries(variable_id)
    for name, query in kinds.items():
        _endpoint(server, post, {"name": name, "query": query, "is_materialized": name == "kept"})
        _endpoint(server, post, {"name": f"changed_{name}", "query": query})
    two = server.client.patch("/api/projects/1/endpoints/plain", json={"query": hogql("SELECT 1")})
    assert two.json()["current_version"] == 2
    spares = [f"spare_{number}" for number in range(seeds.spare_count)]
    for name in spares:
        _endpoint(server, post, {"name": name, "query": kinds["plain"]})
    seeds.places[ALL] = [{"name": name, **OF_VERSIONS} for name in kinds]
    seeds.places[f"{ENDPOINT}/versions/{{a}}"] = [{"name": "plain", **OF_VERSIONS}]
    seeds.change(ENDPOINT, *({"name": f"changed_{name}", **OF_VERSIONS} for name in kinds))
    seeds.spares[ENDPOINT] = [{"name": name} for name in spares[::2]]
    seeds.spares[f"{ENDPOINT}/aliases/{{alias}}"] = [
        {"name": x, "alias": "prod"} for x in spares[1::2]
    ]
    _bodies(seeds, kinds)
    _tenant_tokens(seeds, post)


def _endpoint(server: RunningServer, post: Post, body: Json) -> None:
    post("endpoints", body)
    url = f"/api/projects/1/endpoints/{body['name']}/aliases/prod"
    assert server.client.put(url, json={"version": 1}).status_code == 201


def _bodies(seeds: Seeds, kinds: dict[str, Json]) -> None:
    endpoints = [{"name": "fuzz_$number", "query": query} for query in kinds.values()]
    seeds.take("POST", ALL, *endpoints)
    seeds.take("PATCH", ENDPOINT, *endpoints)
    seeds.take("POST", f"{ENDPOINT}/run", {}, {"refresh": "force"}, {"refresh": "async"})
    seeds.take("POST", f"{ENDPOINT}/materialization_preview", {})
    seeds.take("POST", f"{ALL}/last_execution_times", {"names": list(kinds)})
    seeds.take("PATCH", f"{ENDPOINT}/aliases/{{alias}}", {"version": 1})


def _tenant_tokens(seeds: Seeds, post: Post) -> None:
    """Tokens, and signing keys within their grace time to revoke."""
    path, grace = f"{P}/tenant_tokens", {"grace_seconds": 100_000}
    seeds.take("POST", path, {"endpoints": ["variable"], "variables": {"n": 1}, "expires_in": 60})
    seeds.take("POST", f"{path}/rotate", grace)
    keys = [post("tenant_tokens/rotate", grace)["id"] for _ in range(7)]
    seeds.places[f"{path}/keys"] = [{"key_id": keys.pop()}]
    seeds.spares[f"{path}/keys/{{key_id}}"] = [{"key_id": key} for key in keys]


def queries(variable_id: str) -> dict[str, Json]:
    """Queries of several kinds by endpoint name."""
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
