"""openapi.json (docs/spec/query-endpoints.md#8-openapijson)."""

from typing import Any

import pytest
from openapi_spec_validator import validate

from support.endpoints import EndpointWorld


async def test_17_the_document_of_a_query_with_variables(endpoints: EndpointWorld) -> None:
    kinds = {"text": "String", "number": "Number", "flag": "Boolean", "day": "Date", "l": "List"}
    for name, kind in kinds.items():
        await endpoints.add_variable(name, kind, "x" if name == "text" else None)
    columns = ", ".join(f"{{variables.{name}}} AS {name}" for name in kinds)
    await endpoints.create(f"SELECT {columns}, 1 AS one", name="my-query", description="")
    response = await endpoints.get("/my-query/openapi.json")

    assert response.status_code == 200, response.text
    document = response.json()
    validate(document)
    assert document["openapi"] == "3.0.3"
    assert (document["info"]["title"], document["info"]["version"]) == ("my-query", "1")
    assert document["servers"] == [{"url": "http://h"}]
    operation = document["paths"][f"{endpoints.base}/my-query/run"]["post"]
    assert operation["operationId"] == "run_my_query"
    assert operation["requestBody"]["required"] is True
    schemas = document["components"]["schemas"]
    variables = schemas["Variables"]["properties"]
    assert [(v["type"], v.get("format")) for v in variables.values()] == [
        ("string", None),
        ("number", None),
        ("boolean", None),
        ("string", "date"),
        ("array", None),
    ]
    assert variables["text"]["example"] == "x"
    assert schemas["Variables"]["required"] == ["number", "flag", "day", "l"]
    assert schemas["EndpointRunRequest"]["required"] == ["variables"]
    assert "filters_override" not in schemas["EndpointRunRequest"]["properties"]
    scheme = document["components"]["securitySchemes"]["PersonalAPIKey"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")


async def test_filters_are_described_where_they_are_allowed(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT count() FROM events WHERE {filters}", name="a")
    document = (await endpoints.get("/a/openapi.json")).json()

    validate(document)
    assert {"DashboardFilter", "PropertyFilter"} <= set(document["components"]["schemas"])
    assert "Variables" not in document["components"]["schemas"]


async def test_rows_are_described_by_their_columns(endpoints: EndpointWorld) -> None:
    query = "SELECT count() AS n, max(timestamp) AS `last seen`, any(uuid) AS id FROM events"
    await endpoints.create(query, name="a")
    contents = await _contents(endpoints, "a")

    row = contents["application/json"]["schema"]["properties"]["results"]["items"]
    whole = {"type": "integer", "format": "int64"}
    instant = {"type": "string", "format": "date-time"}
    uuid = {"type": "string", "format": "uuid"}
    assert row["x-columns"] == [
        {"name": "n", "type": "integer", "schema": whole},
        {"name": "last seen", "type": "datetime", "schema": instant},
        {"name": "id", "type": "string", "schema": uuid},
    ]
    assert row["items"] == {"anyOf": [whole, instant, uuid]}
    assert row["minItems"] == row["maxItems"] == len(row["example"]) == 3


async def test_what_may_be_null_and_what_is_plain_text(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT event, properties.$browser, timestamp FROM events", name="a")
    row = (await _contents(endpoints, "a"))["application/json"]["schema"]["properties"]["results"]

    # any text might look like a time, so a client must not read the rows' texts as times
    text = {"type": "string"}
    assert row["items"]["items"] == {"anyOf": [text, text | {"nullable": True}]}
    assert row["items"]["x-columns"][2]["schema"] == text | {"format": "date-time"}


@pytest.mark.parametrize(
    "columns",
    [
        "1 AS `a b`, 2 AS `$x`, 3 AS `größe`, 4 AS `日本`, 5 AS `</script>`, 6 AS `a.b`",
        "1 AS a, 2 AS a",
        "NULL, [], (1, 'x'), map('a', 1), 0 / 0, toDate('2026-01-05'), 1 = 1, true",
        "*",
    ],
)
async def test_odd_columns(endpoints: EndpointWorld, columns: str) -> None:
    endpoint = await endpoints.create(f"SELECT {columns} FROM events", name="a")
    contents = await _contents(endpoints, "a")

    row = contents["application/json"]["schema"]["properties"]["results"]["items"]
    assert [column["name"] for column in row["x-columns"]] == [
        column["name"] for column in endpoint["columns"]
    ]


async def test_insights_have_items(endpoints: EndpointWorld) -> None:
    await endpoints.create({"kind": "TrendsQuery", "series": [{"kind": "EventsNode"}]}, name="a")
    contents = await _contents(endpoints, "a")

    item = contents["application/json"]["schema"]["properties"]["results"]["items"]
    assert item["properties"]["data"]["items"] == {"type": "number", "nullable": True}
    # one form only: a generated client would give a union of all
    assert list(contents) == ["application/json"]


async def _contents(endpoints: EndpointWorld, name: str) -> dict[str, Any]:
    document = (await endpoints.get(f"/{name}/openapi.json/")).json()
    validate(document)
    operation = document["paths"][f"{endpoints.base}/{name}/run"]["post"]
    return operation["responses"]["200"]["content"]


@pytest.mark.parametrize(("compares", "kind"), [(False, "object"), (True, "array")])
async def test_times_to_convert_are_one_object(
    endpoints: EndpointWorld, compares: bool, kind: str
) -> None:
    query = {
        "kind": "FunnelsQuery",
        "series": [{"event": "$pageview"}, {"event": "paid"}],
        "funnelsFilter": {"funnelVizType": "time_to_convert"},
        "compareFilter": {"compare": compares},
    }
    await endpoints.create(query, name="times")

    contents = await _contents(endpoints, "times")

    results = contents["application/json"]["schema"]["properties"]["results"]
    answer = await endpoints.ran("times")
    assert results["type"] == kind
    assert ("bins" in answer["results"]) == (kind == "object")
    assert ("bins" in results.get("properties", {})) == (kind == "object")


async def test_unknown_endpoint_and_version(endpoints: EndpointWorld) -> None:
    await endpoints.create(name="a", is_active=False)
    assert (await endpoints.get("/nope/openapi.json")).status_code == 404
    assert (await endpoints.get("/a/openapi.json")).status_code == 200
    unknown = await endpoints.get("/a/openapi.json", version=9)
    assert unknown.status_code == 404
    assert "error" in unknown.json()


async def test_one_document_for_all_endpoints(endpoints: EndpointWorld) -> None:
    await endpoints.add_variable("plan", "String")
    await endpoints.create("SELECT {variables.plan} AS plan", name="by-plan")
    await endpoints.create("SELECT {variables.plan} AS plan", name="by_plan")
    await endpoints.create("SELECT count() FROM events WHERE {filters}", name="filtered")
    await endpoints.create("SELECT 1", name="hidden", is_active=False)
    document = (await endpoints.get("/openapi.json")).json()

    validate(document)
    runs = {path.split("/")[-2]: item["post"] for path, item in document["paths"].items()}
    assert set(runs) == {"by-plan", "by_plan", "filtered"}
    ids = [run["operationId"] for run in runs.values()]
    assert len(set(ids)) == 3
    schemas = set(document["components"]["schemas"])
    assert {"ByPlanVariables", "ByPlan2Variables", "FilteredRunRequest"} <= schemas
    assert "PropertyFilter" in schemas
