"""CSV, NDJSON, Arrow and ETags (hoglet goes further)."""

import csv
import io
import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from support.endpoints import EndpointWorld

pytestmark = pytest.mark.asyncio(loop_scope="session")

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

    for accept in ("application/json", "*/*", "text/html", "application/json, text/csv"):
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
    assert table.schema.field("n").type == pa.int64()
    assert table.column("at")[0].as_py() == datetime(2026, 1, 5, 12, tzinfo=UTC)
    assert table.column("maybe").to_pylist() == [1.5, None]


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
