"""Events queries: columns, grouping, cursors, bounds, filters, errors.

Source: docs/spec/data-and-queries.md#17-eventsquery and
docs/spec/data-and-queries.md#8-acceptance-cases.
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from hoglet.access.tables import ProjectRow
from support.access import NOW
from support.queries import QueryWorld

EVENT_KEYS = {
    *("uuid", "event", "properties", "timestamp", "team_id", "distinct_id"),
    *("elements_chain", "created_at", "person_mode"),
}
CACHE_KEYS = {"is_cached", "cache_key", "cache_target_age", "last_refresh"}
HOUR = timedelta(hours=1)


def node(*select: str, **more: Any) -> dict[str, Any]:
    return {"kind": "EventsQuery", "select": list(select), **more}


async def add(queries: QueryWorld, *events: tuple[Any, ...]) -> None:
    """Insert ``(event, age)`` or with a distinct id, and properties."""
    rows = []
    for event, age, *more in events:
        distinct_id = more[0] if more else "u1"
        properties = json.dumps(more[1] if len(more) > 1 else {})
        rows.append((event, NOW - age, distinct_id, properties))
    await queries.endpoints.add_events(rows)


async def column(queries: QueryWorld, *select: str, **more: Any) -> list[Any]:
    body = await queries.ran(node(*select, **more))
    return [row[0] for row in body["results"]]


async def test_whole_events_newest_first(queries: QueryWorld) -> None:
    await add(queries, ("old", 2 * HOUR), ("new", HOUR, "u1", {"plan": "pro", "n": 3}))
    body = await queries.ran(node("*", "person", "timestamp"))
    first, person, at = body["results"][0]
    assert set(first) == EVENT_KEYS
    assert (first["event"], first["properties"]) == ("new", {"plan": "pro", "n": 3})
    assert first["team_id"] == queries.endpoints.project_id
    assert person == {"distinct_id": "u1"}
    assert first["timestamp"] == at
    assert [row[0]["event"] for row in body["results"]] == ["new", "old"]
    assert body["columns"] == ["*", "person", "timestamp"]
    assert all(isinstance(kind, str) for kind in body["types"])
    assert len(body["types"]) == 3
    assert set(body) >= CACHE_KEYS | {"hogql", "nextCursor", "hasMore", "limit", "offset", "error"}


async def test_no_columns_means_whole_events(queries: QueryWorld) -> None:
    await add(queries, ("a", HOUR))
    body = await queries.ran(node())
    assert body["columns"] == ["*"]
    assert body["results"][0][0]["event"] == "a"


async def add_person(queries: QueryWorld, distinct_id: str, properties: dict[str, Any]) -> UUID:
    """A person that events of this distinct id belong to."""
    person, project = uuid4(), queries.endpoints.project_id
    warehouse = queries.endpoints.warehouse
    columns = ("project_id", "id", "properties", "created_at", "is_identified", "version")
    text = json.dumps(properties)
    await warehouse.insert("persons", columns, [(project, person, text, NOW, 1, 1)])
    ids = ("project_id", "distinct_id", "person_id", "version")
    for table in ("person_distinct_ids", "person_distinct_id_overrides"):
        await warehouse.insert(table, ids, [(project, distinct_id, person, 1)])
    return person


async def test_persons_and_their_names(queries: QueryWorld) -> None:
    person = await add_person(queries, "u1", {"email": "a@b.c", "name": "Ann"})
    unnamed = await add_person(queries, "u2", {"plan": "pro", "email": ""})
    await add(queries, ("a", HOUR, "u1"), ("b", 2 * HOUR, "u2"), ("c", 3 * HOUR, "u3"))
    select = ("person", "person_display_name")
    rows = (await queries.ran(node(*select, orderBy=["event"])))["results"]
    assert rows[0][0]["uuid"] == str(person)
    assert rows[0][0]["properties"] == {"email": "a@b.c", "name": "Ann"}
    assert set(rows[0][0]) == {"uuid", "created_at", "properties", "distinct_id"}
    assert [row[1] for row in rows] == [
        {"display_name": "a@b.c", "id": str(person), "distinct_id": "u1"},
        {"display_name": "u2", "id": str(unnamed), "distinct_id": "u2"},
        {"display_name": "u3", "id": None, "distinct_id": "u3"},
    ]
    named = await column(queries, "person_display_name", orderBy=["person_display_name DESC"])
    assert [each["distinct_id"] for each in named] == ["u3", "u2", "u1"]
    assert await column(queries, "event", personId=str(person)) == ["a"]
    assert await column(queries, "event", personId=str(uuid4())) == []
    digits = person.hex[:12] + person.hex[13]
    assert await column(queries, "event", personId=int(digits, 16)) == ["a"]
    assert await column(queries, "event", personId=str(int(digits, 16))) == ["a"]
    for number in (int(digits, 16) ^ 1, 0, -1, 2**52, "9" * 40):
        assert await column(queries, "event", personId=number) == []


async def test_elements_of_a_chain(queries: QueryWorld) -> None:
    chain = 'a.a.b:attr__class="b a"href="/x;y"nth-child="2"nth-of-type="1"text="Say \\"hi\\"";div:'
    warehouse = queries.endpoints.warehouse
    columns = ("project_id", "uuid", "event", "timestamp", "distinct_id", "elements_chain")
    project = queries.endpoints.project_id
    await warehouse.insert("events", columns, [(project, uuid4(), "a", NOW - HOUR, "u", chain)])
    (event,) = await column(queries, "*")
    first, second = event["elements"]
    assert (first["tag_name"], first["href"], first["text"]) == ("a", "/x;y", 'Say "hi"')
    assert (first["attr_class"], first["nth_child"]) == (["a", "b"], 2)
    assert first["attributes"] == {"attr__class": "b a"}
    assert (second["tag_name"], second["order"]) == ("div", 1)


async def test_aggregations_group_by_the_other_columns(queries: QueryWorld) -> None:
    await add(queries, *[("a", HOUR)] * 3, *[("b", HOUR)] * 5, ("c", HOUR))
    body = await queries.ran(node("event", "count()"))
    assert body["results"] == [["b", 5], ["a", 3], ["c", 1]]
    assert body["nextCursor"] is None
    having = await queries.ran(node("event", "count()", where=["count() > 1", "event != 'b'"]))
    assert having["results"] == [["a", 3]]
    named = await queries.ran(node("event AS name -- Event", "count() AS n", orderBy=["n"]))
    assert named["columns"] == ["Event", "count() AS n"]
    assert named["results"] == [["c", 1], ["a", 3], ["b", 5]]
    constant = await queries.ran(node("1", "count()", "'x'"))
    assert constant["results"] == [[1, 9, "x"]]
    by_name = await queries.ran(node("event", "count() AS n", "n * 2 AS m", where=["m > 6"]))
    assert by_name["results"] == [["b", 5, 10]]
    only_having = await queries.ran(node("event", where=["count() >= 5"]))
    assert only_having["results"] == [["b"]]


@pytest.mark.parametrize(
    ("select", "order"),
    [
        (["event", "uniq(distinct_id)", "count()"], ["b", "a"]),
        (["event", "max(toInt(properties.n))", "min(distinct_id)"], ["a", "b"]),
        (["event"], ["a", "b", "b"]),
        (["event", "timestamp"], ["b", "a", "b"]),
        (["upper(event)", "event"], ["A", "B", "B"]),
    ],
)
async def test_default_order(queries: QueryWorld, select: list[str], order: list[str]) -> None:
    await add(
        queries, ("b", 3 * HOUR, "u", {"n": 1}), ("a", 2 * HOUR, "u", {"n": 9}), ("b", HOUR, "v")
    )
    assert await column(queries, *select) == order


async def test_windows_and_subqueries_are_no_aggregations(queries: QueryWorld) -> None:
    await add(queries, ("a", HOUR), ("b", 2 * HOUR))
    body = await queries.ran(node("event", "count() OVER ()", "timestamp"))
    assert [row[:2] for row in body["results"]] == [["a", 2], ["b", 2]]
    inner = "distinct_id IN (SELECT distinct_id FROM events GROUP BY distinct_id HAVING count()>1)"
    assert await column(queries, "event", where=[inner]) == ["a", "b"]


@pytest.mark.parametrize(("order", "key"), [("timestamp DESC", "before"), ("timestamp", "after")])
async def test_pages_by_cursor_hold_every_event_once(
    queries: QueryWorld, order: str, key: str
) -> None:
    await add(queries, *[(f"e{n}", HOUR) for n in range(4)], ("e4", 2 * HOUR))
    uuids: list[str] = []
    more: dict[str, Any] = {}
    body: dict[str, Any] = {}
    for _ in range(3):
        body = await queries.ran(node("event", orderBy=[order], limit=2, **more))
        uuids += [row[0] for row in body["results"]]
        assert body["hasMore"] is (body["nextCursor"] is not None)
        more = {key: body["nextCursor"]}
    assert sorted(uuids) == ["e0", "e1", "e2", "e3", "e4"]
    assert more == {key: None}
    assert body["columns"] == ["event"]
    assert all(len(row) == 1 for row in body["results"])


async def in_zone(queries: QueryWorld, name: str) -> None:
    world = queries.endpoints.world
    async with world.database.write() as session:
        row = await session.get(ProjectRow, queries.endpoints.project_id)
        assert row is not None
        row.timezone = name
    world.access.forget()


async def test_a_cursor_is_exact_in_the_zone_of_the_project(queries: QueryWorld) -> None:
    await in_zone(queries, "Europe/Berlin")
    await add(queries, *[(f"e{n}", timedelta(microseconds=n)) for n in range(5)])
    first = await queries.ran(node("event", "timestamp", limit=2))
    second = await queries.ran(node("event", "timestamp", before=first["nextCursor"]))
    assert [row[0] for row in first["results"] + second["results"]] == [f"e{n}" for n in range(5)]


async def test_ties_have_a_stable_order(queries: QueryWorld) -> None:
    await add(queries, *[(f"e{n}", HOUR) for n in range(20)])
    pages = [await column(queries, "event", "timestamp", limit=5, offset=n) for n in (0, 5, 10, 15)]
    assert len({event for page in pages for event in page}) == 20
    both = await queries.ran(node("event", orderBy=["timestamp", "event DESC"], limit=5))
    assert (both["hasMore"], both["nextCursor"]) == (True, None)
    assert both["results"][0] == ["e9"]


async def test_the_last_day_up_to_now(queries: QueryWorld) -> None:
    await add(queries, ("future", -HOUR), ("now", 0 * HOUR), ("old", 25 * HOUR))
    assert await column(queries, "event") == ["now"]
    assert await column(queries, "event", after="all") == ["now", "old"]
    assert await column(queries, "event", after="-26h", before="-24h") == ["old"]
    assert await column(queries, "event", before="+2h", after="-1M") == ["future", "now"]


async def test_both_ends_are_exclusive_and_not_truncated(queries: QueryWorld) -> None:
    await add(queries, ("a", HOUR), ("b", 2 * HOUR), ("c", 3 * HOUR))
    ends = {"after": (NOW - 3 * HOUR).isoformat(), "before": (NOW - HOUR).isoformat()}
    assert await column(queries, "event", **ends) == ["b"]
    assert await column(queries, "event", after="-3h", before="-1h") == ["b"]
    assert await column(queries, "event", after="-1d", before="-119M") == ["b", "c"]


async def test_events_and_actions_are_alternatives(queries: QueryWorld) -> None:
    await add(queries, ("a", HOUR), ("b", HOUR), ("c", HOUR, "u", {"plan": "pro"}))
    assert await column(queries, "event", event="a") == ["a"]
    assert await column(queries, "event", event="a", events=["b", "x"]) == ["a", "b"]
    assert await column(queries, "event", events=[]) == ["a", "b", "c"]
    assert await column(queries, "event", event="") == ["a", "b", "c"]
    plan = {"key": "plan", "value": "pro", "operator": "exact", "type": "event"}
    steps: Sequence[Any] = [{"event": "a"}, {"properties": [plan]}]
    assert await column(queries, "event", actionSteps=steps) == ["a", "c"]
    assert await column(queries, "event", actionSteps=[{"event": "b"}], event="a") == ["a", "b"]


async def test_filters_hold_together(queries: QueryWorld) -> None:
    await add(
        queries,
        *(("a", HOUR, "u", {"plan": plan, "n": n}) for plan in ("pro", "free") for n in (1, 2)),
    )
    plan = {"key": "plan", "value": "pro", "operator": "exact", "type": "event"}
    condition = {"key": "n", "value": "1", "operator": "exact", "type": "event"}
    count = "count()"
    assert await column(queries, count, properties=[plan]) == [2]
    assert await column(queries, count, properties=[plan], fixedProperties=[condition]) == [1]
    either = {"type": "OR", "values": [plan, condition]}
    assert await column(queries, count, fixedProperties=[either]) == [3]
    both = {"type": "AND", "values": [plan, condition]}
    assert await column(queries, count, properties=both) == [1]
    written = {"key": "toInt(properties.n) > 1", "type": "hogql"}
    assert await column(queries, count, properties=[written], where=["properties.plan='pro'"]) == [
        1
    ]
    override = await queries.ran(node(count), filters_override={"properties": [plan]})
    assert override["results"] == [[2]]
    override = await queries.ran(node(count), filters_override={"date_from": "-30M"})
    assert override["results"] == [[0]]


async def test_titles(queries: QueryWorld) -> None:
    await add(queries, ("a", HOUR))
    select = ["event -- Name", "'--' -- Dashes", "'a -- b'", "event --", "1 -- a -- b"]
    body = await queries.ran(node(*select, orderBy=["Name DESC"]))
    assert body["columns"] == ["Name", "Dashes", "'a -- b'", "event", "a -- b"]
    assert body["results"] == [["a", "--", "a -- b", "a", 1]]


async def test_an_alias_does_not_move_the_bounds(queries: QueryWorld) -> None:
    await add(queries, ("a", HOUR), ("old", 48 * HOUR))
    body = await queries.ran(node("toDateTime('2020-01-01') AS timestamp", "'b' AS event"))
    assert len(body["results"]) == 1
    aliased = await queries.ran(node("lower(event) AS timestamp", event="a"))
    assert aliased["results"] == [["a"]]


async def test_pages(queries: QueryWorld) -> None:
    await add(queries, *[(f"e{n}", HOUR) for n in range(5)])
    body = await queries.ran(node("event", limit=2, offset=1))
    assert body["results"] == [["e1"], ["e2"]]
    assert (body["limit"], body["offset"], body["hasMore"]) == (2, 1, True)
    large = await queries.ran(node("event", limit=60_000))
    assert (large["limit"], large["hasMore"]) == (50_000, False)


async def test_cached_only_with_both_ends(queries: QueryWorld) -> None:
    ends = {"after": "2026-01-01", "before": "2026-01-02"}
    for more, is_cached in (({}, False), ({"after": "all"}, False), (ends, True)):
        await queries.ran(node("event", **more))
        assert (await queries.ran(node("event", **more)))["is_cached"] is is_cached
    forced = await queries.ran(node("event", **ends), refresh="force_blocking")
    assert forced["is_cached"] is False


async def test_in_the_background_and_in_wrappers(queries: QueryWorld) -> None:
    await add(queries, ("a", HOUR))
    table = {"kind": "DataTableNode", "source": node("event")}
    assert (await queries.ran(table))["results"] == [["a"]]
    response = await queries.send(node("event"), refresh="force_async", client_query_id="events")
    assert response.status_code == 202
    await queries.services.worker.drain()
    done = (await queries.get("events")).json()["query_status"]
    assert done["results"]["results"] == [["a"]]
    assert done["results"]["columns"] == ["event"]


@pytest.mark.parametrize(
    ("more", "attr"),
    [
        ({"select": "event"}, "select"),
        ({"select": ["event", 3]}, "select__1"),
        ({"select": None}, "select"),
        ({"where": "1"}, "where"),
        ({"wheer": []}, "wheer"),
        ({"source": {"kind": "EventsQuery"}}, "source"),
        ({"after": "7dd"}, "after"),
        ({"before": "yesterday"}, "before"),
        ({"before": "all"}, "before"),
        ({"before": "2026-01-05T10:00:00Z|nope"}, "before"),
        ({"actionId": 999_999}, "actionId"),
        ({"actionId": "7"}, "actionId"),
        ({"actionSteps": [{"evnt": "a"}]}, "actionSteps__0__evnt"),
        (
            {"actionSteps": [{"url": "a", "url_matching": "contans"}]},
            "actionSteps__0__url_matching",
        ),
        ({"modifiers": {"foo": 1}}, "modifiers__foo"),
        ({"personId": "ann"}, "personId"),
        ({"limit": 0}, "limit"),
        ({"limit": True}, "limit"),
        ({"offset": -1}, "offset"),
        ({"events": ["a", None]}, "events__1"),
        ({"properties": [{"key": "a", "value": 1, "type": "x"}]}, "properties__0__type"),
        ({"fixedProperties": [{"key": "a", "value": 1, "type": "x"}]}, "fixedProperties__0__type"),
        ({"orderBy": "event"}, "orderBy"),
    ],
)
async def test_keys_are_refused_with_their_path(
    queries: QueryWorld, more: dict[str, Any], attr: str
) -> None:
    assert await queries.refused(node("event") | more) == (400, "parse_error", f"query__{attr}")


HOGQL = [{"type": "hogql", "key": "event = 'a'"}]


@pytest.mark.parametrize(
    ("more", "code", "attr", "detail"),
    [
        ({"select": ["nope"]}, "hogql_query_error", "select__0", "1:1: Unable to resolve"),
        ({"select": ["event", "  1 +\n nope"]}, "hogql_query_error", "select__1", "2:2: Unable"),
        ({"select": ["event", "nope -- x"]}, "hogql_query_error", "select__1", "1:1: Unable"),
        ({"select": ["event, count()"]}, "hogql_syntax_error", "select__0", "single expression"),
        (
            {"select": ["event FROM persons"]},
            "hogql_syntax_error",
            "select__0",
            "single expression",
        ),
        ({"select": ["event", "1) FROM persons --"]}, "hogql_syntax_error", "select__1", ""),
        ({"select": ["event", "event LIMIT 1"]}, "hogql_syntax_error", "select__1", ""),
        ({"select": ["{variables.x}"]}, "hogql_syntax_error", "select__0", "1:1: Placeholders"),
        ({"select": ["ä", "1"]}, "hogql_syntax_error", "select__0", ""),
        ({"select": ["'ä', 1 + nope"]}, "hogql_syntax_error", "select__0", ""),
        ({"select": ["concat('ä', nope)"]}, "hogql_query_error", "select__0", "1:13: Unable"),
        (
            {"select": ["count()", "sum(event)"]},
            "illegal_type_of_argument",
            "select__1",
            "1:1: sum",
        ),
        ({"select": ["1 + count(sum(1))"]}, "illegal_aggregation", "select__0", "1:5: An agg"),
        ({"where": ["1 = 1) OR (1 = 1"]}, "hogql_syntax_error", "where__0", ""),
        ({"where": ["1 = 1", "event ="]}, "hogql_syntax_error", "where__1", "1:8: "),
        ({"where": ["1 = 1", "2 = nope"]}, "hogql_query_error", "where__1", "1:5: Unable"),
        ({"where": ["event"]}, "illegal_type_of_argument", "where__0", "1:1: Expected a condition"),
        (
            {"where": ["1", "not event"]},
            "illegal_type_of_argument",
            "where__1",
            "1:5: Expected a condition",
        ),
        (
            {"where": ["distinct_id"]},
            "illegal_type_of_argument",
            "where__0",
            "1:1: Expected a condition",
        ),
        ({"where": ["event AS e"]}, "hogql_syntax_error", "where__0", "name"),
        ({"select": ["event", " "]}, "parse_error", "select__1", "This expression is empty"),
        ({"where": [""]}, "parse_error", "where__0", "This expression is empty"),
        ({"where": [1]}, "parse_error", "where__0", "This must be a string"),
        ({"where": ["count() > nope"]}, "hogql_query_error", "where__0", "1:11: Unable"),
        ({"orderBy": ["event LIMIT 5"]}, "hogql_syntax_error", "orderBy__0", ""),
        ({"orderBy": ["event, timestamp"]}, "hogql_syntax_error", "orderBy__0", ""),
        ({"orderBy": ["event", "nope DESC"]}, "hogql_query_error", "orderBy__1", "1:1: Unable"),
        (
            {"orderBy": ["event", "lower(1, 2)"]},
            "number_of_arguments_doesnt_match",
            "orderBy__1",
            "",
        ),
        ({"orderBy": ["*"]}, "hogql_syntax_error", "orderBy__0", "ORDER BY"),
        ({"select": ["evnt()"]}, "unknown_function", "select__0", "1:1: "),
        (
            {"properties": [*HOGQL, {"type": "hogql", "key": "1 = nope"}]},
            "parse_error",
            "properties__1__key",
            "1:5: Unable",
        ),
        (
            {"properties": {"type": "OR", "values": [*HOGQL, {"type": "hogql", "key": "1 ="}]}},
            "parse_error",
            "properties__values__1__key",
            "1:4: ",
        ),
        (
            {"properties": HOGQL, "fixedProperties": [{"type": "hogql", "key": "event"}]},
            "illegal_type_of_argument",
            "fixedProperties__0__key",
            "1:1: Expected a condition",
        ),
        (
            {"fixedProperties": [{"type": "hogql", "key": "sum(1) > 0"}]},
            "illegal_aggregation",
            "fixedProperties__0__key",
            "1:1: WHERE cannot contain an aggregate",
        ),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
async def test_errors_of_expressions_have_their_key_and_the_position_in_it(
    queries: QueryWorld, more: dict[str, Any], code: str, attr: str, detail: str, wrapped: bool
) -> None:
    query, path = node("event") | more, "query"
    if wrapped:
        query, path = {"kind": "DataTableNode", "source": query}, "query__source"
    problem = (await queries.send(query)).json()
    assert (problem["code"], problem["attr"]) == (code, f"{path}__{attr}")
    assert detail in problem["detail"]
    for words in ("hoglet", "FROM events"):
        assert words not in problem["detail"]


async def test_a_comment_hides_nothing(queries: QueryWorld) -> None:
    await add(queries, ("a", HOUR), ("b", HOUR))
    assert await column(queries, "event", where=["event = 'a' -- only", "1 = 1"]) == ["a"]
    assert await column(queries, "event", "1 /* x */", orderBy=["event DESC -- x"]) == ["b", "a"]
