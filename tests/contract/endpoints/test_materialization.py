"""Materialized versions (docs/spec/query-endpoints.md#7-materialization)."""

from datetime import UTC, datetime, timedelta

import pytest

from support.endpoints import EndpointWorld

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)
COUNTS = "SELECT event, count() AS n FROM events GROUP BY event ORDER BY n DESC"


async def add_some(endpoints: EndpointWorld) -> None:
    plans = ["pro", "pro", "free"]
    await endpoints.add_events(
        [("a", AT + timedelta(days=n), f"u{n}", f'{{"plan":"{p}"}}') for n, p in enumerate(plans)]
        + [("b", AT, "u1", '{"plan":"pro"}')]
    )


async def work(endpoints: EndpointWorld) -> None:
    await endpoints.services.jobs.drain()


async def count_tables(endpoints: EndpointWorld) -> int:
    result = await endpoints.warehouse.query(
        "SELECT count() FROM system.tables WHERE startsWith(name, 'endpoint_table_')"
    )
    return result.rows[0][0]


async def sorting_keys(endpoints: EndpointWorld) -> dict[str, str]:
    result = await endpoints.warehouse.query(
        "SELECT name, sorting_key FROM system.tables WHERE startsWith(name, 'endpoint_table_')"
    )
    return dict(result.rows)


async def test_15_life_of_a_table(endpoints: EndpointWorld) -> None:
    await add_some(endpoints)
    before = await count_tables(endpoints)
    await endpoints.create(COUNTS, name="a")
    patched = await endpoints.patch("/a", {"is_materialized": True, "sync_frequency": "12hour"})
    assert (patched.status_code, patched.json()["is_materialized"]) == (200, True)
    status = patched.json()["materialization"]
    assert (status["status"], status["enabled"], status["ready"]) == ("Unknown", True, False)
    assert (status["can_materialize"], status["sync_frequency"]) == (True, "12hour")
    inline = await endpoints.ran("a", refresh="force")
    assert "endpoint_materialized" not in inline

    await work(endpoints)
    built = (await endpoints.get("/a")).json()["materialization"]
    assert (built["status"], built["ready"], built["error"]) == ("Completed", True, "")
    assert built["last_materialized_at"] == "2026-01-05T12:00:00+00:00"
    table = await endpoints.ran("a")
    assert table["endpoint_materialized"] is True
    assert table["endpoint_materialized_at"] == "2026-01-05T12:00:00+00:00"
    for key in ("results", "columns", "types", "hasMore", "limit", "offset"):
        assert table[key] == inline[key], key
    named = await endpoints.create("SELECT event, n FROM a_v1 ORDER BY event", name="reader")
    assert (await endpoints.ran(named["name"]))["results"] == [["a", 3], ["b", 1]]

    await endpoints.add_events([("c", AT, "u1", "{}")])
    assert len((await endpoints.ran("a", refresh="force"))["results"]) == 2
    assert len((await endpoints.ran("a", refresh="direct"))["results"]) == 3
    assert len((await endpoints.ran("a", refresh="force_blocking"))["results"]) == 3
    endpoints.world.clock.advance(seconds=12 * 3600 + 1)
    endpoints.services.forget()
    stale = await endpoints.ran("a")
    assert "endpoint_materialized" not in stale
    await work(endpoints)
    assert len((await endpoints.ran("a"))["results"]) == 3
    assert (await endpoints.ran("a"))["endpoint_materialized"] is True

    off = await endpoints.patch("/a", {"is_materialized": False})
    assert off.json()["is_materialized"] is False
    assert off.json()["materialization"] == {
        "can_materialize": True,
        "reason": None,
        "reason_code": None,
        "enabled": False,
        "ready": False,
    }
    endpoints.world.clock.advance(seconds=300)
    await work(endpoints)
    assert await count_tables(endpoints) == before


async def test_create_materialized_and_change_the_query(endpoints: EndpointWorld) -> None:
    endpoint = await endpoints.create(
        COUNTS, name="a", is_materialized=True, sync_frequency="1hour"
    )
    assert endpoint["is_materialized"] is True
    await work(endpoints)
    query = {"kind": "HogQLQuery", "query": "SELECT 5 AS five"}
    changed = (await endpoints.patch("/a", {"query": query})).json()
    assert changed["is_materialized"] is True
    assert changed["materialization"]["sync_frequency"] == "1hour"
    await work(endpoints)
    assert (await endpoints.ran("a"))["endpoint_materialized"] is True
    old = await endpoints.ran("a", version=1)
    assert (old["endpoint_version"], old["endpoint_materialized"]) == (1, True)
    response = await endpoints.client.put(
        f"{endpoints.base}/a?version=1", json={"is_active": False}
    )
    assert response.json()["is_materialized"] is False
    assert (await endpoints.get("/a")).json()["is_materialized"] is True
    await endpoints.patch("/a", {"is_active": False})
    again = (await endpoints.patch("/a", {"is_active": True})).json()
    assert again["is_materialized"] is False


async def test_11_every_variable_is_required(endpoints: EndpointWorld) -> None:
    await add_some(endpoints)
    await endpoints.add_variable("plan", "String", "pro")
    sql = (
        "SELECT event, count() AS n FROM events WHERE properties.plan = {variables.plan} "
        "GROUP BY event ORDER BY event"
    )
    await endpoints.create(sql, name="a")
    inline = await endpoints.ran("a", variables={"plan": "pro"})
    on = await endpoints.patch("/a", {"is_materialized": True})
    assert on.status_code == 200, on.text
    for refresh in ("blocking", "force", "direct", "force_blocking", "async", "force_cache"):
        for variables in ({}, {"plan": None}):
            refused = await endpoints.run("a", variables=variables, refresh=refresh)
            assert (refused.status_code, refused.json()["attr"]) == (400, "variables")
            assert "plan" in refused.json()["detail"]
            assert "required" in refused.json()["detail"]
    await work(endpoints)
    table = await endpoints.ran("a", variables={"plan": "pro"})
    assert table["endpoint_materialized"] is True
    assert table["results"] == inline["results"]
    assert table["columns"] == inline["columns"] == ["event", "n"]
    free = await endpoints.ran("a", variables={"plan": "free"})
    assert free["results"] == [["a", 1]]
    undeclared = await endpoints.run("a", variables={"plan": "pro", "x": 1})
    assert undeclared.status_code == 400
    document = (await endpoints.get("/a/openapi.json")).json()
    assert document["components"]["schemas"]["Variables"]["required"] == ["plan"]


async def test_12_what_can_be_kept(endpoints: EndpointWorld) -> None:
    for name, kind in {"plan": "String", "since": "Date", "least": "Number"}.items():
        await endpoints.add_variable(name, kind, "1" if kind == "Number" else "2026-01-01")
    condition = "properties.plan = {variables.plan} AND timestamp >= {variables.since}"
    await endpoints.create(f"SELECT count() FROM events WHERE {condition}", name="ok")
    on = await endpoints.patch("/ok", {"is_materialized": True})
    assert (on.status_code, on.json()["is_materialized"]) == (200, True)
    preview = (await endpoints.post("/ok/materialization_preview", {})).json()
    assert preview["can_materialize"] is True
    assert preview["range_pairs"] == [
        {"column": "timestamp", "variables": ["since"], "bucket_fn": "toStartOfDay"}
    ]
    sql = "SELECT event, count() AS n FROM events GROUP BY event HAVING n > {variables.least}"
    await endpoints.create(sql, name="having")
    refused = await endpoints.patch("/having", {"is_materialized": True})
    assert (refused.status_code, refused.json()["attr"]) == (400, "is_materialized")
    status = (await endpoints.get("/having/materialization_status")).json()
    assert status["can_materialize"] is False
    assert status["reason_code"] == "variables_not_supported"
    assert status["name"] == "having"
    at_creation = await endpoints.post("", endpoints.body(sql, is_materialized=True))
    assert (at_creation.status_code, at_creation.json()["attr"]) == (400, "is_materialized")


async def test_a_range_over_a_table_gives_one_row_also_when_empty(endpoints: EndpointWorld) -> None:
    await add_some(endpoints)
    await endpoints.add_variable("since", "Date", "2026-01-01")
    sql = "SELECT count() AS n FROM events WHERE timestamp >= {variables.since}"
    await endpoints.create(sql, name="a", is_materialized=True)
    await work(endpoints)
    for since in ("2026-01-01", "2026-01-05", "2026-02-01"):
        table = await endpoints.ran("a", variables={"since": since})
        inline = await endpoints.ran("a", variables={"since": since}, refresh="direct")
        assert table["endpoint_materialized"] is True
        assert table["results"] == inline["results"]
        assert table["types"] == inline["types"]


async def test_contradictions(endpoints: EndpointWorld) -> None:
    await endpoints.create(name="a")
    for body, attr in (
        ({"is_active": False, "is_materialized": True}, "is_materialized"),
        ({"is_active": False, "sync_frequency": "1hour"}, "sync_frequency"),
        ({"is_materialized": False, "sync_frequency": "1hour"}, "sync_frequency"),
    ):
        refused = await endpoints.patch("/a", body)
        assert (refused.status_code, refused.json()["attr"]) == (400, attr)
    refused = await endpoints.run("a", refresh="direct")
    assert (refused.status_code, refused.json()["attr"]) == (400, "refresh")


async def test_a_failed_build_keeps_the_last_table(endpoints: EndpointWorld) -> None:
    await add_some(endpoints)
    await endpoints.create("SELECT intDiv(1, 9 - count()) AS x FROM events", name="a")
    await endpoints.patch("/a", {"is_materialized": True})
    await work(endpoints)
    await endpoints.add_events([("c", AT, "u1", "{}")] * 5)
    await endpoints.patch("/a", {"sync_frequency": "1hour"})
    await work(endpoints)
    status = (await endpoints.get("/a/materialization_status")).json()
    assert (status["status"], status["ready"]) == ("Failed", True)
    assert status["error"]
    assert (await endpoints.ran("a"))["endpoint_materialized"] is True


async def test_a_table_of_other_buckets_is_not_read(endpoints: EndpointWorld) -> None:
    await add_some(endpoints)
    await endpoints.add_variable("since", "Date", "2026-01-01")
    sql = "SELECT count() AS n FROM events WHERE timestamp >= {variables.since}"
    await endpoints.create(sql, name="a", is_materialized=True)
    await work(endpoints)
    sent = {"since": "2026-01-04T13:00:00"}
    assert (await endpoints.ran("a", variables=sent))["results"] == [[4]]  # since midnight
    assert await rounded(endpoints, sent) == ["since=day"] * 3
    changed = await endpoints.patch("/a", {"bucket_overrides": {"timestamp": "hour"}})
    status = changed.json()["materialization"]
    assert (status["status"], status["ready"]) == ("Modified", False)
    inline = await endpoints.ran("a", variables=sent)
    assert "endpoint_materialized" not in inline
    assert await rounded(endpoints, sent) == [None] * 3
    await work(endpoints)
    table = await endpoints.ran("a", variables=sent)
    assert table["endpoint_materialized"] is True
    assert table["results"] == inline["results"] == [[2]]
    assert await rounded(endpoints, sent) == ["since=hour"] * 3


async def rounded(endpoints: EndpointWorld, variables: dict[str, str]) -> list[str | None]:
    """What the responses of a computed run, a cached one, and one as CSV say."""
    url = f"{endpoints.base}/a/run"
    body, csv = {"variables": variables}, {"Accept": "text/csv"}
    answers = [
        await endpoints.run("a", variables=variables, refresh="force"),
        await endpoints.run("a", variables=variables),
        await endpoints.client.post(url, json=body, headers=csv),
    ]
    return [answer.headers.get("Hoglet-Rounded-Variables") for answer in answers]


async def test_a_build_that_breaks_is_failed_and_tried_again(
    endpoints: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await endpoints.create(COUNTS, name="a", is_materialized=True, sync_frequency="1hour")

    async def broken(*_args: object, **_more: object) -> None:
        raise RuntimeError("a bug of ours")

    with monkeypatch.context() as patched:
        patched.setattr(endpoints.warehouse, "create_table", broken)
        for _ in range(3):
            await work(endpoints)
            endpoints.world.clock.advance(seconds=60)
    status = (await endpoints.get("/a/materialization_status")).json()
    assert (status["status"], status["ready"]) == ("Failed", False)
    assert "a bug of ours" not in status["error"]
    endpoints.world.clock.advance(seconds=3600)
    await work(endpoints)
    status = (await endpoints.get("/a/materialization_status")).json()
    assert (status["status"], status["ready"], status["error"]) == ("Completed", True, "")


async def test_a_table_is_ordered_by_what_its_runs_look_for(endpoints: EndpointWorld) -> None:
    await add_some(endpoints)
    for name in ("since", "plan"):
        await endpoints.add_variable(name, "String")
    sql = (
        "SELECT event, count() AS n FROM events WHERE distinct_id >= {variables.since} "
        "AND properties.plan = {variables.plan} GROUP BY event"
    )
    before = await sorting_keys(endpoints)
    await endpoints.create(sql, name="a", is_materialized=True)
    await work(endpoints)

    (new,) = (await sorting_keys(endpoints)).items() - before.items()
    assert new[1] == "project_id, plan, since"
    table = await endpoints.ran("a", variables={"since": "u0", "plan": "pro"})
    assert table["endpoint_materialized"] is True
    assert sorted(table["results"]) == [["a", 2], ["b", 1]]
