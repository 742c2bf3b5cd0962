"""Birthdays and other times far from now: in queries, tables, insights and response formats."""

import csv
import io
from datetime import UTC, date, datetime
from typing import Any

import httpx
import pyarrow as pa
import pytest

from support.endpoints import EndpointWorld
from support.queries import QueryWorld

BORN = (
    "1900-01-01", "1950-03-15T10:20:30.500Z", "1969-12-31T23:59:59Z", "2026-01-05 10:00:00",
    "2106-02-08", "2149-06-07T00:00:00Z", "2200-07-09T12:00:00+02:00", "2299-12-31",
)  # fmt: skip
NOON = datetime(2026, 1, 5, 11, tzinfo=UTC)
DAYS = sorted(text[:10] for text in BORN)
MONTHS = sorted(text[:7] + "-01" for text in BORN)


async def add(endpoints: EndpointWorld) -> None:
    endpoints.property_types["event", "born"] = "DateTime"
    await endpoints.add_events([("a", NOON, text, f'{{"born": "{text}"}}') for text in BORN])


QUERY = (
    "SELECT toDate(properties.born) AS day, toStartOfMonth(properties.born) AS month, "
    "toStartOfDay(properties.born) AS start, count() AS n FROM events GROUP BY ALL ORDER BY day"
)


async def test_rows_and_types(queries: QueryWorld) -> None:
    await add(queries.endpoints)

    body = await queries.ran(QUERY)

    assert [row[0] for row in body["results"]] == DAYS
    assert [row[1] for row in body["results"]] == MONTHS
    assert [row[2] for row in body["results"]] == [f"{day}T00:00:00Z" for day in DAYS]
    kinds = [kind.removeprefix("Nullable(").rstrip(")") for _, kind in body["types"]]
    assert kinds == ["Date", "Date", "DateTime('UTC'", "UInt64"]


async def test_tables_hold_them(endpoints: EndpointWorld) -> None:
    await add(endpoints)
    await endpoints.create(QUERY, name="a")
    inline = (await endpoints.ran("a"))["results"]
    response = await endpoints.patch("/a", {"is_materialized": True})
    assert response.status_code == 200, response.text
    await endpoints.services.jobs.drain()

    body = await endpoints.ran("a", refresh="force")
    assert body["endpoint_materialized"] is True

    assert body["results"] == inline
    assert [row[0] for row in inline] == DAYS


async def test_every_format_holds_them(endpoints: EndpointWorld) -> None:
    await add(endpoints)
    await endpoints.create(QUERY, name="a")

    async def ask(accept: str) -> httpx.Response:
        url = endpoints.base + "/a/run"
        return await endpoints.client.post(url, json={}, headers={"Accept": accept})

    text = (await ask("text/csv")).text
    assert [row["day"] for row in csv.DictReader(io.StringIO(text))] == DAYS
    arrow = (await ask("application/vnd.apache.arrow.stream")).content
    table = pa.ipc.open_stream(arrow).read_all()
    assert table.column("day").to_pylist() == [date.fromisoformat(day) for day in DAYS]
    starts = [at.date() for at in table.column("start").to_pylist()]
    assert starts == [date.fromisoformat(day) for day in DAYS]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("properties.born < '1970-01-01'", 3),
        ("toDate(properties.born) <= '1950-03-15'", 2),
        ("properties.born > '2149-01-01'", 3),
        ("toDate(properties.born) = '2200-07-09'", 1),
        ("toStartOfYear(properties.born) = '1969-01-01'", 1),
        ("dateDiff('year', properties.born, toDateTime('2026-01-05 00:00:00')) = 76", 1),
        ("toYYYYMM(properties.born) between 195001 and 196912", 2),
    ],
)
async def test_conditions(queries: QueryWorld, condition: str, expected: int) -> None:
    await add(queries.endpoints)
    body = await queries.ran(f"SELECT count() FROM events WHERE {condition}")
    assert body["results"] == [[expected]]


@pytest.mark.parametrize("text", ["0001-01-01", "1850-06-01", "2350-01-01", "9999-12-31"])
async def test_other_years_are_not_replaced(queries: QueryWorld, text: str) -> None:
    queries.endpoints.property_types["event", "born"] = "DateTime"
    await queries.endpoints.add_events([("a", NOON, "a", f'{{"born": "{text}"}}')])

    body = await queries.ran(
        "SELECT toDate(properties.born), toString(properties.born), toStartOfDay(properties.born), "
        "map('a', toDate(properties.born)), properties.born FROM events"
    )

    [row] = body["results"]
    assert row == [text, text, f"{text}T00:00:00Z", {"a": text}, f"{text}T00:00:00Z"]


async def test_breakdowns_of_insights(queries: QueryWorld) -> None:
    await add(queries.endpoints)
    breakdown = {"breakdown_type": "hogql", "breakdown": "toStartOfYear(properties.born)"}
    query: dict[str, Any] = {
        "kind": "TrendsQuery",
        "series": [{"kind": "EventsNode", "event": "a"}],
        "dateRange": {"date_from": "2026-01-01", "date_to": "2026-01-31"},
        "breakdownFilter": breakdown,
    }

    body = await queries.ran(query)

    years = sorted(str(series["breakdown_value"])[:4] for series in body["results"])
    assert years == sorted(day[:4] for day in DAYS)
