"""Endpoint records, request bodies and versions.

Source: docs/spec/query-endpoints.md#2-records,
docs/spec/query-endpoints.md#3-create-and-update-bodies
and docs/spec/query-endpoints.md#4-versions.
"""

from datetime import timedelta
from typing import Any

import pytest

from support.endpoints import EndpointWorld

RECORD_KEYS = (
    "id name description query is_active cache_age_seconds data_freshness_seconds sync_frequency "
    "endpoint_path url ui_url created_at updated_at created_by is_materialized current_version "
    "current_version_id versions_count derived_from_insight last_executed_at materialization "
    "bucket_overrides columns tags optional_breakdown_properties"
)
VERSION_KEYS = (
    "version version_id endpoint_is_active version_created_at version_updated_at version_created_by"
)


async def test_the_keys_of_records(endpoints: EndpointWorld) -> None:
    record = await endpoints.create("SELECT 1", name="a", tags=["b", "a", "b"])
    assert list(record) == RECORD_KEYS.split()
    assert record["columns"] == [{"name": "1", "type": "integer"}]
    assert record["tags"] == ["a", "b"]
    assert record["created_at"] == "2026-01-05T12:00:00.000000Z"
    assert record["url"] == f"http://h{endpoints.base}/a/run"
    assert record["ui_url"] == f"http://h/project/{endpoints.project_id}/endpoints/a"
    version = (await endpoints.get("/a", version=1)).json()
    assert set(version) == set(RECORD_KEYS.split()) | set(VERSION_KEYS.split())
    assert (version["id"], version["url"], version["ui_url"]) == (record["id"], None, None)
    other = await endpoints.client.get(f"/api/projects/{endpoints.project_id}/endpoints/a/")
    path = f"/api/projects/{endpoints.project_id}/endpoints/a/run"
    assert other.json()["endpoint_path"] == path


@pytest.mark.parametrize(
    ("body", "attr", "code"),
    [
        ({"zzz": 1}, "zzz", "invalid_input"),
        ({"is_active": "yes"}, "is_active", "invalid_input"),
        ({"cache_age_seconds": 299}, "cache_age_seconds", "invalid_input"),
        ({"cache_age_seconds": 86401}, "cache_age_seconds", "invalid_input"),
        ({"data_freshness_seconds": 901}, "data_freshness_seconds", "invalid_input"),
        ({"sync_frequency": "2hour"}, "sync_frequency", "invalid_choice"),
        ({"derived_from_insight": "x" * 13}, "derived_from_insight", "max_length"),
        ({"bucket_overrides": {"t": "second"}}, "bucket_overrides", "invalid_input"),
        ({"tags": "a"}, "tags", "invalid_input"),
        ({"name": "1a"}, "name", "invalid_input"),
        ({"name": "a" * 129}, "name", "invalid_input"),
        ({"name": "last_execution_times"}, "name", "invalid_input"),
        ({"query": "SELECT 1"}, "query", "invalid_input"),
        ({"query": {"kind": "EventsQuery"}}, "query__kind", "invalid_choice"),
        ({"query": {"kind": "HogQLQuery"}}, "query__query", "required"),
        ({"query": {"query": "SELECT 1"}}, "query__kind", "required"),
        ({"query": {"kind": "HogQLQuery", "query": 1}}, "query__query", "invalid_input"),
        ({"optional_breakdown_properties": ["x"]}, "optional_breakdown_properties", None),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_refused_fields(
    endpoints: EndpointWorld, body: dict[str, Any], attr: str, code: str | None
) -> None:
    refused = await endpoints.post("", {**endpoints.body(name="fine"), **body})

    assert refused.status_code == 400, refused.text
    assert refused.json()["type"] == "validation_error"
    assert (refused.json()["attr"], refused.json()["code"]) == (attr, code or "invalid_input")
    assert (await endpoints.get("")).json()["count"] == 0


async def test_null_means_not_sent_but_resets_times(endpoints: EndpointWorld) -> None:
    endpoint = await endpoints.create(
        "SELECT 1",
        name="a",
        description=None,
        tags=None,
        cache_age_seconds=600,
        data_freshness_seconds=900,
        sync_frequency="1hour",
    )
    assert (endpoint["description"], endpoint["tags"], endpoint["is_active"]) == ("", [], True)
    patched = (await endpoints.patch("/a", {"cache_age_seconds": None, "tags": None})).json()
    assert (patched["cache_age_seconds"], patched["sync_frequency"]) == (None, "1hour")
    freshness = {"data_freshness_seconds": 3600}
    cleared = (await endpoints.patch("/a", freshness)).json()
    assert (cleared["sync_frequency"], cleared["data_freshness_seconds"]) == (None, 3600)
    both = (await endpoints.patch("/a", freshness | {"cache_age_seconds": 300})).json()
    assert both["cache_age_seconds"] == 300
    reset = (await endpoints.patch("/a", {"data_freshness_seconds": None})).json()
    assert (reset["data_freshness_seconds"], reset["cache_age_seconds"]) == (86400, None)


async def test_targeted_changes(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a", description="one")
    query = {"kind": "HogQLQuery", "query": "SELECT 2"}
    second = (await endpoints.patch("/a", {"query": query})).json()
    assert second["description"] == "one"
    first = (await endpoints.patch("/a", {"version": 1, "description": "first"})).json()
    assert (first["version"], first["description"]) == (1, "first")
    assert (await endpoints.get("/a")).json()["description"] == "one"
    with_query = await endpoints.patch("/a", {"version": 1, "query": query})
    assert (with_query.status_code, with_query.json()["attr"]) == (400, "query")
    for number in (3, 2**40):
        unknown = await endpoints.patch("/a", {"version": number})
        assert (unknown.status_code, unknown.json()["attr"]) == (400, "version")
        assert "error" in unknown.json()
    text = await endpoints.patch("/a", {"version": "one"})
    assert (text.status_code, text.json()["attr"]) == (400, "version")
    in_query = await endpoints.client.patch(endpoints.base + "/a?version=x", json={})
    assert (in_query.status_code, in_query.json()["attr"]) == (400, "version")
    body_wins = await endpoints.client.patch(endpoints.base + "/a?version=2", json={"version": 1})
    assert body_wins.json()["version"] == 1


async def test_versions_are_pages_when_asked(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    for number in range(2, 5):
        query = {"kind": "HogQLQuery", "query": f"SELECT {number}"}
        await endpoints.patch("/a", {"query": query})
    page = (await endpoints.get("/a/versions", limit=2, offset=1)).json()
    assert [each["version"] for each in page["results"]] == [3, 2]
    assert page["count"] == 4
    assert "offset=3" in page["next"]
    assert (await endpoints.get("/a/versions")).json()["next"] is None
    unknown = await endpoints.get("/a/versions/9")
    assert (unknown.status_code, "error" in unknown.json()) == (404, True)
    letters = await endpoints.get("/a/versions/nine")
    assert (letters.status_code, letters.json()["detail"]) == (404, "Not found.")
    missing = await endpoints.get("/b/versions")
    assert missing.status_code == 404
    assert (await endpoints.get("/a", version=9)).json()["current_version"] == 4


async def test_routes_that_do_not_exist(endpoints: EndpointWorld) -> None:
    bulk = await endpoints.post("/bulk_update_tags", {})
    assert (bulk.status_code, bulk.json()["code"]) == (405, "method_not_allowed")
    assert (await endpoints.get("/last_execution_times")).status_code == 404


async def test_a_query_change_that_cannot_be_kept_tells_so(endpoints: EndpointWorld) -> None:
    await endpoints.add_variable("least", "Number", 1)
    await endpoints.create("SELECT 1", name="a", is_materialized=True)
    sql = "SELECT event, count() AS n FROM events GROUP BY event HAVING n > {variables.least}"
    changed = await endpoints.patch("/a", {"query": {"kind": "HogQLQuery", "query": sql}})
    assert changed.status_code == 200
    record = changed.json()
    assert record["current_version"] == 2
    assert record["is_materialized"] is False
    assert "HAVING" in record["materialization_error"]
    assert (await endpoints.get("/a", version=1)).json()["is_materialized"] is True


async def test_last_executed_is_told_by_version(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    await endpoints.patch("/a", {"query": {"kind": "HogQLQuery", "query": "SELECT 2"}})
    await endpoints.ran("a", version=1)
    assert (await endpoints.get("/a")).json()["last_executed_at"] == "2026-01-05T12:00:00.000000Z"
    versions = (await endpoints.get("/a/versions")).json()["results"]
    assert [each["last_executed_at"] is None for each in versions] == [True, False]


async def test_unused_tables_are_given_up_after_a_month(endpoints: EndpointWorld) -> None:
    for name in ("used", "unused", "never"):
        await endpoints.create(f"SELECT '{name}'", name=name, is_materialized=True)
    await endpoints.ran("used")
    await endpoints.ran("unused")
    endpoints.world.clock.at += timedelta(days=29)
    await endpoints.ran("used", refresh="force")
    await endpoints.services.query_log.flush()
    endpoints.world.clock.at += timedelta(days=2)
    await endpoints.services.jobs.housekeeping.clean_up()
    is_materialized = {
        each["name"]: each["is_materialized"]
        for each in (await endpoints.get("")).json()["results"]
    }
    assert is_materialized == {"used": True, "unused": False, "never": True}


async def test_types_that_only_the_engine_knows(endpoints: EndpointWorld) -> None:
    await endpoints.add_variable("plan", "String", "pro")
    record = await endpoints.create(
        "SELECT tuple(1, 'a').2 AS text, map('k', 1)['k'] AS number, "
        "JSONExtract(properties, 'a', 'Array(Float64)') AS list, "
        "tupleElement(tuple({variables.plan}, now()), 2) AS at FROM events"
    )
    kinds = {column["name"]: column["type"] for column in record["columns"]}
    assert kinds == {"text": "string", "number": "integer", "list": "array", "at": "datetime"}


async def test_what_has_no_type_cannot_be_answered(endpoints: EndpointWorld) -> None:
    record = await endpoints.create("SELECT uniqState(event) AS state FROM events", name="a")
    assert record["columns"] == [{"name": "state", "type": "unknown"}]
    answer = await endpoints.run("a")
    assert (answer.status_code, answer.json()["type"]) == (400, "validation_error")
    assert "uniqState() returns the state of an aggregate" in answer.json()["detail"]
