"""Effects of a changed property type: cached results, materialized tables, functions.

Source: docs/spec/data-and-queries.md#24-what-the-type-does-to-queries.
"""

from typing import Any

import pytest

from hoglet.endpoints import repository as endpoint_repository
from hoglet.functions.compile.recompile import recompile
from hoglet.functions.jobs import RECOMPILE_QUEUE, decode_recompile
from hoglet.queue.consumers import LEASE
from support.definitions import DefinitionWorld


async def _create(world: DefinitionWorld, name: str, query: str) -> None:
    body = {"name": name, "query": {"kind": "HogQLQuery", "query": query}, "is_materialized": True}
    status, record = await world.send("POST", "endpoints", body)
    assert status == 201, record


async def _build(world: DefinitionWorld) -> None:
    """Do every build that is due."""
    await world.features.endpoints.jobs.drain()


async def _run(world: DefinitionWorld, name: str) -> dict[str, Any]:
    status, body = await world.send("POST", f"endpoints/{name}/run", {"debug": True})
    assert status == 200, body
    return body


async def _status(world: DefinitionWorld, name: str) -> dict[str, Any]:
    return (await world.got(f"endpoints/{name}"))["materialization"]


async def test_cached_results_of_the_old_type_are_not_served(world: DefinitionWorld) -> None:
    await world.capture(*({"properties": {"k": value}} for value in ("1", "x", 2)))
    sql = "select properties.k as v from events order by toString(properties.k)"
    query = {"query": {"kind": "HogQLQuery", "query": sql}}
    await world.send("POST", "query", query)
    _, before = await world.send("POST", "query", query)
    assert before["is_cached"] is True

    await world.retype("k", "Numeric")

    _, after = await world.send("POST", "query", query)
    assert (after["is_cached"], after["results"]) == (False, [[1], [2], [None]])
    await world.send("POST", "query", query)
    await world.send("DELETE", f"property_definitions/{(await world.property('k'))['id']}")
    _, forgotten = await world.send("POST", "query", query)
    assert forgotten["results"] == [["1"], ["2"], ["x"]]


async def _rebuild(world: DefinitionWorld, name: str) -> None:
    """Do the next build of a table now."""
    endpoints = world.features.endpoints
    async with world.services.database.write() as session:
        materializations = await endpoint_repository.materializations_in(session, world.project_id)
        for row, _, endpoint in materializations:
            if endpoint.name == name:
                await endpoints.materializer.schedule(session, row, world.services.clock.now())
    await _build(world)
    world.services.access.forget()


async def test_tables_are_not_read_until_they_are_built_again(world: DefinitionWorld) -> None:
    await world.capture(*({"properties": {"k": value}} for value in ("1", "x", 2)))
    sql = "select properties.k as v, count() as n from events group by v order by toString(v)"
    await _create(world, "by_k", sql)
    await _create(world, "other", "select count() as kk from events")
    await _build(world)
    before = await _run(world, "by_k")
    assert before["endpoint_materialized"] is True
    assert before["results"] == [["1", 1], ["2", 1], ["x", 1]]

    await world.retype("k", "Numeric")

    changed = await _run(world, "by_k")
    assert "endpoint_materialized" not in changed
    assert sorted(map(repr, changed["results"])) == ["[1, 1]", "[2, 1]", "[None, 1]"]
    status = await _status(world, "by_k")
    assert status["stale_reason"] == "property_type_changed"
    assert status["ready"] is True
    assert "stale_reason" not in await _status(world, "other")
    assert (await _run(world, "other"))["endpoint_materialized"] is True
    await _rebuild(world, "by_k")
    assert "stale_reason" not in await _status(world, "by_k")
    rebuilt = await _run(world, "by_k")
    assert rebuilt["endpoint_materialized"] is True
    assert sorted(map(repr, rebuilt["results"])) == ["[1, 1]", "[2, 1]", "[None, 1]"]
    columns = (await world.got("endpoints/by_k"))["columns"]
    assert columns[0] == {"name": "v", "type": "float"}


async def test_a_type_that_changes_during_a_build_keeps_the_table_stale(
    world: DefinitionWorld,
) -> None:
    await world.capture({"properties": {"k": "1"}})
    await _create(world, "by_k", "select properties.k as v from events")
    await _build(world)
    await world.retype("k", "Numeric")
    builder = world.features.endpoints.jobs.housekeeping._builder
    fill = builder._fill

    async def fill_and_change(*args: Any, **more: Any) -> None:
        await fill(*args, **more)
        await world.retype("k", "Boolean")

    builder._fill = fill_and_change  # pyright: ignore[reportAttributeAccessIssue]
    await _rebuild(world, "by_k")
    builder._fill = fill

    assert (await _status(world, "by_k"))["stale_reason"] == "property_type_changed"
    assert (await _run(world, "by_k"))["results"] == [[None]]
    await _rebuild(world, "by_k")
    assert "stale_reason" not in await _status(world, "by_k")
    assert (await _run(world, "by_k"))["results"] == [[None]]


async def test_insights_of_the_next_moment_read_the_new_type(world: DefinitionWorld) -> None:
    await world.capture(*({"properties": {"k": value}} for value in ("1", "x", "2")))
    node = {
        "kind": "TrendsQuery",
        "series": [{"kind": "EventsNode", "event": "e", "math": "sum", "math_property": "k"}],
        "trendsFilter": {"display": "BoldNumber"},
    }
    await world.retype("k", "Numeric")

    _, body = await world.send("POST", "query", {"query": node})
    assert body["results"][0]["aggregated_value"] == 3


async def test_functions_that_use_the_property_are_compiled_again(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"paid": "yes", "other": 1}})
    item = {"key": "paid", "value": "true", "operator": "exact", "type": "event"}
    created: dict[str, dict[str, Any]] = {}
    for key in ("paid", "other"):
        body = {
            "type": "destination",
            "name": key,
            "hog": "print(1)",
            "enabled": True,
            "filters": {"properties": [{**item, "key": key}]},
        }
        status, created[key] = await world.send("POST", "hog_functions", body)
        assert status == 201, created[key]

    await world.retype("paid", "Boolean")

    (job,) = await world.services.queue.lease(RECOMPILE_QUEUE, limit=9, duration=LEASE)
    expected = decode_recompile(job.payload)
    assert (expected.project_id, expected.property) == (world.project_id, "paid")
    project = await world.services.access.project(world.project_id)
    assert project is not None
    service = world.features.functions.service
    assert await recompile(service, project, property_name=expected.property) == 1
    changed = await world.got(f"hog_functions/{created['paid']['id']}")
    assert changed["filters"]["bytecode"] != created["paid"]["filters"]["bytecode"]
    same = await world.got(f"hog_functions/{created['other']['id']}")
    assert same["filters"]["bytecode"] == created["other"]["filters"]["bytecode"]


async def test_a_change_that_changes_no_type_costs_nothing(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"k": "1"}})
    await _create(world, "by_k", "select properties.k as v from events")
    await _build(world)

    path = f"property_definitions/{(await world.property('k'))['id']}"
    await world.send("PATCH", path, {"property_type": "String", "tags": ["a"]})

    assert "stale_reason" not in await _status(world, "by_k")
    assert await world.services.queue.lease(RECOMPILE_QUEUE, limit=9, duration=LEASE) == []


async def test_texts_of_a_property_that_is_grouped_by(world: DefinitionWorld) -> None:
    values = [1, 1, "2", "x", "y", None]
    await world.capture(*({"properties": {"k": value}} for value in values))
    await world.retype("k", "Numeric")
    for grouped in (
        "select properties.k as v, count() as n, countIf(v = 'x') from events group by v",
        (
            "select properties.k as v, count() as n, countIf(properties.k = 'x') from events "
            "group by properties.k"
        ),
        "select properties.k as v, count() as n, countIf(v ilike 'X') from events group by 1",
        (
            "select e.properties.k as v, count() as n, countIf(v in ('x', 'z')) "
            "from (select * from events) as e group by v"
        ),
    ):
        rows = await world.query(f"{grouped} order by toString(v), n")
        assert sorted(rows, key=str) == sorted([[1, 2, 0], [2, 1, 0], [None, 3, 1]], key=str)
        filtered = await world.query(f"{grouped} having toString(v) = '2'")
        assert filtered == [[2, 1, 0]]
    by_text = "select toString(properties.k) as t, count() from events group by t order by t"
    assert await world.query(by_text) == [["1", 2], ["2", 1], ["x", 1], ["y", 1], [None, 1]]
    named = (
        "select if(properties.k = '1', 'one', 'more') as name, sum(properties.k) from events "
        "group by name order by name"
    )
    assert await world.query(named) == [["more", 2], ["one", 2]]
    windowed = (
        "select properties.k, concat(properties.k, '!') as c, row_number() over (order by c) "
        "from events group by properties.k order by c"
    )
    assert await world.query(windowed) == [[None, "!", 1], [1, "1!", 2], [2, "2!", 3]]


TYPED = {
    "a sum": ("select sum(properties.amount) as total from events", [[12]], "float"),
    "an expression": ("select properties.amount * 2 as total from events", [[24]], "float"),
    "a person's": ("select sum(person.properties.age) as total from events", [[36]], "float"),
}


@pytest.mark.parametrize(("sql", "results", "kind"), TYPED.values(), ids=TYPED)
async def test_an_endpoint_saved_before_its_first_event_can_be_materialized_after_it(
    world: DefinitionWorld, sql: str, results: list[Any], kind: str
) -> None:
    body = {"name": "early", "query": {"kind": "HogQLQuery", "query": sql}}
    status, early = await world.send("POST", "endpoints", body)
    assert status == 201, early
    assert (await _status(world, "early"))["can_materialize"] is False
    await world.capture({"properties": {"amount": 12, "$set": {"age": 36}}})

    listed = (await world.got("endpoints"))["results"][0]
    versions = (await world.got("endpoints/early/versions/1"), await world.got("endpoints/early"))
    status = await world.got("endpoints/early/materialization_status")
    for state in (*(each["materialization"] for each in (listed, *versions)), status):
        assert (state["can_materialize"], state["reason"]) == (True, None)
    assert [each["columns"][0]["type"] for each in versions] == [kind, kind]
    status, record = await world.send("PATCH", "endpoints/early", {"is_materialized": True})
    assert (status, record["materialization"]["can_materialize"]) == (200, True), record
    assert record["columns"] == [{"name": "total", "type": kind}]
    await _build(world)
    ran = await _run(world, "early")
    assert (ran["endpoint_materialized"], ran["results"]) == (True, results)


async def test_an_endpoint_whose_query_became_invalid_says_so(world: DefinitionWorld) -> None:
    await world.capture({"properties": {"amount": 12}})
    query = {"kind": "HogQLQuery", "query": "select sum(properties.amount) as n from events"}
    await world.send("POST", "endpoints", {"name": "late", "query": query})
    assert (await _status(world, "late"))["can_materialize"] is True

    await world.retype("amount", "String")

    status = await _status(world, "late")
    assert (status["can_materialize"], status["reason_code"]) == (False, "empty_or_invalid_query")
    await world.retype("amount", "Numeric")
    assert (await _status(world, "late"))["can_materialize"] is True


async def test_a_build_reads_the_types_detected_since_the_endpoint_was_saved(
    world: DefinitionWorld,
) -> None:
    await _create(world, "early", "select properties.amount as amount from events")
    assert (await world.got("endpoints/early"))["columns"][0]["type"] == "string"
    await _build(world)
    await world.capture({"properties": {"amount": 12}})
    await _rebuild(world, "early")

    ran = await _run(world, "early")
    assert (ran["endpoint_materialized"], ran["results"]) == (True, [[12]])
    assert (await world.got("endpoints/early"))["columns"] == [{"name": "amount", "type": "float"}]


async def test_a_query_reads_a_type_as_soon_as_it_is_detected(world: DefinitionWorld) -> None:
    sql = "select sum(properties.amount) from events"
    query = {"query": {"kind": "HogQLQuery", "query": sql}, "refresh": "force_blocking"}
    await world.send("POST", "query", query)
    await world.capture({"properties": {"amount": 12}})

    status, body = await world.send("POST", "query", query)
    assert (status, body["results"]) == (200, [[12]])
