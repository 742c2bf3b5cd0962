"""A materialized run returns the rows of the inline run.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.endpoints import EndpointWorld

START = datetime(2026, 1, 1, tzinfo=UTC)
QUERIES = [
    "SELECT count() FROM events WHERE event = {variables.event}",
    "SELECT count() AS n, max(timestamp) FROM events WHERE event = {variables.event}",
    "SELECT event, count() AS n FROM events WHERE event = {variables.event} GROUP BY event",
    (
        "SELECT distinct_id, count() AS n FROM events WHERE event = {variables.event} "
        "GROUP BY distinct_id ORDER BY n DESC, distinct_id LIMIT 3"
    ),
    (
        "SELECT properties.plan AS plan, count() AS n FROM events WHERE event = {variables.event} "
        "GROUP BY plan ORDER BY plan"
    ),
    (
        "SELECT distinct_id, event FROM events WHERE event = {variables.event} "
        "ORDER BY timestamp, distinct_id"
    ),
    "SELECT DISTINCT distinct_id FROM events WHERE event = {variables.event} ORDER BY distinct_id",
    "SELECT uniq(distinct_id) FROM events WHERE event = {variables.event}",
    "SELECT avg(toFloat(properties.price)) FROM events WHERE event = {variables.event}",
    "SELECT sum(toFloat(properties.price)) FROM events WHERE event = {variables.event}",
    "SELECT countIf(properties.plan = 'pro') FROM events WHERE event = {variables.event}",
    "SELECT event, count() AS n FROM events WHERE event LIKE {variables.event} GROUP BY event",
    (
        "SELECT event FROM (SELECT event, count() AS n FROM events GROUP BY event) "
        "WHERE event = {variables.event}"
    ),
    (
        "WITH c AS (SELECT event, count() AS n FROM events GROUP BY event) "
        "SELECT event, n FROM c WHERE event = {variables.event}"
    ),
    (
        "SELECT toStartOfDay(timestamp) AS day, count() FROM events "
        "WHERE event = {variables.event} GROUP BY day HAVING count() > 1 ORDER BY day"
    ),
    "SELECT count() FROM events WHERE timestamp >= {variables.since}",
    (
        "SELECT event, count() AS n, min(timestamp) FROM events "
        "WHERE timestamp >= {variables.since} GROUP BY event ORDER BY event"
    ),
    (
        "SELECT event, sum(toFloat(properties.price)) FROM events "
        "WHERE event = {variables.event} AND timestamp >= {variables.since} GROUP BY event"
    ),
    "SELECT 1 AS x, 'a' AS y",
    "SELECT event, count() FROM events GROUP BY event ORDER BY count() DESC, event LIMIT 2",
    "SELECT number FROM numbers(250) ORDER BY number DESC",
    "SELECT NULL AS nothing, [1, 2] AS list, tuple(1, 'a') AS pair, toDate('2026-01-01') AS day",
]
VALUES: dict[str, list[Any]] = {
    "event": ["a", "%", "b", "missing"],
    "since": ["2026-01-04", "2027-01-01", "2026-01-01"],
}


@pytest.mark.parametrize("count", [1, pytest.param(None, marks=pytest.mark.slow)])
async def test_table_and_raw_data_agree(endpoints: EndpointWorld, count: int | None) -> None:
    """With the first value of each variable; all of them in ``make slow``."""
    await endpoints.add_events(
        [
            (
                "ab"[n % 2],
                START + timedelta(hours=7 * n),
                f"u{n % 5}",
                f'{{"plan":"{["pro", "free", "team"][n % 3]}","price":{n % 7}.5}}',
            )
            for n in range(40)
        ]
    )
    await endpoints.add_variable("event", "String", "a")
    await endpoints.add_variable("since", "Date", "2026-01-01")
    compared = 0
    for number, sql in enumerate(QUERIES):
        name = f"q{number}"
        endpoint = await endpoints.create(sql, name=name)
        if not endpoint["materialization"]["can_materialize"]:
            continue
        compared += 1
        assert (await endpoints.patch(f"/{name}", {"is_materialized": True})).status_code == 200
        await endpoints.services.jobs.drain()
        for index, variables in enumerate(_choices(sql, count)):
            pages = [{}] if index else [{}, {"limit": 2}, {"limit": 2, "offset": 1}]
            for page in pages:
                await _compare(endpoints, name, sql, variables, page)
    assert compared >= 15


async def _compare(
    endpoints: EndpointWorld, name: str, sql: str, variables: dict[str, Any], page: dict[str, int]
) -> None:
    table = await endpoints.ran(name, variables=variables, refresh="force", **page)
    raw = await endpoints.ran(name, variables=variables, refresh="direct", **page)
    where = (sql, variables, page)
    assert table["endpoint_materialized"] is True, where
    for key in ("results", "columns", "hasMore", "limit", "offset", "types"):
        if key == "types" and "NULL" in sql:
            continue  # a bare NULL has no type that can be stored
        assert table[key] == raw[key], (key, where)


def _choices(sql: str, count: int | None) -> list[dict[str, Any]]:
    choices: list[dict[str, Any]] = [{}]
    for name, values in VALUES.items():
        if f"variables.{name}" in sql:
            choices = [{**chosen, name: value} for chosen in choices for value in values[:count]]
    return choices
