"""System tables: tenancy, scopes, live rows, joins, no secrets.

Source: docs/spec/data-and-queries.md#6-system-tables and
docs/spec/data-and-queries.md#8-acceptance-cases.
"""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from hoglet.access.principals import Principal
from hoglet.access.tables import ActivityRow, ProjectRow
from hoglet.cohorts.tables import CohortCalculationRow
from hoglet.definitions.tables import EventDefinitionRow, PropertyDefinitionRow
from hoglet.endpoints.run.plan import readable_system_tables
from hoglet.endpoints.run.system_rows import SystemRows
from hoglet.events.tables import GroupTypeRow, IngestionWarningRow
from hoglet.functions.tables import ActionRow, HogFunctionRow, IntegrationRow
from hoglet.hogql.schema.system import (
    ROW_SOURCES,
    SYSTEM_TABLES,
)
from hoglet.kit.clock import new_id
from support.access import NOW
from support.cohorts import cohort_row
from support.queries import QueryWorld
from support.seeds import thinned

type Json = dict[str, Any]

NOW_TEXT = "2026-01-05T12:00:00Z"
FILTERS = {"events": [{"id": "$pageview", "name": 'it\'s \\ "quoted"\n\tü 😀'}]}
OTHER = 1
"""The first project, which exists in every world beside the world's own project."""


def a_function(project_id: int, **fields: Any) -> HogFunctionRow:
    values: Json = {
        "id": new_id(),
        "project_id": project_id,
        "type": "destination",
        "name": "Mine",
        "description": "",
        "created_at": NOW,
        "updated_at": NOW,
        "created_by": 1,
        "enabled": True,
        "deleted": False,
        "hog": "return 'SECRET_CODE'",
        "inputs_schema": [{"key": "url", "type": "string"}],
        "inputs": {"token": {"value": "SECRET_INPUT"}},
        "secrets": "SECRET_SEALED",
        "filters": FILTERS,
        "matcher": {},
        "version": 1,
        "state": 1,
    }
    return HogFunctionRow(**values | fields)


def an_integration(project_id: int) -> IntegrationRow:
    return IntegrationRow(
        project_id=project_id,
        kind="slack",
        config={
            "team": {"id": "T1", "name": "Acme", "bot_token": "SECRET_NESTED"},
            "api_key": "SECRET_KEY",
        },
        secrets="SECRET_SEALED",
        placeholder=f"SECRET_PLACEHOLDER{project_id}",
        created_at=NOW,
        updated_at=NOW,
        created_by=1,
    )


def everything(project_id: int) -> list[Any]:
    """A record of every kind that is not made by an endpoint's own routes."""
    return [
        a_function(project_id),
        an_integration(project_id),
        ActionRow(
            project_id=project_id,
            name=None,
            description="d",
            steps=[{"event": "a"}],
            deleted=False,
            created_at=NOW,
            updated_at=NOW,
        ),
        ActivityRow(
            id=new_id(),
            project_id=project_id,
            activity="created",
            scope="HogFunction",
            item_id=None,
            detail={"name": "x", "changes": []},
            created_at=NOW,
        ),
        PropertyDefinitionRow(
            project_id=project_id,
            kind="group_3",
            name="price",
            property_type="Numeric",
            tags=["a"],
            verified=True,
            verified_at=NOW,
            verified_by_id=1,
            first_seen_at=NOW,
            unconverted_share=0.25,
        ),
        PropertyDefinitionRow(
            project_id=project_id, kind="event", name="gone", is_deleted=True, first_seen_at=NOW
        ),
        EventDefinitionRow(project_id=project_id, name="a", created_at=NOW, owner_id=1),
        IngestionWarningRow(
            project_id=project_id,
            kind="missing_distinct_id",
            day=NOW.date(),
            count=2,
            example={"detail": "x"},
            last_at=NOW,
        ),
        GroupTypeRow(project_id=project_id, group_type="company", group_index=0),
    ]


async def add(queries: QueryWorld, *rows: Any) -> None:
    async with queries.endpoints.world.database.write() as session:
        session.add_all(rows)


async def fill(queries: QueryWorld) -> None:
    """The same records in this project and in another one, and a group in both."""
    endpoints = queries.endpoints
    await add(queries, *everything(endpoints.project_id), *everything(OTHER))
    await endpoints.add_variable("plan", "List", "pro")
    await endpoints.create("SELECT 1 AS one", name="saved")
    columns = ("project_id", "index", "key", "created_at", "updated_at", "properties", "version")
    rows = [
        (project, 0, "acme", NOW, NOW, '{"plan":"pro"}', 1)
        for project in (endpoints.project_id, OTHER)
    ]
    await endpoints.warehouse.insert("groups", columns, rows)


async def records(queries: QueryWorld, sql: str) -> list[Json]:
    body = await queries.ran(sql)
    return [dict(zip(body["columns"], row, strict=True)) for row in body["results"]]


async def only_record(queries: QueryWorld, table: str) -> Json:
    """The only row of a table, every column of it."""
    (record,) = await records(queries, f"SELECT * FROM system.{table}")
    assert list(record) == list(SYSTEM_TABLES[f"system.{table}"].table.fields)
    assert record["team_id"] == queries.endpoints.project_id
    return record


async def test_every_table_has_a_reader(queries: QueryWorld) -> None:
    executor: Any = queries.endpoints.services.runner._executor
    readers = set(executor._system_rows._readers)
    loaded = {name for name, each in SYSTEM_TABLES.items() if each.table.physical in ROW_SOURCES}
    assert readers == loaded


async def test_functions_without_inputs_and_code(queries: QueryWorld) -> None:
    await fill(queries)
    record = await only_record(queries, "hog_functions")
    assert json.loads(record["filters"]) == FILTERS
    assert json.loads(record["inputs_schema"]) == [{"key": "url", "type": "string"}]
    assert (record["name"], record["enabled"], record["deleted"]) == ("Mine", 1, 0)
    assert (record["icon_url"], record["execution_order"]) == (None, None)
    assert record["created_at"] == record["updated_at"] == NOW_TEXT
    assert "SECRET" not in json.dumps(record)


async def test_integrations_without_secrets(queries: QueryWorld) -> None:
    await fill(queries)
    record = await only_record(queries, "integrations")
    assert json.loads(record["config"]) == {"team": {"id": "T1", "name": "Acme"}}
    assert (record["kind"], record["integration_id"]) == ("slack", "T1")
    assert (record["errors"], record["created_by_id"]) == ("SECRETS_UNREADABLE", 1)
    assert "SECRET_" not in json.dumps(record)


async def test_actions_and_activity(queries: QueryWorld) -> None:
    await fill(queries)
    action = await only_record(queries, "actions")
    assert (action["name"], action["description"], action["deleted"]) == (None, "d", 0)
    assert json.loads(action["steps_json"]) == [{"event": "a"}]
    entries = await records(
        queries, "SELECT * FROM system.activity_logs WHERE scope = 'HogFunction'"
    )
    (entry,) = entries
    assert (entry["activity"], entry["item_id"], entry["created_at"]) == ("created", None, NOW_TEXT)
    assert json.loads(entry["detail"]) == {"name": "x", "changes": []}


async def test_cohorts_and_their_calculations(queries: QueryWorld) -> None:
    for project_id in (queries.endpoints.project_id, OTHER):
        cohort = cohort_row(project_id, name="Paying", version=1, count=3)
        await add(queries, cohort)
        await add(queries, a_calculation(project_id, cohort.id))
    record = await only_record(queries, "cohorts")
    assert (record["name"], record["deleted"], record["is_static"]) == ("Paying", 0, 0)
    assert json.loads(record["filters"]) == {"properties": {"type": "OR", "values": []}}
    assert (record["query"], record["groups"], record["count"]) == (None, "[]", 3)
    assert (record["version"], record["last_calculation"], record["created_at"]) == (
        1,
        None,
        NOW_TEXT,
    )
    calculation = await only_record(queries, "cohort_calculation_history")
    assert (calculation["cohort_id"], calculation["count"]) == (record["id"], 3)
    assert (calculation["started_at"], calculation["finished_at"]) == (NOW_TEXT, None)
    assert calculation["error_code"] is None


def a_calculation(project_id: int, cohort_id: int) -> CohortCalculationRow:
    return CohortCalculationRow(
        cohort_id=cohort_id, project_id=project_id, version=1, count=3, started_at=NOW
    )


async def test_variables_and_teams(queries: QueryWorld) -> None:
    await fill(queries)
    variable = await only_record(queries, "insight_variables")
    assert (variable["name"], variable["type"], variable["code_name"]) == ("plan", "List", "plan")
    assert (variable["values"], variable["default_value"]) == (None, '"pro"')
    team = await only_record(queries, "teams")
    assert team["id"] == queries.endpoints.project_id
    assert (team["name"], team["timezone"]) == ("Another", "UTC")
    assert (team["test_account_filters"], team["created_at"]) == ("[]", NOW_TEXT)


async def test_endpoints_and_versions(queries: QueryWorld) -> None:
    await fill(queries)
    endpoints = queries.endpoints
    endpoint = await only_record(queries, "data_modeling_endpoints")
    assert (endpoint["name"], endpoint["is_active"], endpoint["deleted"]) == ("saved", 1, 0)
    assert (endpoint["current_version"], endpoint["last_executed_at"]) == (1, None)
    version = await only_record(queries, "data_modeling_endpoint_versions")
    assert (version["endpoint_id"], version["version"]) == (endpoint["id"], 1)
    assert json.loads(version["query"])["query"] == "SELECT 1 AS one"
    assert json.loads(version["columns"]) == [{"name": "one", "type": "integer"}]
    assert version["data_freshness_seconds"] > 0
    assert version["is_active"] == 1
    await endpoints.client.delete(f"{endpoints.base}/saved/")
    for table in ("data_modeling_endpoints", "data_modeling_endpoint_versions"):
        assert await records(queries, f"SELECT * FROM system.{table}") == []


async def test_definitions(queries: QueryWorld) -> None:
    await fill(queries)
    known = await only_record(queries, "property_definitions")
    assert (known["name"], known["type"], known["group_type_index"]) == ("price", "group", 3)
    assert (known["property_type"], known["is_numerical"], known["verified"]) == ("Numeric", 1, 1)
    assert (known["tags"], known["hidden"], known["updated_by"]) == ('["a"]', 0, None)
    assert json.loads(known["verified_by"])["id"] == 1
    assert (known["unconverted_share"], known["verified_at"]) == (0.25, NOW_TEXT)
    event = await only_record(queries, "event_definitions")
    assert (event["name"], event["last_seen_at"], event["is_action"]) == ("a", None, 0)
    assert json.loads(event["owner"])["id"] == 1


async def test_warnings_and_groups(queries: QueryWorld) -> None:
    await fill(queries)
    warning = await only_record(queries, "ingestion_warnings")
    assert (warning["source"], warning["type"]) == ("ingestion", "missing_distinct_id")
    assert json.loads(warning["details"]) == {"detail": "x", "count": 2}
    assert warning["timestamp"] == NOW_TEXT
    mapping = await only_record(queries, "group_type_mappings")
    assert (mapping["group_type"], mapping["group_type_index"], mapping["id"]) == ("company", 0, 0)
    group = await only_record(queries, "groups")
    assert (group["id"], group["index"], group["key"]) == ("0:acme", 0, "acme")
    assert json.loads(group["properties"]) == {"plan": "pro"}
    body = await queries.ran("SELECT properties.plan FROM system.groups")
    assert body["results"] == [["pro"]]


@pytest.mark.parametrize("table", thinned(sorted(SYSTEM_TABLES), 4))
async def test_every_column_can_be_named_alone(queries: QueryWorld, table: str) -> None:
    await fill(queries)
    whole = await records(queries, f"SELECT * FROM {table} ORDER BY id")
    for column in SYSTEM_TABLES[table].table.fields:
        body = await queries.ran(f"SELECT t.{column} FROM {table} AS t ORDER BY t.id")
        expected = [record[column] for record in whole]
        assert [row[0] for row in body["results"]] == expected, column
    counted = await queries.ran(f"SELECT count() FROM {table}")
    assert counted["results"] == [[len(whole)]]


async def test_documents_are_read_by_dots_and_functions(queries: QueryWorld) -> None:
    await fill(queries)
    body = await queries.ran(
        "SELECT filters.events.1.id, JSONExtractString(filters, 'events', 1, 'id'), "
        "JSONLength(inputs_schema) FROM system.hog_functions WHERE filters.events.1.id != ''"
    )
    assert body["results"] == [["$pageview", "$pageview", 1]]


async def test_missing_documents_are_null(queries: QueryWorld) -> None:
    await fill(queries)
    body = await queries.ran(
        "SELECT values IS NULL, values.x, count() FROM system.insight_variables "
        "WHERE values IS NULL GROUP BY 1, 2"
    )
    assert body["results"] == [[1, None, 1]]


async def test_times_are_in_utc(queries: QueryWorld) -> None:
    async with queries.endpoints.world.database.write() as session:
        row = await session.get(ProjectRow, queries.endpoints.project_id)
        assert row is not None
        row.timezone = "Europe/Berlin"
    await fill(queries)
    body = await queries.ran(
        "SELECT toString(created_at), toHour(created_at), created_at >= '2026-01-05 12:00:00' "
        "FROM system.actions"
    )
    assert body["results"][0][:2] == ["2026-01-05 12:00:00.000000", 12]


async def test_tables_join_with_events_and_each_other(queries: QueryWorld) -> None:
    await fill(queries)
    at = NOW - timedelta(hours=1)
    await queries.endpoints.add_events([("a", at, "u", "{}"), ("b", at, "u", "{}")])
    body = await queries.ran(
        "SELECT e.event, d.name, t.name, count() FROM events AS e "
        "LEFT JOIN system.event_definitions AS d ON d.name = e.event "
        "JOIN system.teams AS t ON 1 = 1 "
        "WHERE e.event IN (SELECT name FROM system.event_definitions) OR e.event = 'b' "
        "GROUP BY 1, 2, 3 ORDER BY 1"
    )
    assert body["results"][0] == ["a", "a", "Another", 1]
    body = await queries.ran(
        "WITH f AS (SELECT id FROM system.hog_functions) SELECT count() FROM f "
        "UNION ALL SELECT count() FROM system.hog_functions x "
        "JOIN system.hog_functions y ON x.id = y.id"
    )
    assert body["results"] == [[1], [1]]


@pytest.mark.parametrize("table", sorted(SYSTEM_TABLES))
async def test_a_key_without_the_scope_is_refused(queries: QueryWorld, table: str) -> None:
    scope = SYSTEM_TABLES[table].scope
    others = {each.scope for each in SYSTEM_TABLES.values()} - {scope}
    denied = await with_scopes(queries, f"SELECT count() FROM {table}", "query:read", *others)
    assert denied.status_code == 400, denied.text
    problem = denied.json()
    assert (problem["type"], problem["code"]) == ("validation_error", "table_access_denied")
    assert table in problem["detail"]
    assert scope in problem["detail"]
    for allowed in (scope, scope.replace(":read", ":write")):
        response = await with_scopes(queries, f"SELECT count() FROM {table}", "query:read", allowed)
        assert response.status_code == 200, response.text


async def with_scopes(queries: QueryWorld, sql: str, *scopes: str, **body: Any) -> httpx.Response:
    key = await queries.endpoints.world.add_key(scopes)
    return await queries.client.post(
        f"{queries.base}/",
        json={"query": {"kind": "HogQLQuery", "query": sql}, **body},
        headers={"Authorization": f"Bearer {key}"},
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 WHERE 1 IN (SELECT id FROM system.actions)",
        "WITH a AS (SELECT id FROM system.actions) SELECT * FROM a",
        "SELECT (SELECT count() FROM system.actions)",
        "SELECT 1 UNION ALL SELECT id FROM system.actions",
        "SELECT count() FROM events JOIN system.actions AS a ON 1 = 1",
        "SELECT * FROM `system`.`actions`",
        'SELECT * FROM "system" /* x */ . "actions"',
    ],
)
async def test_no_place_of_a_query_escapes_the_scope(queries: QueryWorld, sql: str) -> None:
    await fill(queries)
    assert (await queries.send(sql)).status_code == 200
    response = await with_scopes(queries, sql, "query:read")
    assert (response.status_code, response.json()["code"]) == (400, "table_access_denied")


@pytest.mark.parametrize(
    "name",
    [
        "system.dashboards", "system.insights", "system.feature_flags", "system.surveys",
        "system.data_warehouse_sources", "system.tables", "system.one", "system.users", "system",
        "hog_functions", "rows_of_actions", "system.rows_of_actions", "SYSTEM.actions",
        "system.Actions", "system.actions.x",
    ],
)  # fmt: skip
async def test_unknown_tables(queries: QueryWorld, name: str) -> None:
    status, code, _ = await queries.refused(f"SELECT * FROM {name}")
    assert (status, code) == (400, "unknown_table")


async def test_a_near_name_is_suggested(queries: QueryWorld) -> None:
    response = await queries.send("SELECT * FROM system.hog_function")
    assert "system.hog_functions" in response.json()["detail"]


@pytest.mark.parametrize("word", ["blocking", "force_cache", "async_except_on_cache_miss"])
@pytest.mark.parametrize(
    "sql", ["SELECT name FROM system.actions", 'SELECT name FROM "system"."actions"']
)
async def test_records_are_read_live(queries: QueryWorld, word: str, sql: str) -> None:
    await fill(queries)
    first = await queries.ran(sql, refresh="blocking")
    assert first["results"] == [[None]]
    async with queries.endpoints.world.database.write() as session:
        for row in everything(queries.endpoints.project_id):
            if isinstance(row, ActionRow):
                session.add(row)
    second = await queries.ran(sql, refresh=word)
    assert (len(second["results"]), second["is_cached"]) == (2, False)


async def test_endpoints_run_with_the_scopes_of_the_caller(queries: QueryWorld) -> None:
    await fill(queries)
    endpoints = queries.endpoints
    saved = await endpoints.create("SELECT id, name FROM system.actions", name="live")
    assert saved["columns"] == [
        {"name": "id", "type": "integer"},
        {"name": "name", "type": "string"},
    ]
    for _ in range(2):
        body = await endpoints.ran("live")
        assert (body["results"][0][1], len(body["results"])) == (None, 1)
        assert body.get("is_cached", False) is False
    allowed = await run_as(queries, "live", "endpoint:read", "action:read")
    assert allowed.status_code == 200
    denied = await run_as(queries, "live", "endpoint:read")
    assert (denied.status_code, denied.json()["code"]) == (400, "table_access_denied")
    assert "action:read" in denied.json()["detail"]


async def run_as(queries: QueryWorld, name: str, *scopes: str) -> httpx.Response:
    endpoints = queries.endpoints
    key = await endpoints.world.add_key(scopes)
    headers = {"Authorization": f"Bearer {key}"}
    return await endpoints.client.post(f"{endpoints.base}/{name}/run", json={}, headers=headers)


async def test_system_tables_are_not_materialized(queries: QueryWorld) -> None:
    endpoints = queries.endpoints
    body = endpoints.body("SELECT count() AS n FROM system.actions", is_materialized=True)
    response = await endpoints.post("", body)
    assert (response.status_code, response.json()["attr"]) == (400, "is_materialized")
    assert "system.actions" in response.json()["detail"]


async def test_background_runs(queries: QueryWorld) -> None:
    await fill(queries)
    sql = "SELECT name FROM system.hog_functions"
    started = await queries.send(sql, refresh="async", client_query_id="live")
    assert started.status_code == 202
    await queries.services.worker.drain()
    done = (await queries.get("live")).json()["query_status"]
    assert done["results"]["results"] == [["Mine"]]
    denied = await with_scopes(queries, sql, "query:read", refresh="async", client_query_id="no")
    assert denied.status_code == 202
    await queries.services.worker.drain()
    status = await queries.get("no")
    assert status.status_code == 400
    assert status.json()["query_status"]["error_code"] == "table_access_denied"


async def test_more_rows_than_a_query_may_read_are_refused(queries: QueryWorld) -> None:
    endpoints = queries.endpoints
    await add(queries, *[a_function(endpoints.project_id, name="x" * 300) for _ in range(4)])
    database = endpoints.world.database
    executor: Any = endpoints.services.runner._executor
    readers = executor._system_rows._readers
    for bound in ({"max_rows": 3}, {"max_bytes": 1000}):
        executor._system_rows = SystemRows(database, readers, **bound)
        response = await queries.send("SELECT count() FROM system.hog_functions")
        assert (response.status_code, response.json()["code"]) == (400, "too_many_bytes")
        assert "system.hog_functions" in response.json()["detail"]
    executor._system_rows = SystemRows(database, readers, max_rows=4)
    assert (await queries.ran("SELECT count() FROM system.hog_functions"))["results"] == [[4]]


async def test_odd_texts_arrive_whole(queries: QueryWorld) -> None:
    odd = 'a\'b\\c\n\t"d" {v0:String} ü😀 \u2028 -- /* ; \x01'
    await add(queries, a_function(queries.endpoints.project_id, name=odd))
    await add(queries, a_function(queries.endpoints.project_id, filters={"a": "\ud800", "b": odd}))
    body = await queries.ran(
        "SELECT name, filters.a, filters.b FROM system.hog_functions ORDER BY length(name)"
    )
    assert body["results"] == [["Mine", "\ufffd", odd], [odd, None, None]]


def _key(scopes: set[str]) -> Principal:
    return Principal("personal", "key", frozenset(scopes))


async def test_scopes_open_their_tables() -> None:
    assert readable_system_tables(_key({"query:read"})) == ()
    assert readable_system_tables(_key({"*"})) == tuple(SYSTEM_TABLES)
    assert readable_system_tables(_key({"group:write"})) == (
        "system.groups",
        "system.group_type_mappings",
    )


async def test_editors_see_the_tables_that_the_key_may_read(queries: QueryWorld) -> None:
    tables = (await queries.ran({"kind": "DatabaseSchemaQuery"}))["tables"]
    assert set(SYSTEM_TABLES) <= set(tables)
    assert tables["system.cohorts"]["type"] == "system"
    assert tables["system.cohorts"]["fields"]["filters"]["type"] == "json"
    response = await node_with_scopes(queries, {"kind": "DatabaseSchemaQuery"}, "action:read")
    assert [each for each in response["tables"] if "system." in each] == ["system.actions"]


async def node_with_scopes(queries: QueryWorld, node: Json, *scopes: str) -> Json:
    key = await queries.endpoints.world.add_key(["query:read", *scopes])
    headers = {"Authorization": f"Bearer {key}"}
    response = await queries.client.post(f"{queries.base}/", json={"query": node}, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize(("scope", "is_valid"), [("action:read", True), ("cohort:read", False)])
async def test_metadata_knows_the_scopes(queries: QueryWorld, scope: str, is_valid: bool) -> None:
    sql = "SELECT id FROM system.actions"
    node = {"kind": "HogQLMetadata", "language": "hogQL", "query": sql}
    metadata = await node_with_scopes(queries, node, scope)
    assert (metadata["isValid"], bool(metadata["errors"])) == (is_valid, not is_valid)


async def test_a_query_is_explained_by_the_names_of_its_tables(queries: QueryWorld) -> None:
    node = {"kind": "HogQLQuery", "query": "SELECT id FROM system.actions", "explain": True}
    body = await queries.ran(node)
    assert any("Read system.actions" in line for line in body["explain"])


async def test_an_events_query_may_read_them_within(queries: QueryWorld) -> None:
    await fill(queries)
    at = NOW - timedelta(hours=1)
    await queries.endpoints.add_events([("a", at, "u", "{}"), ("b", at, "u", "{}")])
    where = "event IN (SELECT name FROM system.event_definitions)"
    node = {"kind": "EventsQuery", "select": ["event"], "where": [where]}
    assert (await queries.ran(node))["results"] == [["a"]]


WITH_DEFINITION = "event IN (SELECT name FROM system.event_definitions)"
IN_INSIGHTS: dict[str, Json] = {
    "filter": {
        "kind": "TrendsQuery",
        "series": [{"kind": "EventsNode", "event": None}],
        "properties": [{"type": "hogql", "key": WITH_DEFINITION}],
    },
    "filter of a series": {
        "kind": "TrendsQuery",
        "series": [{"properties": [{"type": "hogql", "key": WITH_DEFINITION}]}],
    },
    "formula": {
        "kind": "TrendsQuery",
        "series": [{"math": "hogql", "math_hogql": f"countIf({WITH_DEFINITION})"}],
    },
    "filter of a funnel": {
        "kind": "FunnelsQuery",
        "series": [{"kind": "EventsNode", "event": "a"}, {"kind": "EventsNode", "event": "b"}],
        "properties": [{"type": "hogql", "key": WITH_DEFINITION}],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", IN_INSIGHTS)
async def test_insights_may_read_them_within(queries: QueryWorld, name: str) -> None:
    await fill(queries)
    at = NOW - timedelta(hours=1)
    await queries.endpoints.add_events([("a", at, "u", "{}"), ("b", at, "u", "{}")])
    node = IN_INSIGHTS[name]

    first = await queries.ran(node)
    counted = first["results"][0]["count"]
    assert counted == 1  # of the two events one has a definition
    row = EventDefinitionRow(project_id=queries.endpoints.project_id, name="b", created_at=NOW)
    await add(queries, row)
    again = await queries.ran(node)

    assert again["is_cached"] is False
    if node["kind"] == "TrendsQuery":
        assert again["results"][0]["count"] == 2


@pytest.mark.parametrize("name", IN_INSIGHTS)
async def test_insights_need_the_scope(queries: QueryWorld, name: str) -> None:
    key = await queries.endpoints.world.add_key(["query:read"])
    response = await queries.client.post(
        f"{queries.base}/",
        json={"query": IN_INSIGHTS[name]},
        headers={"Authorization": f"Bearer {key}"},
    )
    assert (response.status_code, response.json()["code"]) == (400, "table_access_denied")


async def test_an_insight_that_reads_them_is_not_materialized(queries: QueryWorld) -> None:
    endpoints = queries.endpoints
    await endpoints.create(IN_INSIGHTS["filter"], name="kept")
    assert (await endpoints.ran("kept"))["results"][0]["count"] == 0
    response = await endpoints.patch("/kept", {"is_materialized": True})
    assert (response.status_code, response.json()["attr"]) == (400, "is_materialized")
    assert "system.event_definitions" in response.json()["detail"]
