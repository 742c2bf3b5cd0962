"""The concrete cases of docs/spec/query-endpoints.md#12-concrete-cases, by number."""

from support.endpoints import EndpointWorld

HOGQL_KEYS = "explain filters kind modifiers name query response tags values variables version"


async def test_01_create(endpoints: EndpointWorld) -> None:
    body = {
        "name": "test_query",
        "description": "About",
        "query": {"kind": "HogQLQuery", "query": "SELECT count(1) FROM query_log"},
    }
    response = await endpoints.post("", body)

    assert response.status_code == 201, response.text
    record = response.json()
    assert sorted(record["query"]) == HOGQL_KEYS.split()
    assert record["is_active"] is True
    assert record["derived_from_insight"] is None
    assert (record["current_version"], record["versions_count"]) == (1, 1)
    assert record["endpoint_path"] == f"{endpoints.base}/test_query/run"
    assert record["created_by"]["id"] == 1


async def test_02_refusals(endpoints: EndpointWorld) -> None:
    for query in ("selet 100", "SELECT * FROM nowhere", "SELECT nope FROM events", ""):
        refused = await endpoints.post("", endpoints.body(query))
        assert refused.status_code == 400, query
        assert refused.json()["type"] == "validation_error"
        assert refused.json()["attr"] == "query"
        assert refused.json()["code"] == "invalid_input"
    nameless = await endpoints.post("", {"query": {"kind": "HogQLQuery", "query": "SELECT 1"}})
    assert (nameless.status_code, nameless.json()["attr"], nameless.json()["code"]) == (
        400,
        "name",
        "required",
    )
    queryless = await endpoints.post("", {"name": "a"})
    assert (queryless.json()["attr"], queryless.json()["code"]) == ("query", "required")
    await endpoints.create(name="taken")
    again = await endpoints.post("", endpoints.body(name="taken"))
    assert (again.status_code, again.json()["attr"], again.json()["code"]) == (
        400,
        "name",
        "invalid_input",
    )
    elsewhere = await endpoints.client.post(
        "/api/projects/1/endpoints/", json=endpoints.body(name="taken")
    )
    assert elsewhere.status_code == 201
    assert (await endpoints.client.delete(endpoints.base + "/taken/")).status_code == 204
    assert (await endpoints.post("", endpoints.body(name="taken"))).status_code == 201


async def test_04_put_is_partial(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 5", name="a")
    put = endpoints.client.put
    changed = await put(
        f"{endpoints.base}/a",
        json={
            "name": "other",
            "description": "D",
            "is_active": False,
            "query": {"kind": "HogQLQuery", "query": "SELECT 1"},
        },
    )
    assert changed.status_code == 200, changed.text
    record = changed.json()
    assert (record["name"], record["description"], record["is_active"]) == ("a", "D", False)
    assert record["query"]["query"] == "SELECT 1"
    assert record["current_version"] == 2
    only = await put(f"{endpoints.base}/a", json={"description": "E", "is_active": True})
    assert only.json()["versions_count"] == 2
    same = await put(
        f"{endpoints.base}/a", json={"query": {"query": "SELECT 1", "kind": "HogQLQuery"}}
    )
    assert same.json()["versions_count"] == 2
    first = await endpoints.get("/a/versions/1")
    assert first.json()["query"]["query"] == "SELECT 5"


async def test_05_deletion(endpoints: EndpointWorld) -> None:
    await endpoints.create(name="a")
    deleted = await endpoints.client.delete(f"{endpoints.base}/a")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await endpoints.get("/a")).status_code == 404
    await endpoints.create(name="b")
    patched = await endpoints.patch("/b", {"deleted": True})
    assert (patched.status_code, patched.json()) == (200, {"success": True})
    assert (await endpoints.get("/b")).status_code == 404
    assert (await endpoints.run("b")).status_code == 404
    await endpoints.create(name="c")
    foreign = await endpoints.client.get("/api/projects/1/endpoints/c/run")
    assert foreign.status_code == 404
    assert foreign.json() == {
        "type": "invalid_request",
        "code": "not_found",
        "detail": "Not found.",
        "attr": None,
    }


async def test_06_lists(endpoints: EndpointWorld) -> None:
    await endpoints.create(name="on")
    await endpoints.create(name="off", is_active=False)
    counts = [
        (await endpoints.get("", **params)).json()["count"]
        for params in ({"is_active": "true"}, {"is_active": "false"}, {}, {"created_by": "1"})
    ]
    assert counts == [1, 1, 2, 2]
    unknown = await endpoints.get("", created_by="999")
    assert (unknown.status_code, unknown.json()["attr"], unknown.json()["code"]) == (
        400,
        "created_by",
        "invalid_choice",
    )
    names = [each["name"] for each in (await endpoints.get("")).json()["results"]]
    assert names == ["off", "on"]
    page = (await endpoints.get("", limit=1)).json()
    assert len(page["results"]) == 1
    assert "offset=1" in page["next"]
    assert (await endpoints.get("")).json()["next"] is None


async def test_08_overrides_on_hogql(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="plain")
    await endpoints.create("SELECT count() FROM events WHERE {filters}", name="filtered")
    override = await endpoints.run("plain", query_override={"query": "SELECT 2"})
    assert (override.status_code, override.json()["attr"]) == (400, "query_override")
    dates = {"date_from": "2026-01-01"}
    refused = await endpoints.run("plain", filters_override=dates)
    assert (refused.status_code, refused.json()["attr"]) == (400, "filters_override")
    allowed = await endpoints.run("filtered", filters_override=dates)
    assert allowed.status_code == 200, allowed.text


async def test_13_versions_of_runs(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 42 AS answer", name="a")
    assert (await endpoints.ran("a"))["results"] == [[42]]
    await endpoints.patch("/a", {"query": {"kind": "HogQLQuery", "query": "SELECT 43 AS answer"}})
    assert (await endpoints.ran("a"))["endpoint_version"] == 2
    response = await endpoints.client.post(f"{endpoints.base}/a/run?version=1", json={})
    assert (response.json()["endpoint_version"], response.json()["results"]) == (1, [[42]])
    body = await endpoints.client.post(f"{endpoints.base}/a/run?version=2", json={"version": 1})
    assert body.json()["endpoint_version"] == 1
    unknown = await endpoints.get("/a/run", version=999)
    assert unknown.status_code == 404
    assert unknown.json()["error"] == unknown.json()["detail"]
    assert unknown.json()["current_version"] == 2
    letters = await endpoints.get("/a/run", version="abc")
    assert (letters.status_code, letters.json()["attr"]) == (400, "version")
    assert "error" in letters.json()


async def test_14_two_levels_of_active(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    for number in (2, 3):
        query = {"kind": "HogQLQuery", "query": f"SELECT {number}"}
        assert (await endpoints.patch("/a", {"query": query})).status_code == 200
    listed = (await endpoints.get("/a/versions")).json()
    assert listed["count"] == 3
    assert [each["version"] for each in listed["results"]] == [3, 2, 1]
    assert all(each["is_active"] is True for each in listed["results"])
    put = endpoints.client.put
    off = await put(f"{endpoints.base}/a?version=1", json={"is_active": False})
    assert (off.status_code, off.json()["is_active"], off.json()["version"]) == (200, False, 1)
    refused = await endpoints.run("a", version=1)
    assert (refused.status_code, refused.json()["attr"]) == (400, None)
    assert "inactive" in refused.json()["detail"]
    on = await put(f"{endpoints.base}/a?version=1", json={"is_active": True})
    assert on.json()["is_active"] is True
    assert (await endpoints.run("a", version=1)).status_code == 200
    await put(f"{endpoints.base}/a", json={"is_active": False})
    assert (await endpoints.run("a")).status_code == 404
    assert (await endpoints.run("a", version=1)).status_code == 404


async def test_16_last_executions(endpoints: EndpointWorld) -> None:
    await endpoints.create(name="never")
    await endpoints.create(name="ran")
    await endpoints.ran("ran")

    async def ask(names: object) -> object:
        response = await endpoints.post("/last_execution_times", {"names": names})
        return response.json()["query_status"]["results"]

    assert await ask([]) is None
    assert await ask(["never", "missing"]) == []
    assert await ask(["ran", "never"]) == [["ran", "2026-01-05T12:00:00+00:00"]]
    missing = await endpoints.post("/last_execution_times", {})
    assert (missing.json()["attr"], missing.json()["code"]) == ("names", "required")
    bad = await endpoints.post("/last_execution_times", {"names": ["1 bad"]})
    assert (bad.status_code, bad.json()["attr"]) == (400, "names")


async def test_18_cache(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a", cache_age_seconds=300)
    first = await endpoints.ran("a")
    endpoints.world.clock.advance(seconds=4 * 60)
    second = await endpoints.ran("a")
    endpoints.world.clock.advance(seconds=2 * 60)
    third = await endpoints.ran("a")

    assert [each["is_cached"] for each in (first, second, third)] == [False, True, False]
    assert second["last_refresh"] == first["last_refresh"] == "2026-01-05T12:00:00Z"
    assert first["cache_target_age"] == "2026-01-05T12:05:00Z"


async def test_19_paging(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT number FROM numbers(250)", name="a")
    await endpoints.create("SELECT number FROM numbers(250) LIMIT 10", name="ten")
    whole = await endpoints.ran("a")
    assert (len(whole["results"]), whole["hasMore"], whole["limit"], whole["offset"]) == (
        100,
        True,
        100,
        0,
    )
    last = await endpoints.ran("a", limit=100, offset=200)
    assert (len(last["results"]), last["hasMore"], last["offset"]) == (50, False, 200)
    ten = await endpoints.ran("ten")
    assert (len(ten["results"]), ten["hasMore"]) == (10, False)
    beyond = await endpoints.ran("ten", limit=5, offset=10)
    assert (beyond["results"], beyond["hasMore"]) == ([], False)
    alone = await endpoints.run("a", offset=5)
    assert (alone.status_code, alone.json()["attr"]) == (400, "offset")
    assert "error" in alone.json()


async def test_20_background(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 7", name="a")
    started = await endpoints.run("a", refresh="force_async", client_query_id="q1")
    assert started.status_code == 202, started.text
    assert started.json()["query_status"]["complete"] is False
    assert started.headers["location"] == f"http://h{endpoints.base}/a/run?client_query_id=q1"
    polled = await endpoints.get("/a/run", client_query_id="q1")
    assert polled.status_code == 202
    assert await endpoints.services.jobs.drain() == 1
    done = await endpoints.get("/a/run", client_query_id="q1")
    assert (done.status_code, done.json()["results"]) == (200, [[7]])
    assert done.json()["query_status"]["complete"] is True
    assert (await endpoints.get("/a/run", client_query_id="q2")).status_code == 404


async def test_21_keys(endpoints: EndpointWorld) -> None:
    await endpoints.create(name="a")
    weak = await endpoints.world.add_key(["hog_function:read"])
    secret = await endpoints.world.add_secret_key(endpoints.project_id)
    run = f"{endpoints.base}/a/run"

    async def ask(path: str, key: str | None) -> int:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        response = await endpoints.client.get(path, headers=headers | {"x": "1"})
        return response.status_code

    assert await ask(run, weak) == 403
    assert await ask(run, "phx_unknown") == 401
    assert await ask(run, secret) == 200
    assert await ask(endpoints.base, secret) == 403
