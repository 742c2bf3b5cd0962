"""Variables of ad hoc queries: entries, defaults, NULL, lists, dates.

Source: docs/spec/data-and-queries.md#76-variables-inline.
"""

from datetime import datetime, timedelta
from typing import Any

import pytest

from support.queries import QueryWorld

type Json = dict[str, Any]


async def add(queries: QueryWorld, name: str, kind: str, default: Any = None, **more: Any) -> str:
    """Make a project variable; its id."""
    endpoints = queries.endpoints
    response = await endpoints.client.post(
        f"/api/projects/{endpoints.project_id}/insight_variables",
        json={"name": name, "type": kind, "default_value": default, **more},
    )
    assert response.status_code == 201, response.text
    assert response.json()["is_multi"] is bool(more.get("is_multi"))
    endpoints.services.runner.forget()
    return response.json()["id"]


def query(sql: str, **entries: Json) -> Json:
    """A node whose entries are by code name: ``x={"variableId": ..., "value": 1}``."""
    variables = {
        entry["variableId"]: {"code_name": name, **entry} for name, entry in entries.items()
    }
    return {"kind": "HogQLQuery", "query": sql, "variables": variables}


@pytest.mark.parametrize(
    ("default", "entry", "value"),
    [
        ("d", {}, "d"),
        ("d", {"value": None}, "d"),
        ("d", {"value": "v"}, "v"),
        ("d", {"value": ""}, ""),
        ("d", {"isNull": True}, None),
        ("d", {"isNull": True, "value": "v"}, None),
        ("d", {"isNull": False, "value": "v"}, "v"),
        (None, {}, None),
        (None, {"value": "v"}, "v"),
    ],
)
async def test_value_then_default_then_null(
    queries: QueryWorld, default: Any, entry: Json, value: Any
) -> None:
    identifier = await add(queries, "x", "String", default)
    body = await queries.ran(
        query("select {variables.x} as x", x={"variableId": identifier} | entry)
    )

    assert body["results"] == [[value]]


@pytest.mark.parametrize(
    ("kind", "unfit"),
    [("Number", "abc"), ("Number", ""), ("Boolean", "maybe"), ("Date", "abc")],
)
async def test_values_that_do_not_fit_the_type_are_refused(
    queries: QueryWorld, kind: str, unfit: Any
) -> None:
    identifier = await add(queries, "x", kind)
    entry = {"variableId": identifier, "value": unfit}

    response = await queries.send(query("select {variables.x} as x", x=entry))

    assert (response.status_code, response.json()["attr"]) == (400, "variables")
    assert "variable x is not a " + kind in response.json()["detail"]


async def test_an_id_of_another_project_is_told(queries: QueryWorld) -> None:
    await add(queries, "Plan", "String", "pro")

    entry = {"variableId": "01890000-0000-7000-8000-000000000001", "value": "free"}
    response = await queries.send(query("select {variables.plan}", plan=entry))

    assert response.status_code == 400
    assert response.json()["detail"] == 'The variable "plan" has another id in the project.'


async def test_without_an_entry_near_names_are_told(queries: QueryWorld) -> None:
    identifier = await add(queries, "tenant", "String", "acme")
    response = await queries.send(
        query("select {variables.tennant}", tenant={"variableId": identifier})
    )

    assert response.status_code == 400
    assert "tennant" in response.json()["detail"]
    assert "Did you mean 'tenant'?" in response.json()["detail"]


LISTS = [
    (True, {"value": ["a", "b"]}, ["a", "b"]),
    (True, {"value": "a"}, ["a"]),
    (True, {"value": []}, []),
    (True, {"isNull": True}, []),
    (True, {}, ["d", "e"]),
    (False, {"value": ["a", "b"]}, "a"),
    (False, {"value": "a"}, "a"),
    (False, {"value": []}, None),
    (False, {"isNull": True}, None),
    (False, {}, "d"),
]


@pytest.mark.parametrize(("is_multi", "entry", "value"), LISTS)
async def test_lists_of_several_and_of_one(
    queries: QueryWorld, is_multi: bool, entry: Json, value: Any
) -> None:
    identifier = await add(queries, "x", "List", ["d", "e"], is_multi=is_multi)
    body = await queries.ran(
        query("select {variables.x} as x", x={"variableId": identifier} | entry)
    )

    assert body["results"] == [[value]]


async def test_a_list_in_a_condition(queries: QueryWorld) -> None:
    several = await add(queries, "several", "List", is_multi=True)
    single = await add(queries, "one", "List")
    sql = (
        "select arrayFilter(x -> x in {variables.several}, ['a', 'b', 'c']), 'a' = {variables.one}"
    )
    body = await queries.ran(
        query(
            sql,
            several={"variableId": several, "value": ["c", "a"]},
            one={"variableId": single, "value": ["a", "b"]},
        )
    )

    assert body["results"] == [[["a", "c"], 1]]


@pytest.mark.parametrize(
    "call",
    [
        "has({variables.x}, 'a')",
        "hasAll({variables.x}, ['a'])",
        "hasAll(['a'], {variables.x})",
        "hasAny({variables.x}, ['a'])",
        "indexOf({variables.x}, 'a')",
        "arrayElement({variables.x}, 1)",
        "arrayJoin({variables.x})",
    ],
)
async def test_one_value_where_a_list_is_needed(queries: QueryWorld, call: str) -> None:
    variable = await add(queries, "x", "List")
    response = await queries.send(
        query(f"select {call}", x={"variableId": variable, "value": ["a"]})
    )

    assert response.status_code == 400
    assert "{variables.x} is a single value" in response.json()["detail"]
    assert "is_multi" in response.json()["detail"]

    several = {"variableId": await add(queries, "y", "List", is_multi=True), "value": ["a"]}
    await queries.ran(query(f"select {call.replace('variables.x', 'variables.y')}", y=several))


async def test_is_multi_can_be_changed(queries: QueryWorld) -> None:
    identifier = await add(queries, "x", "List", ["a", "b"])
    endpoints = queries.endpoints
    path = f"/api/projects/{endpoints.project_id}/insight_variables/{identifier}"
    changed = await endpoints.client.patch(path, json={"is_multi": True})
    endpoints.services.runner.forget()

    assert changed.json()["is_multi"] is True
    body = await queries.ran(query("select {variables.x} as x", x={"variableId": identifier}))
    assert body["results"] == [[["a", "b"]]]


async def test_a_date_may_be_relative(queries: QueryWorld) -> None:
    identifier = await add(queries, "since", "Date", "-1d")
    body = await queries.ran(
        query("select toDateTime({variables.since}) as x", since={"variableId": identifier})
    )
    expected = queries.endpoints.world.clock.now() - timedelta(days=1)

    assert datetime.fromisoformat(body["results"][0][0]) == expected
