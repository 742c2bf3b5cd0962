"""Version aliases and diffs."""

from typing import Any

from support.endpoints import EndpointWorld


async def three_versions(endpoints: EndpointWorld, name: str = "a") -> None:
    await endpoints.create("SELECT 1 AS n", name=name, description="one")
    for number in (2, 3):
        query = {"kind": "HogQLQuery", "query": f"SELECT {number} AS n"}
        await endpoints.patch(f"/{name}", {"query": query, "description": f"number {number}"})


async def put(endpoints: EndpointWorld, path: str, version: Any) -> tuple[int, dict[str, Any]]:
    url = f"{endpoints.base}{path}"
    response = await endpoints.client.put(url, json={"version": version})
    return response.status_code, response.json()


async def test_an_alias_stands_where_a_number_does(endpoints: EndpointWorld) -> None:
    await three_versions(endpoints)
    assert "aliases" not in (await endpoints.get("/a")).json()
    assert (await put(endpoints, "/a/aliases/prod", 1))[0] == 201
    assert (await endpoints.ran("a", version="prod"))["results"] == [[1]]
    status, moved = await put(endpoints, "/a/aliases/prod", 2)
    assert (status, moved["version"]) == (200, 2)
    assert (await put(endpoints, "/a/aliases/canary", "prod"))[1]["version"] == 2
    assert (await put(endpoints, "/a/aliases/canary", 3))[0] == 200

    assert (await endpoints.ran("a", version="prod"))["endpoint_version"] == 2
    assert (await endpoints.get("/a/run", version="prod")).json()["results"] == [[2]]
    assert (await endpoints.ran("a"))["endpoint_version"] == 3
    record = (await endpoints.get("/a")).json()
    assert record["aliases"] == {"canary": 3, "prod": 2}
    assert (await endpoints.get("")).json()["results"][0]["aliases"] == record["aliases"]
    assert (await endpoints.get("/a", version="prod")).json()["version"] == 2
    assert (await endpoints.get("/a/versions/prod")).json()["version"] == 2
    document = (await endpoints.get("/a/openapi.json", version="prod")).json()
    assert document["info"]["version"] == "2"
    changed = await endpoints.patch("/a", {"version": "prod", "description": "changed"})
    assert (changed.json()["version"], changed.json()["description"]) == (2, "changed")
    lines = (await endpoints.get("/a/logs", version="prod")).json()["results"]
    assert len(lines) == 2
    assert all("version 2 " in line["message"] for line in lines)
    listed = (await endpoints.get("/a/aliases")).json()
    assert [(each["alias"], each["version"]) for each in listed["results"]] == [
        ("canary", 3),
        ("prod", 2),
    ]

    gone = await endpoints.client.delete(endpoints.base + "/a/aliases/prod")
    assert gone.status_code == 204
    answers = [
        await endpoints.run("a", version="prod"),
        await endpoints.get("/a/run", version="prod"),
        await endpoints.get("/a", version="prod"),
        await endpoints.patch("/a", {"version": "prod", "description": "x"}),
    ]
    assert [(each.status_code, each.json()["attr"]) for each in answers] == [(400, "version")] * 4
    assert (await endpoints.get("/a/versions/prod")).status_code == 404
    again = await endpoints.client.delete(endpoints.base + "/a/aliases/prod")
    assert again.status_code == 404


async def test_aliases_that_are_refused(endpoints: EndpointWorld) -> None:
    await three_versions(endpoints)
    for path, version, attr in (
        ("/a/aliases/1st", 1, "alias"),
        ("/a/aliases/a.b", 1, "alias"),
        ("/a/aliases/prod", 4, "version"),
        ("/a/aliases/prod", 0, "version"),
        ("/a/aliases/prod", None, "version"),
        ("/a/aliases/prod", True, "version"),
        ("/a/aliases/prod", "nobody", "version"),
    ):
        status, body = await put(endpoints, path, version)
        assert (status, body["attr"]) == (400, attr), (path, version, body)
    assert (await put(endpoints, "/b/aliases/prod", 1))[0] == 404


async def test_the_difference_of_two_versions(endpoints: EndpointWorld) -> None:
    await three_versions(endpoints)
    await put(endpoints, "/a/aliases/prod", 3)
    difference = (await endpoints.get("/a/versions/1/diff/prod")).json()
    assert (difference["a"], difference["b"]) == (1, 3)
    assert difference["query_diff"].splitlines() == [
        "--- version 1",
        "+++ version 3",
        "@@ -1 +1 @@",
        "-SELECT 1 AS n",
        "+SELECT 3 AS n",
    ]
    assert difference["changes"] == [{"field": "description", "a": "one", "b": "number 3"}]
    same = (await endpoints.get("/a/versions/2/diff/2")).json()
    assert (same["query_diff"], same["changes"]) == ("", [])
    for path in ("/a/versions/1/diff/9", "/a/versions/x/diff/1", "/b/versions/1/diff/1"):
        assert (await endpoints.get(path)).status_code == 404
    assert "error" in (await endpoints.get("/a/versions/9/diff/1")).json()


async def test_usage_counts_runs_by_day(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT number FROM numbers(3)", name="a")
    for _ in range(3):
        await endpoints.ran("a")
    await endpoints.run("a", variables={"x": 1})
    usage = (await endpoints.get("/a/usage", days=2)).json()
    assert (usage["count"], usage["errors"], usage["rows"]) == (4, 1, 9)
    assert usage["cache_hit_share"] == round(2 / 3, 4)
    assert usage["p50_ms"] >= 0
    assert [day["count"] for day in usage["days"]] == [0, 4]
    assert usage["days"][0]["p95_ms"] is None
    for days in ("0", "x", "400"):
        refused = await endpoints.get("/a/usage", days=days)
        assert (refused.status_code, refused.json()["attr"]) == (400, "days")
    assert (await endpoints.get("/b/usage")).status_code == 404


async def test_usage_of_one_version(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    await endpoints.patch("/a", {"query": {"kind": "HogQLQuery", "query": "SELECT 2"}})
    await endpoints.client.put(f"{endpoints.base}/a/aliases/prod", json={"version": 1})
    for version in (1, 1, 2):
        await endpoints.ran("a", version=version)
    counts = {
        version: (await endpoints.get("/a/usage", version=version)).json()["count"]
        for version in ("1", "2", "prod", "")
    }
    assert counts == {"1": 2, "2": 1, "prod": 2, "": 3}
    usage = (await endpoints.get("/a/usage", version=1, days=1)).json()
    assert (usage["version"], usage["days"][0]["count"]) == (1, 2)
    for path in ("/a/usage", "/a/logs"):
        unknown = await endpoints.get(path, version=9)
        assert (unknown.status_code, "error" in unknown.json()) == (404, True)
        wrong = await endpoints.get(path, version="1.5")
        assert (wrong.status_code, wrong.json()["attr"]) == (400, "version")


async def test_a_condition_of_true_instead_of_1_is_a_new_version(endpoints: EndpointWorld) -> None:
    """In Python the two queries are equal."""

    def query(value: object) -> dict[str, Any]:
        condition = {"key": "paid", "type": "event", "value": value}
        return {"kind": "TrendsQuery", "series": [{"event": "a", "properties": [condition]}]}

    await endpoints.create(query(1), name="paid")
    response = await endpoints.patch("/paid", {"query": query(True)})
    same = await endpoints.patch("/paid", {"query": query(True)})

    assert (response.json()["current_version"], same.json()["current_version"]) == (2, 2)
    stored = (await endpoints.get("/paid")).json()["query"]
    assert stored["series"][0]["properties"][0]["value"] is True
