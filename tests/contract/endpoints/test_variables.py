"""Variables of HogQL endpoints.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies and
docs/spec/query-endpoints.md#52-variables.
"""

from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import update

from hoglet.access.tables import VariableRow
from support.endpoints import EndpointWorld

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)


async def test_07_defaults_overrides_and_unknown_names(endpoints: EndpointWorld) -> None:
    await endpoints.add_events(
        [("$pageview", AT, "u", "{}"), ("$pageview", AT, "v", "{}"), ("$pageleave", AT, "u", "{}")]
    )
    await endpoints.add_variable("event_name", "String", "$pageview")
    sql = "SELECT event, count() FROM events WHERE event = {variables.event_name} GROUP BY event"
    record = await endpoints.create(sql, name="a")
    assert [v["value"] for v in record["query"]["variables"].values()] == ["$pageview"]
    assert (await endpoints.ran("a"))["results"] == [["$pageview", 2]]
    other = await endpoints.ran("a", variables={"event_name": "$pageleave"})
    assert other["results"] == [["$pageleave", 1]]
    assert other["columns"] == ["event", "count()"]
    assert other["types"] == [["event", "String"], ["count()", "UInt64"]]
    nothing = await endpoints.ran("a", variables={"event_name": None})
    assert nothing["results"] == []
    unknown = await endpoints.run("a", variables={"nonexistent_var": 1, "b": 2})
    assert (unknown.status_code, unknown.json()["attr"]) == (400, "variables")
    assert "b, nonexistent_var" in unknown.json()["detail"]
    assert "event_name" in unknown.json()["detail"]


async def test_text_becomes_the_variables_type(endpoints: EndpointWorld) -> None:
    for name, kind in {"n": "Number", "f": "Boolean", "l": "List", "d": "Date"}.items():
        await endpoints.add_variable(name, kind)
    await endpoints.create("SELECT {variables.n} + 1, {variables.f}, {variables.d}", name="a")
    await endpoints.create("SELECT number FROM numbers(5) WHERE number IN {variables.l}", name="b")
    answer = await endpoints.ran("a", variables={"n": "41", "f": "true", "d": "2026-01-05"})
    assert answer["results"] == [[42, True, "2026-01-05"]]
    assert (await endpoints.ran("b", variables={"l": [1, 3]}))["results"] == [[1], [3]]
    for wrong in ({"n": "many"}, {"f": "perhaps"}, {"d": "someday"}, {"n": {"a": 1}}):
        refused = await endpoints.run("a", variables=wrong)
        assert (refused.status_code, refused.json()["attr"]) == (400, "variables"), wrong


async def test_values_are_bound_never_spliced(endpoints: EndpointWorld) -> None:
    await endpoints.add_variable("x", "String")
    await endpoints.create("SELECT {variables.x} AS x", name="a")
    for hostile in ("' OR 1=1 --", "\\", "{y:String}", "a\tb\n", "%s", "é☃", "{variables.x}"):
        answer = await endpoints.ran("a", variables={"x": hostile})
        assert answer["results"] == [[hostile]]


async def test_definitions_are_checked_at_save(endpoints: EndpointWorld) -> None:
    identifier = await endpoints.add_variable("known", "String", "k")

    async def save(sql: str, variables: object) -> tuple[int, object]:
        query = {"kind": "HogQLQuery", "query": sql, "variables": variables}
        response = await endpoints.post("", endpoints.body(query))
        return response.status_code, response.json()

    status, problem = await save("SELECT {variables.missing}", None)
    assert (status, problem["attr"]) == (400, "query")
    assert "missing" in problem["detail"]
    status, problem = await save("SELECT {variables.known}", {"not-a-uuid": {}})
    assert (status, problem["attr"]) == (400, "query")
    stranger = "0199c7b2-0000-7000-8000-000000000001"
    status, problem = await save("SELECT 1", {stranger: {"code_name": "x"}})
    assert (status, problem["attr"]) == (400, "query")
    status, record = await save("SELECT 1", {identifier: {"code_name": "known"}})
    assert (status, record["query"]["variables"]) == (201, None)
    status, record = await save("SELECT {variables.known}", None)
    definition = {"variableId": identifier, "code_name": "known", "value": "k"}
    assert record["query"]["variables"] == {identifier: definition}


async def store_default(endpoints: EndpointWorld, variable: str, value: str) -> None:
    """Store a default without the check that the API makes, as earlier versions did."""
    async with endpoints.world.database.write() as session:
        changed = update(VariableRow).where(VariableRow.id == UUID(variable))
        await session.execute(changed.values(default_value=value))


async def test_values_and_defaults_that_do_not_fit_are_refused_at_save(
    endpoints: EndpointWorld,
) -> None:
    fits = await endpoints.add_variable("fits", "Number", 5)
    for kind, unfit in (("Number", "abc"), ("Boolean", "maybe"), ("Date", "someday")):
        name = kind.lower()
        await store_default(endpoints, await endpoints.add_variable(name, kind), unfit)
        response = await endpoints.post("", endpoints.body(f"SELECT {{variables.{name}}}"))
        assert (response.status_code, response.json()["attr"]) == (400, "query"), kind
        assert f'The value "{unfit}" of variable {name}' in response.json()["detail"]

    sent = {"kind": "HogQLQuery", "query": "SELECT {variables.fits}"}
    entry = {"variableId": fits, "code_name": "fits"}
    record = await endpoints.create({**sent, "variables": {fits: {**entry, "value": "7"}}})
    path = f"/{record['name']}"
    changed = {**sent, "variables": {fits: {**entry, "value": "seven"}}}
    response = await endpoints.patch(path, {"query": changed})
    assert (response.status_code, response.json()["attr"]) == (400, "query")
    changed["variables"][fits]["isNull"] = True
    response = await endpoints.patch(path, {"query": changed})
    assert response.status_code == 200, response.text


async def test_a_stored_query_whose_default_changed_later_can_still_be_read_and_renamed(
    endpoints: EndpointWorld,
) -> None:
    number = await endpoints.add_variable("n", "Number")
    record = await endpoints.create("SELECT {variables.n}", name="a")
    await store_default(endpoints, number, "many")

    assert (await endpoints.get("/a")).json()["query"] == record["query"]
    assert (await endpoints.patch("/a", {"description": "d"})).status_code == 200
    response = await endpoints.run("a")
    assert (response.status_code, response.json()["attr"]) == (400, "variables")
    assert 'The value "many" of variable n' in response.json()["detail"]


async def test_inline_runs_demand_what_openapi_lists(endpoints: EndpointWorld) -> None:
    """A variable without any value would be NULL, and ``= NULL`` finds who has no property."""
    await endpoints.add_variable("tenant", "String")
    await endpoints.add_variable("limit", "Number", 5)
    plan = await endpoints.add_variable("plan", "String")
    never = await endpoints.add_variable("never", "String")
    variables = {
        plan: {"code_name": "plan", "value": "pro"},
        never: {"code_name": "never", "isNull": True},
    }
    sql = (
        "SELECT {variables.tenant} AS t, {variables.limit} AS l, {variables.plan} AS p, "
        "{variables.never} AS n"
    )
    query = {"kind": "HogQLQuery", "query": sql, "variables": variables}
    await endpoints.create(query, name="a")

    document = (await endpoints.get("/a/openapi.json")).json()
    assert document["components"]["schemas"]["Variables"]["required"] == ["tenant"]
    for body in ({}, {"variables": None}, {"variables": {}}, {"variables": {"limit": 1}}):
        for refresh in ("blocking", "force_blocking", "force_async", "force_cache"):
            refused = await endpoints.run("a", refresh=refresh, **body)
            problem = refused.json()
            assert (refused.status_code, problem["code"]) == (400, "required"), (refresh, body)
            assert problem["attr"] == "variables"
            assert "tenant" in problem["detail"]
            assert "limit" not in problem["detail"]
    assert (await endpoints.ran("a", variables={"tenant": "x"}))["results"] == [
        ["x", 5, "pro", None]
    ]
    assert (await endpoints.ran("a", variables={"tenant": None}))["results"][0][0] is None
    assert (await endpoints.ran("a", variables={"tenant": ""}))["results"][0][0] == ""


async def test_unknown_variables_come_before_missing_ones(endpoints: EndpointWorld) -> None:
    await endpoints.add_variable("tenant", "String")
    await endpoints.create("SELECT {variables.tenant}", name="a")

    refused = await endpoints.run("a", variables={"tennant": "x"})

    assert refused.status_code == 400
    assert "tennant" in refused.json()["detail"]
    assert refused.json()["code"] != "required"


async def test_a_default_that_is_given_later_counts(endpoints: EndpointWorld) -> None:
    identifier = await endpoints.add_variable("tenant", "String")
    await endpoints.create("SELECT {variables.tenant} AS t", name="a")
    assert (await endpoints.run("a")).status_code == 400

    path = f"/api/projects/{endpoints.project_id}/insight_variables/{identifier}"
    await endpoints.client.patch(path, json={"default_value": "acme"})
    endpoints.services.runner.forget()

    assert (await endpoints.ran("a"))["results"] == [["acme"]]
    document = (await endpoints.get("/a/openapi.json")).json()
    assert "required" not in document["components"]["schemas"]["Variables"]
