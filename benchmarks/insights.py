"""Insight queries compared with SQL for the bare engine, written by hand.

The hand-written SQL reads ``events`` alone: it knows nothing of merged persons, time zones or rare
types of properties. Its results are compared with those of the insights before anything is shown.
The figures are the lowest processor time of three turns, of the whole process: HTTP, compiling and
the JSON of the response are part of the insight's.

Not measured: merged persons, filters, other processes at the same time, cold files.

Run: ``.venv/bin/python -m benchmarks.insights [--rows 1000000]``
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from benchmarks.endpoints.dataset import in_process
from benchmarks.endpoints.http_calls import Client

from support.server import TOKEN, RunningServer

TURNS = 3
CHUNK = 500_000
SCHEMA_SECONDS = 3  # a little more than queries take to notice a new property
FIRST_DAY, LAST_DAY, DAYS = "2026-10-01", "2026-10-30", 30
# Persons by a power law, so that some have most of the events.
FILL = """
INSERT INTO events (project_id, uuid, event, properties, timestamp, distinct_id, person_id)
SELECT 1, generateUUIDv4(),
       ['$pageview', '$pageview', 'view item', 'purchase'][1 + sipHash64(number, 1) % 4],
       concat('{"$browser":"', ['Chrome', 'Firefox', 'Safari'][1 + sipHash64(number, 2) % 3],
              '","price":', toString(sipHash64(number, 3) % 1000), '.5}'),
       toDateTime64('2026-10-01 00:00:00', 6, 'UTC')
           + toIntervalMicrosecond(sipHash64(number, 4) % (30 * 86400000000)),
       concat('d', toString(owner)), reinterpretAsUUID(sipHash128(owner))
FROM (SELECT number, toUInt64(pow(sipHash64(number) % 1000000 / 1000000, 2) * 50000) AS owner
      FROM numbers({start:UInt64}, {rows:UInt64}))
"""
FIRST = {"event": "$pageview", "distinct_id": "first", "timestamp": "2025-01-01T00:00:00Z",
         "properties": {"$browser": "Chrome", "price": 1.5}}  # fmt: skip

VIEWS = "FROM events WHERE project_id = 1 AND event = '$pageview' AND timestamp >= '2026-10-01'"
DAY = "toString(toDate(timestamp))"
PERSON_DAYS = f"SELECT person_id, toDate(timestamp) AS day {VIEWS} GROUP BY person_id, day"
BY_HAND = {
    "events by day": f"SELECT {DAY} AS day, count() {VIEWS} GROUP BY day",
    "events by day and browser": (
        f"SELECT (properties_json.`$browser`.:String, {DAY}) AS key, count() {VIEWS} GROUP BY key"
    ),
    "sum of a property by day": (
        f"SELECT {DAY} AS day, sum(properties_json.price.:Float64) {VIEWS} GROUP BY day"
    ),
    "daily active users": f"SELECT {DAY} AS day, uniqExact(person_id) {VIEWS} GROUP BY day",
    "weekly active users": (
        "SELECT toString(at) AS day, uniqExact(person_id) FROM (SELECT person_id, "
        f"arrayJoin(arrayMap(later -> day + later, range(7))) AS at FROM ({PERSON_DAYS})) "
        "WHERE at < '2026-10-31' GROUP BY day"
    ),
    "funnel of three steps": (
        "SELECT arrayJoin(range(1, level + 1)) AS step, count() FROM (SELECT person_id, "
        "windowFunnel(1209600000000)(toUInt64(toUnixTimestamp64Micro(timestamp)), "
        "event = '$pageview', event = 'view item', event = 'purchase') AS level FROM events "
        "WHERE project_id = 1 AND timestamp >= '2026-10-01' GROUP BY person_id) GROUP BY step"
    ),
    "retention of eight days": (
        "SELECT (toString(one), dateDiff('day', one, two)) AS key, count() FROM "
        "(SELECT arrayJoin(days) AS one, arrayJoin(reverse(days)) AS two FROM "
        f"(SELECT groupArray(day) AS days FROM ({PERSON_DAYS}) GROUP BY person_id)) "
        "WHERE two >= one AND two < one + 8 AND one <= '2026-10-08' AND two <= '2026-10-08' "
        "GROUP BY key"
    ),
    "stickiness": (
        f"SELECT days, count() FROM (SELECT count() AS days FROM ({PERSON_DAYS}) "
        "GROUP BY person_id) GROUP BY days"
    ),
}
type Values = dict[Any, float]
"""The values of a result by their keys: days, steps or numbers of days."""


def series(event: str = "$pageview", **more: Any) -> dict[str, Any]:
    return {"kind": "EventsNode", "event": event, **more}


def insight(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "dateRange": {"date_from": FIRST_DAY, "date_to": LAST_DAY}, **more}


def by_day(results: list[Any]) -> Values:
    (only,) = results
    return dict(zip(only["days"], only["data"], strict=True))


def by_browser(results: list[Any]) -> Values:
    return {
        (each["breakdown_value"], day): value
        for each in results
        for day, value in zip(each["days"], each["data"], strict=True)
    }


def by_step(results: list[Any]) -> Values:
    return {each["order"] + 1: each["count"] for each in results}


def by_offset(results: list[Any]) -> Values:
    return {
        (each["date"][:10], offset): value["count"]
        for each in results
        for offset, value in enumerate(each["values"])
    }


VIEW = {"id": "$pageview", "type": "events"}
INSIGHTS: dict[str, tuple[dict[str, Any], Callable[[list[Any]], Values]]] = {
    "events by day": (insight("TrendsQuery", series=[series()]), by_day),
    "events by day and browser": (
        insight(
            "TrendsQuery",
            series=[series()],
            breakdownFilter={"breakdown": "$browser", "breakdown_type": "event"},
        ),
        by_browser,
    ),
    "sum of a property by day": (
        insight("TrendsQuery", series=[series(math="sum", math_property="price")]),
        by_day,
    ),
    "daily active users": (insight("TrendsQuery", series=[series(math="dau")]), by_day),
    "weekly active users": (
        insight("TrendsQuery", series=[series(math="weekly_active")]),
        by_day,
    ),
    "funnel of three steps": (
        insight("FunnelsQuery", series=[series(), series("view item"), series("purchase")]),
        by_step,
    ),
    "retention of eight days": (
        {
            "kind": "RetentionQuery",
            "dateRange": {"date_to": "2026-10-08"},
            "retentionFilter": {
                "period": "Day",
                "totalIntervals": 8,
                "targetEntity": VIEW,
                "returningEntity": VIEW,
            },
        },
        by_offset,
    ),
    "stickiness": (insight("StickinessQuery", series=[series()]), by_day),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hoglet-bench-"))
    try:
        in_process(fill, str(folder), options.rows)
        by_hand = in_process(run_by_hand, str(folder))
        show(by_hand, run_insights(folder), options.rows)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fill(folder: str, rows: int) -> None:
    """Insert the events, without a server."""
    import asyncio

    from hoglet.warehouse import open_warehouse

    async def work() -> None:
        warehouse = await open_warehouse(f"chdb://{folder}/warehouse")
        for start in range(0, rows, CHUNK):
            piece = min(CHUNK, rows - start)
            await warehouse.command(FILL, {"start": start, "rows": piece}, seconds=600)
        await warehouse.close()

    asyncio.run(work())


def run_by_hand(folder: str) -> dict[str, tuple[float, Values]]:
    """Processor seconds and values of each hand-written query, in a process without a server."""
    import clickhouse_connect

    client = clickhouse_connect.get_client(dsn=f"chdb://{folder}/warehouse")
    client.command(f"SET max_threads = {os.cpu_count()}")
    measured: dict[str, tuple[float, Values]] = {}
    for name, sql in BY_HAND.items():
        took = []
        for _ in range(TURNS):
            began = time.process_time()
            rows = client.query(sql).result_rows
            took.append(time.process_time() - began)
        measured[name] = (min(took), {key: value for key, value in rows if value})
    client.close()
    return measured


def run_insights(folder: Path) -> dict[str, tuple[float, Values]]:
    """The same of each insight, through the API of a server."""
    server = RunningServer(folder, query_seconds="60").start()
    try:
        assert server.process is not None
        client = Client(server.port)
        client.post("/batch/", {"api_key": TOKEN, "batch": [FIRST]})
        time.sleep(SCHEMA_SECONDS)
        measured: dict[str, tuple[float, Values]] = {}
        for name, (query, read) in INSIGHTS.items():
            took = []
            for _ in range(TURNS):
                began = process_seconds(server.process.pid)
                response = server.client.post(
                    "/api/projects/1/query/", json={"query": query, "refresh": "force_blocking"}
                )
                took.append(process_seconds(server.process.pid) - began)
            values = read(response.raise_for_status().json()["results"])
            measured[name] = (min(took), {key: value for key, value in values.items() if value})
        return measured
    finally:
        server.stop()


def process_seconds(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(
    by_hand: dict[str, tuple[float, Values]], insights: dict[str, tuple[float, Values]], rows: int
) -> None:
    table = Table(title=f"Processor time of insights, {rows:,} events, s")
    for column in ("", "by hand", "insight", "ratio"):
        table.add_column(column, justify="left" if not column else "right")
    for name, (bare_s, expected) in by_hand.items():
        took_s, values = insights[name]
        if not expected or not are_alike(values, expected):
            raise SystemExit(f"{name}: the values differ\n{values}\n{expected}")
        table.add_row(name, f"{bare_s:.2f}", f"{took_s:.2f}", f"{took_s / bare_s:.1f}")
    Console().print(table)


def are_alike(values: Values, expected: Values) -> bool:
    return values.keys() == expected.keys() and all(
        abs(values[key] - value) <= 1e-9 * abs(value) for key, value in expected.items()
    )


if __name__ == "__main__":
    main()
