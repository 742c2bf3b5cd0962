"""Cohorts through the API: validation, static and dynamic ones, use in queries, life cycle.

Source: docs/spec/data-and-queries.md#3-cohorts and
docs/spec/data-and-queries.md#8-acceptance-cases (34 to 45).
"""

import csv
import io
from typing import Any
from uuid import uuid4

import pytest

from hoglet.cohorts.static.merges import enqueue_merges
from hoglet.queue.sql import SqlQueue
from support.access import NOW
from support.cohorts import DAY, HOUR, CohortsApi

EMAIL = {"type": "person", "key": "email", "value": "@x.com", "operator": "icontains"}


def behavior(value: str = "performed_event", **more: Any) -> dict[str, Any]:
    leaf = {"type": "behavioral", "value": value, "key": "buy", "event_type": "events"}
    return leaf | {"time_value": 7, "time_interval": "day"} | more


async def test_a_static_cohort_is_filled_and_changed(cohorts: CohortsApi) -> None:
    first, second, third = [await cohorts.add_person(f"p{index}") for index in range(3)]

    cohort = await cohorts.static([first, second, uuid4()])

    assert (cohort["count"], cohort["is_calculating"], cohort["cohort_type"]) == (
        2,
        False,
        "static",
    )
    path = f"{cohort['id']}/add_persons_to_static_cohort"
    for ids in ([str(third)], [str(third), str(uuid4())], []):
        response = await cohorts.patch(path, {"person_ids": ids})
        assert (response.status_code, response.json()) == (200, {"success": True})
    assert (await cohorts.read(cohort["id"]))["count"] == 3
    assert (await cohorts.patch(path, {"person_ids": [str(uuid4())]})).status_code == 400
    path = f"{cohort['id']}/remove_person_from_static_cohort"
    for _ in range(2):
        assert (await cohorts.patch(path, {"person_id": str(first)})).status_code == 200
    assert await cohorts.members(cohort["id"]) == {second, third}
    assert (await cohorts.patch(path, {"person_id": str(uuid4())})).status_code == 404
    assert (await cohorts.patch(path, {"person_id": "x"})).status_code == 400
    added = {"person_ids": [str(first)]}
    await cohorts.patch(f"{cohort['id']}/add_persons_to_static_cohort", added)
    assert await cohorts.members(cohort["id"]) == {first, second, third}


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("a1\na2\nnobody\n", {"a1", "a2"}),
        ("distinct_id\na1\n", {"a1"}),
        ("email\na1@x.com\n", {"a1"}),
        ("E-Mail\na2@x.com\n", {"a2"}),
        ("name,email\nAnn,a1@x.com\nshort\n", {"a1"}),
        ("email,Distinct_ID\na1@x.com,a2\n", {"a2"}),
        ("\ufeffa1\r\na2\r\n", {"a1", "a2"}),
    ],
)
async def test_files(cohorts: CohortsApi, text: str, members: set[str]) -> None:
    people = {name: await cohorts.add_person(name, email=f"{name}@x.com") for name in ("a1", "a2")}

    response = await cohorts.client.post(
        f"{cohorts.base}/cohorts/",
        data={"name": "file", "is_static": "true"},
        files={"csv": ("a.csv", text.encode())},
    )

    assert response.status_code == 201, response.text
    await cohorts.services.worker.drain()
    assert await cohorts.members(response.json()["id"]) == {people[name] for name in members}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"email\n", "no persons"),
        (b"a,b\n1,2\n", "a, b"),
        (b"\xff\xfe", "UTF-8"),
        (b'"open', "not valid CSV"),
        (b"a\x00b", "null"),
    ],
)
async def test_files_that_are_refused(cohorts: CohortsApi, data: bytes, said: str) -> None:
    response = await cohorts.client.post(
        f"{cohorts.base}/cohorts/",
        data={"name": "file", "is_static": "true"},
        files={"csv": ("a.csv", data)},
    )

    problem = response.json()
    assert (response.status_code, problem["attr"]) == (400, "csv"), problem
    assert said in problem["detail"]


async def test_static_from_a_query_and_from_criteria(cohorts: CohortsApi) -> None:
    ann = await cohorts.add_person("ann", [("buy", NOW - HOUR)], email="ann@x.com")
    await cohorts.add_person("bob", [], email="bob@y.com")
    actors = {"kind": "HogQLQuery", "query": "SELECT event, person_id FROM events"}
    sources: list[dict[str, Any]] = [
        {"query": {"kind": "HogQLQuery", "query": "SELECT DISTINCT person_id FROM events"}},
        {"query": actors},
        {"query": {"kind": "ActorsQuery", "source": actors, "select": ["id"]}},
        {"filters": {"properties": {"type": "AND", "values": [EMAIL]}}},
    ]
    for source in sources:
        cohort = await cohorts.created(is_static=True, **source)
        assert cohort["errors_calculating"] == 0, cohort
        assert (await cohorts.members(cohort["id"]), cohort["count"]) == ({ann}, 1)
    assert (await cohorts.refused({"name": "x", "is_static": True}))[0] == 400
    both = {"name": "x", "is_static": True, **sources[0], **sources[3]}
    assert (await cohorts.refused(both))[:2] == (400, "query")
    status, attr, detail = await cohorts.refused({"name": "x", **sources[0]})
    assert (status, attr) == (400, "query")
    assert "is_static" in detail
    wrong = {"kind": "HogQLQuery", "query": "SELECT timestamp FROM events"}
    assert (await cohorts.refused({"name": "x", "is_static": True, "query": wrong}))[1] == "query"
    changed = await cohorts.patch(str(cohort["id"]), {"filters": {"properties": {}}})
    assert (changed.status_code, changed.json()["attr"]) == (400, "filters")
    changed = await cohorts.patch(str(cohort["id"]), {"is_static": False})
    assert changed.json()["attr"] == "is_static"


async def test_a_query_of_anything_but_person_ids_is_an_error(cohorts: CohortsApi) -> None:
    await cohorts.add_person("ann", [("buy", NOW - HOUR)])

    async def filled(text: str) -> dict[str, Any]:
        return await cohorts.created(is_static=True, query={"kind": "HogQLQuery", "query": text})

    failed = await filled("SELECT event FROM events")
    assert (failed["count"], failed["errors_calculating"]) == (None, 1)
    assert "'buy'" in failed["last_error_message"]
    for text in (
        "SELECT person_id FROM events WHERE event = 'never'",
        "SELECT toString(generateUUIDv4()) FROM events",
    ):
        empty = await filled(text)
        assert (empty["count"], empty["errors_calculating"]) == (0, 0), empty
    wrong = {"kind": "HogQLQuery", "query": "SELECT distinct_id FROM events"}
    refusal = await cohorts.refused({"name": "x", "is_static": True, "query": wrong})
    assert refusal[:2] == (400, "query")
    assert "person_id" in refusal[2]


async def test_whoever_takes_a_member_in_is_a_member(cohorts: CohortsApi) -> None:
    ann, bob, cid, dan, eve = [await cohorts.add_person(name) for name in "abcde"]
    static = await cohorts.static([ann, dan])
    others = await cohorts.static([eve])
    world, project = cohorts.endpoints.world, cohorts.endpoints.project_id
    queue = SqlQueue(world.database, world.clock)
    async with world.database.write() as session:
        await enqueue_merges(session, queue, project, [(ann, bob), (bob, cid), (cid, eve)])
    await cohorts.services.worker.drain()

    assert await cohorts.members(static["id"]) == {dan, eve}
    assert (await cohorts.read(static["id"]))["count"] == 2
    assert await cohorts.members(others["id"]) == {eve}


async def test_static_from_a_page_of_actors(cohorts: CohortsApi) -> None:
    people = {
        name: await cohorts.add_person(f"id-{name}", email=f"{name}@x.com", rank=rank)
        for rank, name in enumerate(("ann", "bob", "cid", "dan"))
    }
    source = {"kind": "HogQLQuery", "query": "SELECT id FROM persons WHERE properties.rank < 3"}

    async def members(**changes: Any) -> set[str]:
        query = {"kind": "ActorsQuery", "source": source, **changes}
        cohort = await cohorts.created(is_static=True, query=query)
        assert cohort["errors_calculating"] == 0, cohort
        members = await cohorts.members(cohort["id"])
        return {name for name, person in people.items() if person in members}

    assert await members() == {"ann", "bob", "cid"}
    assert await members(search="AN") == {"ann"}
    assert await members(search="id-bob") == {"bob"}
    assert await members(search=str(people["cid"])) == {"cid"}
    assert await members(search=str(people["dan"])) == set()
    assert await members(search="%") == set()
    rank = "toInt(properties.rank)"
    assert await members(orderBy=[f"{rank} DESC"], limit=2) == {"cid", "bob"}
    assert await members(orderBy=[rank], limit=1) == {"ann"}
    assert await members(orderBy=[f"{rank} ASC"], offset=2) == {"cid"}
    assert len(await members(limit=2)) == 2
    email = {"type": "person", "key": "email", "operator": "icontains", "value": "n"}
    assert await members(properties=[email], search="x.com", limit=5) == {"ann"}


@pytest.mark.parametrize(
    ("changes", "attr"),
    [
        ({"limit": 0}, "query__limit"),
        ({"limit": "2"}, "query__limit"),
        ({"limit": True}, "query__limit"),
        ({"offset": -1}, "query__offset"),
        ({"search": 5}, "query__search"),
        ({"search": "x" * 501}, "query__search"),
        ({"orderBy": "id"}, "query__orderBy"),
        ({"orderBy": [1]}, "query__orderBy"),
        ({"select": "id"}, "query__select"),
        ({"properties": "x"}, "query__properties"),
        ({"serch": "x"}, "query__serch"),
    ],
    ids=str,
)
async def test_actors_that_cannot_be_read(
    cohorts: CohortsApi, changes: dict[str, Any], attr: str
) -> None:
    source = {"kind": "HogQLQuery", "query": "SELECT id FROM persons"}
    query = {"kind": "ActorsQuery", "source": source, **changes}
    assert (await cohorts.refused({"name": "x", "is_static": True, "query": query}))[:2] == (
        400,
        attr,
    )


@pytest.mark.parametrize("order", ["id, id", "id LIMIT 1", "nope", "", "id; SELECT 1"])
async def test_an_order_of_actors_is_one_expression(cohorts: CohortsApi, order: str) -> None:
    source = {"kind": "HogQLQuery", "query": "SELECT id FROM persons"}
    query = {"kind": "ActorsQuery", "source": source, "orderBy": [order], "limit": 1}
    status, attr, _ = await cohorts.refused({"name": "x", "is_static": True, "query": query})
    assert (status, attr) == (400, "query__orderBy__0")


async def test_a_number_is_replaced_by_the_boolean_that_python_takes_for_it(
    cohorts: CohortsApi,
) -> None:
    number, boolean = ({"type": "person", "key": "paid", "value": v} for v in (1, True))
    cohort = await cohorts.dynamic(number)

    properties = {"type": "AND", "values": [boolean]}
    await cohorts.patch(f"{cohort['id']}", {"filters": {"properties": properties}})

    stored = await cohorts.read(cohort["id"])
    assert stored["filters"]["properties"]["values"][0]["value"] is True
    assert stored["pending_version"] == cohort["pending_version"] + 1


async def test_a_dynamic_cohort_follows_its_persons(cohorts: CohortsApi) -> None:
    ann = await cohorts.add_person("ann", email="ann@x.com")
    await cohorts.add_person("bob", email="bob@y.com")
    response = await cohorts.post(
        {"name": "x", "filters": {"properties": {"type": "AND", "values": [EMAIL]}}}
    )
    created = response.json()
    assert (created["is_calculating"], created["pending_version"], created["version"]) == (
        True,
        1,
        None,
    )
    cohort = created["id"]
    assert await cohorts.value(f"SELECT count() FROM cohort_people WHERE cohort_id = {cohort}") == 0

    await cohorts.services.worker.drain()

    done = await cohorts.read(cohort)
    assert (done["count"], done["version"], done["is_calculating"]) == (1, 1, False)
    assert done["last_calculation"] is not None
    assert await cohorts.members(cohort) == {ann}
    late = await cohorts.add_person("cat", email="cat@x.com")
    assert await cohorts.services.schedule.enqueue_due() == []
    cohorts.endpoints.world.clock.advance(seconds=16 * 60)
    assert await cohorts.services.schedule.enqueue_due() == [cohort]
    await cohorts.services.worker.drain()
    assert await cohorts.members(cohort) == {ann, late}


GROUP = {"type": "AND", "values": [EMAIL]}
PATH = "filters__properties__values__0"


@pytest.mark.parametrize(
    ("leaf", "attr"),
    [
        ({**EMAIL, "negation": True}, "filters"),
        ({"type": "AND", "values": []}, f"{PATH}__values"),
        ({**EMAIL, "wrong": 1}, f"{PATH}__wrong"),
        ({**EMAIL, "operator": "like"}, f"{PATH}__operator"),
        ({**EMAIL, "value": None}, f"{PATH}__value"),
        ({**EMAIL, "type": []}, f"{PATH}__type"),
        ({**EMAIL, "operator": [1]}, f"{PATH}__operator"),
        ({"type": "cohort", "value": 1, "operator": {}}, f"{PATH}__operator"),
        ({"type": "cohort", "value": 1, "key": []}, f"{PATH}__key"),
        ({**EMAIL, "operator": "is_date_before", "value": "soon"}, f"{PATH}__value"),
        ({"type": "group", "key": "x"}, f"{PATH}__type"),
        ({"type": "person_metadata", "key": "email", "value": 1}, f"{PATH}__key"),
        ({"type": "cohort", "key": "id", "value": 999}, "filters"),
        (behavior(time_value=0), f"{PATH}__time_value"),
        (behavior(time_value="x"), f"{PATH}__time_value"),
        (behavior(time_value=1.5), f"{PATH}__time_value"),
        (behavior(time_interval="eon"), f"{PATH}__time_interval"),
        (behavior("performed_event_multiple"), f"{PATH}__operator_value"),
        (behavior(operator_value=3), f"{PATH}__operator_value"),
        (behavior("performed_event_sequence"), f"{PATH}__seq_event"),
        (
            behavior("performed_event_regularly", min_periods=5, total_periods=3),
            f"{PATH}__min_periods",
        ),
        (behavior(key=""), f"{PATH}__key"),
        (behavior(key=99, event_type="actions"), f"{PATH}__key"),
        (behavior(explicit_datetime="whenever"), f"{PATH}__explicit_datetime"),
        (behavior("sometimes"), f"{PATH}__value"),
        (
            behavior(event_filters=[{"type": "person", "key": "x"}]),
            f"{PATH}__event_filters__0__type",
        ),
    ],
)  # fmt: skip
async def test_criteria_that_are_refused(
    cohorts: CohortsApi, leaf: dict[str, Any], attr: str
) -> None:
    body = {"name": "x", "filters": {"properties": {"type": "AND", "values": [leaf]}}}

    status, attribute, detail = await cohorts.refused(body)

    assert (status, attribute) == (400, attr), detail


async def test_groups_of_negations(cohorts: CohortsApi) -> None:
    negative = {"type": "AND", "values": [{**EMAIL, "negation": True}]}
    both = {"type": "AND", "values": [EMAIL, negative]}
    assert (await cohorts.post({"name": "a", "filters": {"properties": both}})).status_code == 201
    either = {"type": "OR", "values": [EMAIL, negative]}
    assert (await cohorts.refused({"name": "a", "filters": {"properties": either}}))[0] == 400
    assert (await cohorts.refused({"name": "a", "filters": {}}))[:2] == (400, "filters")
    assert (await cohorts.refused({"filters": {"properties": both}}))[:2] == (400, "name")


async def test_behavior_by_hand(cohorts: CohortsApi) -> None:
    often = await cohorts.add_person("often", [("buy", NOW - DAY * n) for n in (1, 2, 3)])
    twice = await cohorts.add_person("twice", [("buy", NOW - DAY * n) for n in (4, 6)])
    old = await cohorts.add_person("old", [("buy", NOW - DAY * 20), ("buy", NOW - HOUR)])
    then = await cohorts.add_person("then", [("buy", NOW - DAY * 3), ("pay", NOW - DAY * 2.5)])
    cases = [
        (behavior("performed_event_multiple", operator="gte", operator_value=3), {often}),
        (behavior("performed_event_multiple", operator_value=2), {twice}),
        (behavior("performed_event_first_time"), {often, twice, then}),
        (behavior("performed_event_sequence", seq_event="pay", seq_time_value=1,
                  seq_time_interval="day"), {then}),
        (behavior("stopped_performing_event", seq_time_value=2, seq_time_interval="day"),
         {twice, then}),
        (behavior("restarted_performing_event", seq_time_value=2, seq_time_interval="day"), {old}),
        (behavior("performed_event_regularly", time_value=1, min_periods=3, total_periods=5),
         {often}),
        (behavior(key=7, event_type="actions", time_value="2"), {often, old}),
    ]  # fmt: skip
    for leaf, expected in cases:
        cohort = await cohorts.dynamic(leaf)
        assert await cohorts.members(cohort["id"]) == expected, leaf
    old_form = await cohorts.created(groups=[{"event_id": "buy", "days": 7, "count": 3}])
    assert await cohorts.members(old_form["id"]) == {often}
    assert old_form["filters"]["properties"]["type"] == "OR"


async def test_cohorts_in_cohorts(cohorts: CohortsApi) -> None:
    ann = await cohorts.add_person("ann", email="ann@x.com")
    bob = await cohorts.add_person("bob", email="bob@y.com")
    inner = await cohorts.dynamic(EMAIL)
    outer = await cohorts.dynamic({"type": "cohort", "key": "id", "value": inner["id"]})
    assert await cohorts.members(outer["id"]) == {ann}

    other = {**EMAIL, "value": "@y.com"}
    changed = {"filters": {"properties": {"type": "AND", "values": [other]}}}
    assert (await cohorts.patch(str(inner["id"]), changed)).json()["is_calculating"] is True
    await cohorts.services.worker.drain()

    assert await cohorts.members(outer["id"]) == {bob}
    for target in (outer["id"], inner["id"]):
        leaf = {"type": "cohort", "key": "id", "value": target}
        circle = {"filters": {"properties": {"type": "AND", "values": [leaf]}}}
        response = await cohorts.patch(str(inner["id"]), circle)
        assert (response.status_code, response.json()["attr"]) == (400, "filters")


async def test_an_obsolete_calculation_is_dropped(cohorts: CohortsApi) -> None:
    bob = await cohorts.add_person("bob", email="bob@y.com")
    await cohorts.add_person("ann", email="ann@x.com")
    body = {"name": "x", "filters": {"properties": GROUP}}
    created = (await cohorts.post(body)).json()
    other = {"type": "AND", "values": [{**EMAIL, "value": "@y.com"}]}
    await cohorts.patch(str(created["id"]), {"filters": {"properties": other}})

    await cohorts.services.worker.drain()

    assert await cohorts.members(created["id"]) == {bob}
    assert (await cohorts.read(created["id"]))["version"] == 2
    history = (await cohorts.get(f"cohorts/{created['id']}/calculation_history")).json()
    assert [row["is_successful"] for row in history["results"]] == [True]


async def test_a_failure_keeps_the_members(cohorts: CohortsApi) -> None:
    ann = await cohorts.add_person("ann", [("buy", NOW - HOUR)], email="ann@x.com")
    cohort = await cohorts.dynamic(behavior())
    broken = behavior(event_filters=[{"type": "hogql", "key": "throwIf(1) = 0"}])
    response = await cohorts.patch(
        str(cohort["id"]), {"filters": {"properties": {"type": "AND", "values": [broken]}}}
    )
    if response.status_code != 200:
        broken["event_filters"] = [{"type": "hogql", "key": "toDate(event) = intDiv(1, 0)"}]
        response = await cohorts.patch(
            str(cohort["id"]), {"filters": {"properties": {"type": "AND", "values": [broken]}}}
        )
    assert response.status_code == 200, response.text

    await cohorts.services.worker.drain()

    failed = await cohorts.read(cohort["id"])
    assert (failed["errors_calculating"], failed["is_calculating"]) == (1, False)
    assert failed["last_error_message"]
    assert await cohorts.members(cohort["id"]) == {ann}
    row = (await cohorts.get(f"cohorts/{cohort['id']}/calculation_history")).json()["results"][0]
    assert (row["is_completed"], row["is_successful"]) == (True, False)
    assert row["error"] == failed["last_error_message"]
    clock = cohorts.endpoints.world.clock
    clock.advance(seconds=59 * 60)
    assert await cohorts.services.schedule.enqueue_due() == []
    clock.advance(seconds=2 * 60)
    assert await cohorts.services.schedule.enqueue_due() == [cohort["id"]]
    await cohorts.services.worker.drain()
    assert (await cohorts.read(cohort["id"]))["errors_calculating"] == 2


async def test_queries_use_cohorts(cohorts: CohortsApi) -> None:
    await cohorts.add_person("ann", [("buy", NOW - HOUR)] * 3, email="ann@x.com")
    await cohorts.add_person("bob", [("buy", NOW - HOUR)] * 2, email="bob@y.com")
    created = await cohorts.dynamic(EMAIL, name="It's X")
    cohort = created["id"]
    for test, expected in [
        (f"in cohort {cohort}", 3),
        ("in cohort 'It\\'s X'", 3),
        (f"not in cohort {cohort}", 2),
    ]:
        counted = await cohorts.value(f"select count() from events where person_id {test}")
        assert counted == expected
    assert await cohorts.value(f"select count() from persons where id in cohort {cohort}") == 1
    await cohorts.created(name="It's X", filters={"properties": GROUP})
    for name in ("'It\\'s X'", "999", "'nobody'", "event"):
        response = await cohorts.query(f"select 1 from events where person_id in cohort {name}")
        assert (response.status_code, response.json()["code"]) == (400, "hogql_query_error")
    series = [{"kind": "EventsNode", "event": "buy"}]
    trend = {"kind": "TrendsQuery", "series": series, "dateRange": {"date_from": "-3d"}}
    for operator, expected in [("in", 3), ("not_in", 2)]:
        rule = {"type": "cohort", "key": "id", "value": cohort, "operator": operator}
        response = await cohorts.query(trend | {"properties": [rule]})
        assert response.json()["results"][0]["count"] == expected
    breakdown = {"breakdown_type": "cohort", "breakdown": [cohort, "all"]}
    response = await cohorts.query(trend | {"breakdownFilter": breakdown})
    counts = {row["label"]: row["count"] for row in response.json()["results"]}
    assert counts == {"It's X": 3, "all users": 5}


async def test_delete_and_restore(cohorts: CohortsApi) -> None:
    await cohorts.add_person("ann", [("buy", NOW - HOUR)], email="ann@x.com")
    cohort = await cohorts.dynamic(EMAIL, name="gone")
    query = f"select count() from events where person_id in cohort {cohort['id']}"
    body = {"name": "e1", "query": {"kind": "HogQLQuery", "query": query}}
    endpoint = await cohorts.client.post(f"{cohorts.base}/endpoints/", json=body)
    assert endpoint.status_code == 201, endpoint.text
    outer = await cohorts.dynamic({"type": "cohort", "key": "id", "value": cohort["id"]}, name="o")

    refused = await cohorts.patch(str(cohort["id"]), {"deleted": True})

    assert refused.status_code == 400
    assert "'e1'" in refused.json()["detail"]
    assert "'o'" in refused.json()["detail"]
    users = (await cohorts.get(f"cohorts/{cohort['id']}/used_in")).json()
    assert (users["endpoints"]["total"], users["cohorts"]["results"][0]["id"]) == (1, outer["id"])
    assert (
        await cohorts.client.delete(f"{cohorts.base}/cohorts/{cohort['id']}/")
    ).status_code == 405
    assert (await cohorts.patch(str(outer["id"]), {"deleted": True})).status_code == 200
    listed = (await cohorts.get("cohorts/")).json()["results"]
    assert [row["id"] for row in listed] == [cohort["id"]]
    assert (await cohorts.read(outer["id"]))["deleted"] is True
    gone = await cohorts.query(f"select 1 from events where person_id in cohort {outer['id']}")
    assert gone.status_code == 400
    assert (await cohorts.patch(str(outer["id"]), {"deleted": False})).status_code == 200
    await cohorts.services.worker.drain()
    again = f"select count() from events where person_id in cohort {outer['id']}"
    assert await cohorts.value(again) == 1


async def test_persons_of_a_cohort(cohorts: CohortsApi) -> None:
    ids = [await cohorts.add_person(f"p{n}", email=f"p{n}@x.com", plan="pro") for n in range(3)]
    other = await cohorts.add_person("=1+1", email="z@x.com")
    cohort = await cohorts.dynamic(EMAIL)
    path = f"cohorts/{cohort['id']}/persons"

    first = (await cohorts.get(path, limit=3)).json()

    assert set(first) == {"results", "next", "previous"}
    rest = (await cohorts.client.get(first["next"])).json()
    assert (len(rest["results"]), rest["next"]) == (1, None)
    everyone = [*first["results"], *rest["results"]]
    assert {row["uuid"] for row in everyone} == {str(each) for each in [*ids, other]}
    for params, expected in [
        ({"search": "p1@"}, {ids[1]}),
        ({"search": "p2"}, {ids[2]}),
        ({"search": str(ids[0])}, {ids[0]}),
        ({"properties": '[{"key": "plan", "value": "pro"}]'}, set(ids)),
    ]:
        results = (await cohorts.get(path, **params)).json()["results"]
        assert {row["uuid"] for row in results} == {str(each) for each in expected}, params
    answer = await cohorts.get(path, format="csv")
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 4
    mine = (await cohorts.get("persons/cohorts", person_id=str(other))).json()
    assert mine == {"results": [{"id": cohort["id"], "name": "c", "count": 4}]}
    copied = f"{cohorts.base}/cohorts/{cohort['id']}/duplicate_as_static_cohort/"
    copy = await cohorts.client.post(copied)
    assert (copy.status_code, copy.json()["name"]) == (200, "c (static copy)")
    await cohorts.services.worker.drain()
    assert await cohorts.members(copy.json()["id"]) == {*ids, other}
    again = await cohorts.get(f"cohorts/{copy.json()['id']}/duplicate_as_static_cohort")
    assert again.status_code == 400
    activity = (await cohorts.get(f"cohorts/{cohort['id']}/activity")).json()
    assert activity["results"][0]["activity"] == "created"


async def test_the_list(cohorts: CohortsApi) -> None:
    await cohorts.static([], name="Static one")
    await cohorts.dynamic(EMAIL, name="Dynamic one")
    await cohorts.dynamic(behavior(), name="Behavior")
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["Behavior", "Dynamic one", "Static one"]),
        ({"type": "static"}, ["Static one"]),
        ({"type": "dynamic"}, ["Behavior", "Dynamic one"]),
        ({"search": "one DYN"}, ["Dynamic one"]),
        ({"hide_behavioral_cohorts": "true"}, ["Dynamic one", "Static one"]),
        ({"limit": 1, "offset": 1}, ["Dynamic one"]),
    ]
    for params, names in cases:
        results = (await cohorts.get("cohorts/", **params)).json()["results"]
        assert [row["name"] for row in results] == names, params
    exact = (await cohorts.get("cohorts/", search="Behavior", basic="true")).json()["results"][0]
    assert exact["search_match_type"] == "exact"
    assert "filters" not in exact
    assert (await cohorts.get("cohorts/", search="x" * 201)).status_code == 400
    assert (await cohorts.get("cohorts/", type="odd")).status_code == 400
