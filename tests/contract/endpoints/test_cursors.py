"""Cursor pagination: stable while data arrives, bound to its request."""

from datetime import UTC, datetime, timedelta
from typing import Any

from support.endpoints import EndpointWorld

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)
EVENTS = "SELECT uuid, timestamp, event FROM events ORDER BY timestamp DESC, uuid"
COUNTS = "SELECT properties.plan AS plan, count() FROM events GROUP BY plan ORDER BY plan DESC"


async def add(endpoints: EndpointWorld, count: int, *, minutes: int = 0) -> None:
    """Some events, several of them at the same instant; every third without a plan."""
    plans = ["{}", '{"plan":"pro"}', '{"plan":"free"}']
    await endpoints.add_events(
        [
            ("a", AT + timedelta(minutes=minutes + number // 4), f"u{number}", plans[number % 3])
            for number in range(count)
        ]
    )


async def every_page(
    endpoints: EndpointWorld, name: str, *, between: Any = None, **body: Any
) -> list[list[Any]]:
    rows: list[list[Any]] = []
    cursor: str | None = "*"
    while cursor is not None:
        page = await endpoints.ran(name, cursor=cursor, **body)
        rows += page["results"]
        cursor = page["next_cursor"]
        assert page["hasMore"] is (cursor is not None)
        if between is not None and cursor is not None:
            await between()
    return rows


async def test_pages_are_stable_while_data_arrives(endpoints: EndpointWorld) -> None:
    await add(endpoints, 25)
    await endpoints.create(EVENTS, name="a")
    whole = (await endpoints.ran("a"))["results"]

    async def arrive() -> None:
        await add(endpoints, 3, minutes=60)  # newer, so in front of what was read

    paged = await every_page(endpoints, "a", between=arrive, limit=4, refresh="force")
    assert paged == whole


async def test_groups_are_paged_by_what_they_group_by_null_too(endpoints: EndpointWorld) -> None:
    await add(endpoints, 9)
    for number, order in enumerate(("plan DESC", "plan", "1")):
        await endpoints.create(COUNTS.replace("plan DESC", order), name=f"a{number}")
        whole = (await endpoints.ran(f"a{number}"))["results"]
        assert whole[-1][0] is None
        assert await every_page(endpoints, f"a{number}", limit=1) == whole


async def test_a_cursor_is_of_one_version_and_one_tenant(endpoints: EndpointWorld) -> None:
    await add(endpoints, 9)
    await endpoints.add_variable("plan", "String", "pro")
    sql = "SELECT uuid FROM events WHERE properties.plan = {variables.plan} ORDER BY uuid"
    for name in ("a", "b"):
        await endpoints.create(sql, name=name)
    first = await endpoints.ran("a", cursor="*", limit=1, variables={"plan": "free"})
    cursor = first["next_cursor"]
    again = await endpoints.ran("a", cursor=cursor, limit=50, variables={"plan": "free"})
    assert (len(again["results"]), again["next_cursor"]) == (2, None)

    async def refused(name: str, **body: Any) -> None:
        response = await endpoints.run(name, **body)
        assert (response.status_code, response.json()["attr"]) == (400, "cursor"), response.text

    await refused("a", cursor=cursor, variables={"plan": "pro"})
    await refused("a", cursor=cursor)
    await refused("b", cursor=cursor, variables={"plan": "free"})
    await refused("a", cursor=cursor[:-6] + "AAAAA=", variables={"plan": "free"})
    await refused("a", cursor="é", variables={"plan": "free"})
    query = {"kind": "HogQLQuery", "query": sql.replace("uuid FROM", "uuid, event FROM")}
    await endpoints.patch("/a", {"query": query})
    old = await endpoints.ran("a", cursor=cursor, variables={"plan": "free"})
    assert (old["endpoint_version"], old["results"]) == (1, again["results"])
    await refused("a", cursor=cursor, version=2, variables={"plan": "free"})


async def test_tables_are_paged_alike(endpoints: EndpointWorld) -> None:
    await add(endpoints, 12)
    await endpoints.add_variable("plan", "String", "pro")
    sql = (
        "SELECT distinct_id, count() AS n FROM events WHERE properties.plan = {variables.plan} "
        "GROUP BY distinct_id ORDER BY distinct_id DESC"
    )
    await endpoints.create(sql, name="a")
    inline = await every_page(endpoints, "a", limit=3, variables={"plan": "free"})
    await endpoints.patch("/a", {"is_materialized": True})
    await endpoints.services.jobs.drain()
    first = await endpoints.ran("a", cursor="*", limit=3, variables={"plan": "free"})
    assert first["endpoint_materialized"] is True
    materialized = await every_page(endpoints, "a", limit=3, variables={"plan": "free"})
    assert materialized == inline
    assert len(materialized) == 4


async def test_what_has_no_key_is_refused(endpoints: EndpointWorld) -> None:
    queries = [
        "SELECT event FROM events",
        "SELECT event FROM events ORDER BY timestamp",
        "SELECT event, count() AS n FROM events GROUP BY event ORDER BY n",
        "SELECT event, count() AS n FROM events GROUP BY event ORDER BY event, n",
        "SELECT uuid FROM events ORDER BY uuid LIMIT 10",
        "SELECT DISTINCT event FROM events ORDER BY event",
        "SELECT uuid, properties.x / 2 AS x FROM events ORDER BY x, uuid",
        "SELECT 1 AS a UNION ALL SELECT 2 AS a",
        "SELECT id, created_at FROM persons ORDER BY created_at, id",
        "SELECT e.uuid FROM events AS e ARRAY JOIN [1, 2] AS n ORDER BY e.uuid",
    ]
    for number, sql in enumerate(queries):
        await endpoints.create(sql, name=f"a{number}")
        response = await endpoints.run(f"a{number}", cursor="*")
        assert (response.status_code, response.json()["attr"]) == (400, "cursor"), sql
    await endpoints.create(EVENTS, name="b")
    both = await endpoints.run("b", cursor="*", limit=1, offset=1)
    assert both.json()["attr"] == "offset"
    series = [{"kind": "EventsNode", "event": "a"}]
    await endpoints.create({"kind": "TrendsQuery", "series": series}, name="t")
    assert (await endpoints.run("t", cursor="*")).json()["attr"] == "cursor"


async def test_the_link_leads_on(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT number FROM numbers(5) ORDER BY number DESC", name="a")
    assert "next_cursor" not in await endpoints.ran("a", limit=2)
    page = await endpoints.get("/a/run", cursor="*", limit=2)
    rows = page.json()["results"]
    while "next" in page.links:
        page = await endpoints.client.get(page.links["next"]["url"])
        rows += page.json()["results"]
    assert rows == [[4], [3], [2], [1], [0]]
    assert page.json()["next_cursor"] is None
    csv = await endpoints.client.get(
        endpoints.base + "/a/run", params={"cursor": "*"}, headers={"Accept": "text/csv"}
    )
    assert "hoglet-next-cursor" not in csv.headers


async def test_a_background_run_has_a_cursor_too(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT number FROM numbers(5) ORDER BY number", name="a")
    await endpoints.run("a", cursor="*", limit=2, refresh="force_async", client_query_id="q")
    await endpoints.services.jobs.drain()
    done = (await endpoints.get("/a/run", client_query_id="q")).json()
    rest = await endpoints.ran("a", cursor=done["next_cursor"])
    assert done["results"] + rest["results"] == [[0], [1], [2], [3], [4]]
