"""The events that all measurements read, and their queries."""

import asyncio
import multiprocessing
from collections.abc import Callable
from typing import Any

from rich.progress import track

CHUNK = 1_000_000
LEARNT = {"$browser": "String", "price": "Numeric", "tenant": "String", "plan": "String"}
TEXT_COLUMNS = frozenset({"$browser", "plan"})  # those that QUERIES read
FIRST = {"$browser": "Chrome", "price": 5, "tenant": "t1", "plan": "pro"}
TENANTS = 500
FILL = """
INSERT INTO events (project_id, uuid, event, properties, timestamp, distinct_id, person_id)
SELECT 1, generateUUIDv4(), ['$pageview', 'purchase', 'signup'][number % 3 + 1],
       concat('{"$browser":"', ['Chrome', 'Firefox', 'Safari'][number % 3 + 1],
              '","price":', toString(number % 97),
              ',"tenant":"t', toString(number % {tenants:UInt64}),
              '","plan":"', ['free', 'pro'][number % 2 + 1], '"}'),
       toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + toIntervalSecond(number % 2500000),
       toString(number % 5000), generateUUIDv4()
FROM numbers({start:UInt64}, {rows:UInt64})
"""
QUERIES = {
    "constant": "SELECT 1",
    "count": "SELECT event, count() FROM events GROUP BY event ORDER BY event",
    "property": (
        "SELECT properties.plan, sum(toFloat(properties.price)) FROM events "
        "WHERE properties.$browser = 'Chrome' GROUP BY properties.plan ORDER BY properties.plan"
    ),
    "rows": "SELECT event, timestamp, distinct_id FROM events LIMIT 10000",
}
TENANT = (
    "SELECT toStartOfDay(timestamp) AS day, event, count() AS events FROM events "
    "WHERE properties.tenant = {variables.tenant} GROUP BY day, event ORDER BY day, event"
)
# Without a typed column, the property must be extracted from the text of every row.
TEXT = """
SELECT JSONExtractString(properties, 'plan') AS plan,
       sum(toFloat64OrNull(JSONExtractRaw(properties, 'price'))) AS price
FROM events
WHERE project_id = 1 AND JSONExtractString(properties, '$browser') = 'Chrome'
GROUP BY plan ORDER BY plan
"""


def in_process(work: Callable[..., Any], *args: Any) -> Any:
    """Create the data in a separate process, since only one process can open a chDB folder."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, args)


def fill(folder: str, rows: int) -> None:
    """Insert the events in pieces, with a progress bar."""
    from hoglet.warehouse import open_warehouse

    async def work() -> None:
        warehouse = await open_warehouse(f"chdb://{folder}/warehouse")
        for start in track(range(0, rows, CHUNK), "events"):
            piece = min(CHUNK, rows - start)
            await warehouse.command(FILL, {"start": start, "rows": piece, "tenants": TENANTS})
        await warehouse.close()

    asyncio.run(work())


def compiled(query: str) -> tuple[str, dict[str, Any]]:
    """The SQL and values that hoglet compiles a query to, once the properties have columns."""
    from hoglet.hogql.compile import compile_query
    from hoglet.hogql.context import QueryContext

    types = {("event", name): kind for name, kind in LEARNT.items()}
    forms = {key: "integer" if kind == "Numeric" else "text" for key, kind in types.items()}
    context = QueryContext(
        project_id=1, property_types=types, property_forms=forms, text_columns=TEXT_COLUMNS
    )
    plan = compile_query(query, context=context)
    return plan.sql, plan.params
