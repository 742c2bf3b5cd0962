"""CSV, NDJSON, Arrow and ETags."""

import csv
import io
import json
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.parquet as pq

from support.endpoints import EndpointWorld

SQL = (
    "SELECT number AS n, concat('it, \"', toString(number), '\"') AS text, "
    "toDateTime('2026-01-05 12:00:00', 'UTC') AS at, if(number = 1, NULL, 1.5) AS maybe, "
    "[1, 2] AS list, number = 1 AS flag FROM numbers(2)"
)


async def test_other_forms(endpoints: EndpointWorld) -> None:
    await endpoints.create(SQL, name="a")

    async def ask(accept: str) -> tuple[str, bytes]:
        url = endpoints.base + "/a/run"
        response = await endpoints.client.post(url, json={}, headers={"Accept": accept})
        assert response.status_code == 200, response.text
        return response.headers["content-type"].partition(";")[0], response.content

    for accept in (
        "application/json",
        "*/*",
        "text/html, */*;q=0.1",
        "application/json, text/csv",
        "text/csv;q=0.5, application/json;q=0.6",
        "text/csv;q=0, */*",
    ):
        assert (await ask(accept))[0] == "application/json"
    kind, text = await ask("text/csv")
    assert kind == "text/csv"
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    assert rows[0]["text"] == 'it, "0"'
    assert [row["maybe"] for row in rows] == ["1.5", ""]
    kind, text = await ask("application/x-ndjson")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["maybe"] for line in lines] == [1.5, None]
    assert lines[0]["list"] == [1, 2]
    kind, stream = await ask("application/vnd.apache.arrow.stream")
    table = pa.ipc.open_stream(stream).read_all()
    assert table.schema.field("n").type == pa.uint64()
    assert table.column("at")[0].as_py() == datetime(2026, 1, 5, 12, tzinfo=UTC)
    assert table.column("maybe").to_pylist() == [1.5, None]
    assert table.column("list").to_pylist() == [[1, 2], [1, 2]]
    kind, file = await ask("application/json;q=0.1, application/vnd.apache.parquet")
    assert kind == "application/vnd.apache.parquet"
    assert pq.read_table(io.BytesIO(file)).equals(table)


async def test_unknown_forms_are_refused(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    series = [{"kind": "EventsNode", "event": "a"}]
    await endpoints.create({"kind": "TrendsQuery", "series": series}, name="t")
    for name, accept in (("a", "text/html"), ("a", "text/csv;q=0"), ("t", "text/csv")):
        url = f"{endpoints.base}/{name}/run"
        response = await endpoints.client.post(url, json={}, headers={"Accept": accept})
        assert response.status_code == 406, (name, accept)
        assert response.json()["code"] == "not_acceptable"


async def test_large_results_are_written_in_parts(endpoints: EndpointWorld) -> None:
    sql = (
        "SELECT number AS n, if(number % 2 = 0, NULL, toDateTime('2026-01-05 12:00:00')) AS at, "
        "toUUID('01890000-0000-7000-8000-000000000000') AS u, map('a', number) AS m, "
        "[toDate('2026-01-05')] AS days FROM numbers(5001) LIMIT 5001"
    )
    await endpoints.create(sql, name="a")

    async def ask(accept: str) -> bytes:
        url = endpoints.base + "/a/run"
        response = await endpoints.client.post(url, json={}, headers={"Accept": accept})
        assert response.status_code == 200, response.text
        return response.content

    table = pa.ipc.open_stream(await ask("application/vnd.apache.arrow.stream")).read_all()
    assert table.column("n").to_pylist() == list(range(5001))
    assert table.column("at").null_count == 2501
    assert table.column("m")[3].as_py() == '{"a":3}'
    assert table.column("days")[0].as_py() == [date(2026, 1, 5)]
    assert table.column("n").num_chunks > 2
    file = pq.ParquetFile(io.BytesIO(await ask("application/vnd.apache.parquet")))
    assert (file.num_row_groups, file.metadata.num_rows) == (3, 5001)
    assert file.read().equals(table)
    assert len((await ask("text/csv")).splitlines()) == 5002
    assert len((await ask("application/x-ndjson")).splitlines()) == 5001
    rows = (await endpoints.ran("a"))["results"]
    assert [row[0] for row in rows] == list(range(5001))


async def test_no_rows_have_headers_too(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT number AS n FROM numbers(5) WHERE number > 9", name="a")
    for accept, body in (("text/csv", b"n\r\n"), ("application/x-ndjson", b"")):
        response = await endpoints.client.get(endpoints.base + "/a/run", headers={"Accept": accept})
        assert response.content == body
        assert response.headers["hoglet-has-more"] == "false"


async def test_etags(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT count() FROM events", name="a")
    url = endpoints.base + "/a/run"
    first = await endpoints.client.get(url)
    tag = {"If-None-Match": first.headers["etag"]}
    assert (await endpoints.client.get(url, headers=tag)).status_code == 304
    assert (await endpoints.client.get(url, headers=tag)).content == b""
    assert (await endpoints.client.post(url, json={}, headers=tag)).status_code == 200
    same = await endpoints.client.get(url, params={"refresh": "force"}, headers=tag)
    assert same.status_code == 304
    await endpoints.add_events([("a", datetime(2026, 1, 1, tzinfo=UTC), "u", "{}")])
    changed = await endpoints.client.get(url, params={"refresh": "force"}, headers=tag)
    assert changed.status_code == 200


async def test_large_fractions_and_equal_names_in_every_form(endpoints: EndpointWorld) -> None:
    sql = "SELECT 123456789012345680.0 AS x, [1.5e17, 0.5, nan] AS x, [NULL, 2] AS x_2, 'a' AS y"
    await endpoints.create(sql, name="a")

    async def ask(accept: str) -> bytes:
        url = endpoints.base + "/a/run"
        response = await endpoints.client.post(url, json={}, headers={"Accept": accept})
        assert response.status_code == 200, response.text
        return response.content

    expected = {"x": 123456789012345680.0, "x_3": [1.5e17, 0.5, None], "x_2": [None, 2], "y": "a"}
    assert json.loads(await ask("application/x-ndjson")) == expected
    stream = await ask("application/vnd.apache.arrow.stream")
    table = pa.ipc.open_stream(stream).read_all()
    assert table.to_pylist() == [expected]
    assert table.schema.field("x_3").type == pa.list_(pa.float64())
    file = await ask("application/vnd.apache.parquet")
    assert pq.read_table(io.BytesIO(file)).to_pylist() == [expected]
