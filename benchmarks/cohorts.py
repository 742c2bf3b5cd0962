"""Calculates cohorts over a large project: seconds, and the engine's peak memory.

    .venv/bin/python -m benchmarks.cohorts --persons 500000 --events 10000000

The engine generates the data in a temporary folder. Events are spread over 30 days, and over
persons by a power law. docs/cohorts.md has the figures of the reference machine.
"""

import argparse
import asyncio
import tempfile
import time
from datetime import UTC, datetime
from typing import Any

from hoglet.cohorts.criteria.compile import criteria_query
from hoglet.cohorts.criteria.schema import read_criteria
from hoglet.cohorts.members import CohortMembers
from hoglet.cohorts.messages import PersonsSql
from hoglet.hogql import Limits, QueryContext, compile_query
from hoglet.warehouse import ClickHouseWarehouse, open_warehouse

type Json = dict[str, Any]

PROJECT = 1
SECONDS = 600.0
NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
PERSONS = """INSERT INTO persons (project_id, id, created_at, properties, is_identified, is_deleted,
version) SELECT 1, toUUID(concat('00000000-0000-4000-8000-', leftPad(hex(number), 12, '0'))),
toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number % 5000000,
concat('{{"plan":"', ['free', 'pro', 'team'][1 + number % 3], '"}}'), 1, 0, 1
FROM numbers({count})"""
EVENTS = """INSERT INTO events (project_id, uuid, event, properties, timestamp, distinct_id,
person_id) SELECT 1, generateUUIDv4(), ['view', 'view', 'view', 'buy', 'leave'][1 + number % 5],
'{{}}', toDateTime64('2026-02-13 12:00:00', 6, 'UTC') + number % 2592000,
concat('d', toString(owner)),
toUUID(concat('00000000-0000-4000-8000-', leftPad(hex(owner), 12, '0')))
FROM (SELECT number, toUInt64(pow((sipHash64(number) % 1000000) / 1000000, 2) * {persons}) AS owner
FROM numbers({first}, {count}))"""
CHUNK = 1_000_000


def behavior(value: str, **more: Any) -> Json:
    """One behavioral criterion on ``buy`` within 30 days."""
    leaf = {"type": "behavioral", "value": value, "key": "buy", "event_type": "events"}
    return leaf | {"time_value": 30, "time_interval": "day"} | more


COHORTS: dict[str, list[Json]] = {
    "person property": [{"type": "person", "key": "plan", "operator": "exact", "value": "pro"}],
    "performed an event": [behavior("performed_event")],
    "performed it 3 times or more": [
        behavior("performed_event_multiple", operator="gte", operator_value=3)
    ],
    "performed two in sequence": [
        behavior(
            "performed_event_sequence",
            seq_event="leave",
            seq_event_type="events",
            seq_time_value=1,
            seq_time_interval="day",
        )
    ],
    "three criteria, one negated": [
        {"type": "person", "key": "plan", "operator": "exact", "value": "pro"},
        behavior("performed_event"),
        behavior("performed_event", key="leave", time_value=2, negation=True),
    ],
}


async def fill(warehouse: ClickHouseWarehouse, persons: int, events: int) -> None:
    """Create the project."""
    await warehouse.command(PERSONS.format(count=persons), seconds=SECONDS)
    for first in range(0, events, CHUNK):
        count = min(CHUNK, events - first)
        statement = EVENTS.format(persons=persons, first=first, count=count)
        await warehouse.command(statement, seconds=SECONDS)


async def peak_memory(warehouse: ClickHouseWarehouse, work: asyncio.Task[None]) -> int:
    """The highest observed memory of a running INSERT, in bytes."""
    most = 0
    statement = (
        "SELECT max(peak_memory_usage) FROM system.processes WHERE query LIKE 'INSERT INTO cohort%'"
    )
    while not work.done():
        result = await warehouse.query(statement)
        most = max(most, int(result.rows[0][0]))
        await asyncio.wait({work}, timeout=0.05)
    return most


async def calculate(warehouse: ClickHouseWarehouse, number: int, criteria: list[Json]) -> str:
    """Calculate one cohort as the server does; returns a line of the table."""
    context = QueryContext(project_id=PROJECT, now=NOW, limits=Limits(max_limit=None))
    filters = read_criteria({"properties": {"type": "AND", "values": criteria}})
    compiled = compile_query(criteria_query(filters, context), context=context)
    members = CohortMembers(warehouse, seconds=SECONDS)
    key = (PROJECT, number, 1)
    began = time.perf_counter()
    work = asyncio.create_task(members.compute(key, PersonsSql(compiled.sql, compiled.params)))
    most = await peak_memory(warehouse, work)
    await work
    seconds = time.perf_counter() - began
    return f"{await members.count(key):,} | {seconds:.1f} s | {most / 2**20:.0f} MiB"


async def main() -> None:
    """Generate the data and calculate the cohorts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--persons", type=int, default=500_000)
    parser.add_argument("--events", type=int, default=10_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        warehouse = await open_warehouse(f"chdb://{folder}/warehouse")
        began = time.perf_counter()
        await fill(warehouse, asked.persons, asked.events)
        print(f"{asked.persons:,} persons, {asked.events:,} events: filled in "
              f"{time.perf_counter() - began:.0f} s")  # fmt: skip
        print("| cohort | members | time | peak memory |\n|---|---|---|---|")
        for number, (name, criteria) in enumerate(COHORTS.items(), 1):
            print(f"| {name} | {await calculate(warehouse, number, criteria)} |", flush=True)
        await warehouse.close()


if __name__ == "__main__":
    asyncio.run(main())
