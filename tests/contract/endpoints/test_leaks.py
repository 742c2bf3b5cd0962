"""A run never returns rows of a tenant that it did not request.

Source: docs/spec/query-endpoints.md#52-variables.
"""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from hoglet.endpoints.enums import REFRESH_WORDS
from support.endpoints import EndpointWorld

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)
TENANTS = ("ant", "bee", "cat")
NODE = {"kind": "EventsNode", "event": "used"}
HOGQL = (
    "SELECT properties.tenant AS whose, toDate(timestamp) AS day, count() AS n FROM events "
    "WHERE properties.tenant = {variables.tenant} AND timestamp >= {variables.since} "
    "GROUP BY whose, day ORDER BY whose, day"
)
BY_TENANT = {"breakdownFilter": {"breakdowns": [{"property": "tenant", "type": "event"}]}}
TRENDS = {"kind": "TrendsQuery", "series": [NODE], "dateRange": {"date_from": "-30d"}} | BY_TENANT
ENTITY = {"id": "used", "type": "events"}
RETENTION = {
    "kind": "RetentionQuery",
    "retentionFilter": {"targetEntity": ENTITY, "returningEntity": ENTITY},
    "dateRange": {"date_from": "-7d"},
} | BY_TENANT
OVERRIDES: list[dict[str, Any]] = [
    {"filters_override": {"date_from": "-60d"}},
    {"filters_override": {"properties": [{"key": "x", "operator": "is_not_set", "type": "event"}]}},
    {"filters_override": {"properties": {"type": "OR", "values": []}}},
    {"query_override": {"breakdownFilter": None}},
    {"query_override": {"breakdownFilter": {}}},
    {"query_override": {"properties": []}},
    {"query_override": {"dateRange": {"date_from": "-60d"}}},
    {"query_override": {"series": [{"kind": "EventsNode", "event": None}]}},
    {"query_override": {"breakdown": None, "filters": {}}},
    {"query_override": {"kind": "TrendsQuery"}},
]


async def world_of_tenants(endpoints: EndpointWorld) -> None:
    await endpoints.add_events(
        [
            ("used", AT - timedelta(days=day), f"{tenant}{day}", f'{{"tenant":"{tenant}"}}')
            for tenant in TENANTS
            for day in range(3)
        ]
    )
    await endpoints.add_variable("tenant", "String", "bee")
    await endpoints.add_variable("since", "Date", "2020-01-01")


def any_request(random: Random, kind: str) -> dict[str, Any]:
    values = [*TENANTS * 4, None, "", "%", "ant' OR '1'='1", 1, True, ["ant", "bee"], [], {}]
    request: dict[str, Any] = {}
    if random.random() < 0.9:
        request["variables"] = {"tenant": random.choice(values)} if random.random() < 0.9 else {}
        if kind == "hogql" and random.random() < 0.9:
            since = [*["2026-01-03", "2020-01-01"] * 4, None, "", "yesterday"]
            request["variables"]["since"] = random.choice(since)
        if random.random() < 0.1:
            request["variables"]["other"] = "ant"
    if random.random() < 0.7:
        request["refresh"] = random.choice(REFRESH_WORDS)
    if random.random() < (0.1 if kind == "hogql" else 0.4):
        request |= random.choice(OVERRIDES)
    if kind == "hogql" and random.random() < 0.3:
        request |= random.choice([{"limit": 2}, {"limit": 50, "offset": 0}, {"cursor": "*"}])
    if random.random() < 0.2:
        request["debug"] = True
    return request


def tenants_requested(request: dict[str, Any]) -> set[str | None]:
    """The tenants that a request names, as results would show them."""
    sent = request.get("variables", {}).get("tenant")
    values = sent if isinstance(sent, list) else [sent]
    return {None if value == "" else str(value) for value in values if value is not None}


def tenants_in(body: dict[str, Any]) -> set[str | None]:
    """The tenants whose data is in an answer."""
    tenants: set[str | None] = set()
    for row in body["results"]:
        values = row[:1] if isinstance(row, list) else row["breakdown_value"]
        tenants |= set(values) if isinstance(values, list) else {values}
    return tenants


@pytest.mark.parametrize(
    ("kind", "query"), [("hogql", HOGQL), ("trends", TRENDS), ("retention", RETENTION)]
)
@pytest.mark.parametrize("times", [36, pytest.param(120, marks=pytest.mark.long)])
async def test_no_rows_of_other_tenants(
    endpoints: EndpointWorld, kind: str, query: Any, times: int
) -> None:
    await world_of_tenants(endpoints)
    random = Random(f"leaks of {kind}")  # noqa: S311 (test data)
    endpoint = await endpoints.create(query, name="a", is_materialized=True, sync_frequency="1hour")
    assert endpoint["is_materialized"] is True
    good = 0
    for number in range(times):
        if number == times // 4:
            await endpoints.services.jobs.drain()
        if number == 3 * times // 4:  # from now on the table is too old to be read
            endpoints.world.clock.advance(seconds=3601)
            endpoints.services.forget()
        request = any_request(random, kind)
        answer = await endpoints.run("a", **request)
        if answer.status_code == 202:
            asked = answer.json()["query_status"]["id"]
            await endpoints.services.jobs.drain()
            answer = await endpoints.get("/a/run", client_query_id=asked)
        assert answer.status_code in (200, 400), (request, answer.text)
        if answer.status_code == 400:
            continue
        good += 1
        assert request["variables"]["tenant"] is not None, request
        assert tenants_in(answer.json()) <= tenants_requested(request), (request, answer.text)
    assert good > times // 6
