"""Compile time of a query of thirty lines: parsing, and the rest."""

import time

from benchmarks.endpoints.timing import percentiles

ROUNDS = 200
QUERY = """
WITH purchases AS (
    SELECT
        person_id,
        toStartOfWeek(timestamp) AS week,
        properties.plan AS plan,
        toFloat(properties.price) AS price
    FROM events
    WHERE event = 'purchase'
        AND timestamp >= toDateTime('2026-01-01 00:00:00')
        AND properties.$browser IN ('Chrome', 'Firefox', 'Safari')
),
weekly AS (
    SELECT
        week,
        plan,
        count() AS purchases,
        uniq(person_id) AS buyers,
        sum(price) AS revenue,
        quantile(0.9)(price) AS high
    FROM purchases
    GROUP BY week, plan
)
SELECT
    week,
    plan,
    purchases,
    buyers,
    round(revenue / buyers, 2) AS revenue_per_buyer,
    if(high > 50, 'high', 'low') AS level
FROM weekly
WHERE buyers > 3
ORDER BY week, revenue DESC
LIMIT 50
"""


def compile_times() -> tuple[float, float]:
    """Median milliseconds of parsing alone and of the whole compilation."""
    from hoglet.hogql.compile import compile_query
    from hoglet.hogql.context import QueryContext
    from hoglet.syntax.parse import parse_query

    context = QueryContext(project_id=1)
    return (
        _median(lambda: parse_query(QUERY)),
        _median(lambda: compile_query(QUERY, context=context)),
    )


def _median(work: object) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()  # type: ignore[operator]
        times.append((time.perf_counter() - started) * 1000)
    return percentiles(times[ROUNDS // 10 :])[0]
