"""The document is valid OpenAPI and says what the specification's section 8 says."""

from openapi_spec_validator import validate

from hoglet.endpoints.openapi import OpenApiColumn, OpenApiFacts, OpenApiVariable, openapi_document


def facts(**changes):
    given = {
        "name": "daily-views",
        "description": "",
        "version": 2,
        "current_version": 3,
        "site_url": "http://localhost:8000",
        "path": "/api/projects/1/endpoints/daily-views/run",
        "is_hogql": True,
        "takes_filters": False,
    }
    return OpenApiFacts(**(given | changes))


def test_a_plain_query():
    document = openapi_document(facts())
    validate(document)

    operation = document["paths"]["/api/projects/1/endpoints/daily-views/run"]["post"]
    assert document["info"]["version"] == "2"
    assert operation["operationId"] == "run_daily_views"
    assert operation["requestBody"]["required"] is False
    assert set(document["components"]["schemas"]) == {"EndpointRunRequest"}


def test_variables_are_typed_and_required_ones_marked():
    variables = [
        OpenApiVariable(name="plan", required=True),
        OpenApiVariable(name="since", type="Date", default="2026-01-05"),
    ]
    document = openapi_document(facts(variables=variables))
    validate(document)

    schemas = document["components"]["schemas"]
    assert schemas["EndpointRunRequest"]["required"] == ["variables"]
    assert schemas["Variables"]["required"] == ["plan"]
    assert schemas["Variables"]["additionalProperties"] is False
    since = schemas["Variables"]["properties"]["since"]
    assert (since["type"], since["format"], since["example"]) == ("string", "date", "2026-01-05")


def test_an_insight_takes_filters_but_no_paging():
    document = openapi_document(facts(is_hogql=False, takes_filters=True))
    validate(document)

    request = document["components"]["schemas"]["EndpointRunRequest"]["properties"]
    assert "filters_override" in request
    assert "limit" not in request


def test_rows_carry_the_types_of_the_columns():
    columns = [
        OpenApiColumn(name="day", type="date", nullable=False),
        OpenApiColumn(name="views", type="integer"),
    ]
    document = openapi_document(facts(columns=columns))
    validate(document)

    path = document["paths"]["/api/projects/1/endpoints/daily-views/run"]
    answer = path["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    cells = answer["properties"]["results"]["items"]["items"]["anyOf"]
    assert cells == [
        {"type": "string", "format": "date"},
        {"type": "integer", "nullable": True},
    ]
