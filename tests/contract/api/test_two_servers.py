"""Two servers on one PostgreSQL database change the same objects at the same time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import httpx
import pytest
import pytest_asyncio
from cryptography.fernet import Fernet
from sqlalchemy import select

from hoglet.access.api_keys.personal import MAX_KEYS
from hoglet.access.api_keys.secret import MAX_KEYS as MAX_SECRET_KEYS
from hoglet.access.bootstrap import ensure_first_project
from hoglet.access.tables import ProjectRow
from hoglet.access.tenant_tokens.signing_keys import MAX_KEYS as MAX_SIGNING
from hoglet.app.http.application import build_application
from hoglet.app.services.container import Services, open_services
from hoglet.app.services.features import build_features
from hoglet.definitions.tables import PropertyDefinitionRow
from hoglet.endpoints.tables import MaterializationRow
from hoglet.events.repository import EventsRepository
from hoglet.events.tables import DistinctIdRow, PersonRow
from hoglet.events.warnings import IngestionWarnings
from hoglet.functions.tables import DeadLetterRow
from hoglet.kit.clock import new_id
from hoglet.settings import Settings
from support.databases import new_postgres_database
from support.server import KEY
from support.warehouses import new_clickhouse_database

PROJECT = "/api/projects/1"
FUNCTIONS = f"{PROJECT}/hog_functions"
VARIABLES = f"{PROJECT}/insight_variables"
COHORTS = f"{PROJECT}/cohorts"
ROUNDS = range(5)


class Pair:
    """Clients of two servers; the requests of :meth:`together` alternate between them."""

    def __init__(self, clients: list[httpx.AsyncClient], services: list[Services]) -> None:
        self.clients = clients
        self.services, self.other = services

    async def send(self, method: str, path: str, body: Any = None, server: int = 0) -> Any:
        response = await self.clients[server].request(method, path, json=body)
        assert response.status_code < 400, response.text
        return response.json()

    async def function(self, **fields: Any) -> dict[str, Any]:
        body = {"type": "destination", "name": "f", "hog": "return 1", **fields}
        return await self.send("POST", FUNCTIONS, body)

    async def together(self, *requests: tuple[str, str, Any]) -> list[httpx.Response]:
        sent: list[Awaitable[httpx.Response]] = [
            self.clients[number % 2].request(method, path, json=body)
            for number, (method, path, body) in enumerate(requests)
        ]
        return await asyncio.gather(*sent)


@pytest_asyncio.fixture(scope="module")
async def pair(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: str, clickhouse_server: str
) -> AsyncGenerator[Pair]:
    secret = Fernet.generate_key().decode()
    async with AsyncExitStack() as stack:
        database = stack.enter_context(new_postgres_database(postgres_server))
        warehouse = stack.enter_context(new_clickhouse_database(clickhouse_server))
        clients: list[httpx.AsyncClient] = []
        opened: list[Services] = []
        for name in ("a", "b"):
            settings = Settings(  # pyright: ignore[reportCallIssue]
                data_dir=tmp_path_factory.mktemp(name),
                roles=["api", "pipeline"],
                database_url=database.render_as_string(hide_password=False),
                warehouse_url=warehouse,
                secret_keys=[secret],
            )
            services = await stack.enter_async_context(open_services(settings))
            await ensure_first_project(services.database, services.clock, personal_api_key=KEY)
            app = build_application(services, build_features(services))
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            headers = {"Authorization": f"Bearer {KEY}"}
            client = httpx.AsyncClient(
                transport=transport, base_url="http://h", headers=headers, follow_redirects=True
            )
            clients.append(await stack.enter_async_context(client))
            opened.append(services)
        yield Pair(clients, opened)


async def test_no_update_is_lost(pair: Pair) -> None:
    for _ in ROUNDS:
        created = await pair.function()
        path = f"{FUNCTIONS}/{created['id']}"
        changes = {"name": "a", "description": "b", "enabled": True, "icon_url": "c"}

        saved = await pair.together(*(("PATCH", path, {k: v}) for k, v in changes.items()))

        assert [each.status_code for each in saved] == [200] * 4
        stored = await pair.send("GET", path)
        assert {name: stored[name] for name in changes} == changes


async def test_one_of_two_updates_from_the_same_state_is_stale(pair: Pair) -> None:
    for _ in ROUNDS:
        created = await pair.function()
        base = {"base_updated_at": created["updated_at"]}
        path = f"{FUNCTIONS}/{created['id']}"

        saved = await pair.together(*(("PATCH", path, {**base, "name": name}) for name in "ab"))

        assert sorted(each.status_code for each in saved) == [200, 409]


async def test_transformations_have_positions_of_their_own(pair: Pair) -> None:
    body = {"type": "transformation", "name": "t", "hog": "return event", "enabled": True}

    created = await pair.together(*[("POST", FUNCTIONS, body)] * 24)

    positions = [each.json()["execution_order"] for each in created if each.status_code == 201]
    assert sorted(positions) == list(range(1, 21))  # at most 20 may be enabled
    ids = [each.json()["id"] for each in created if each.status_code == 201]
    orders = [{ids[0]: 30, ids[1]: 31}, {ids[1]: 40, ids[0]: 41}]
    rearranged = await pair.together(
        *(("PATCH", f"{FUNCTIONS}/rearrange", {"orders": each}) for each in orders),
        ("PATCH", f"{FUNCTIONS}/{ids[0]}", {"name": "moved"}),
    )
    assert [each.status_code for each in rearranged] == [200] * 3
    stored = [(await pair.send("GET", f"{FUNCTIONS}/{id_}"))["execution_order"] for id_ in ids[:2]]
    assert stored in ([30, 31], [41, 40])


async def test_backfills_are_enabled_once(pair: Pair) -> None:
    for _ in ROUNDS:
        created = await pair.function()
        path = f"{FUNCTIONS}/{created['id']}/enable_backfills"

        enabled = await pair.together(*[("POST", path, {})] * 2)

        assert sorted(each.status_code for each in enabled) == [200, 400]


async def test_a_dead_letter_is_redriven_once(pair: Pair) -> None:
    created = await pair.function(enabled=True)
    async with pair.services.database.write() as session:
        now = pair.services.clock.now()
        for _ in range(20):
            session.add(
                DeadLetterRow(
                    id=new_id(),
                    function_id=UUID(created["id"]),
                    project_id=1,
                    error_class="hog",
                    invocation_id=new_id(),
                    attempts=1,
                    error="e",
                    globals={},
                    first_failed_at=now,
                    last_failed_at=now,
                )
            )
    path = f"{FUNCTIONS}/{created['id']}/dead_letters/redrive"

    redriven = await pair.together(*[("POST", path, {"all": True})] * 4)

    assert [each.status_code for each in redriven] == [200] * 4
    assert sum(each.json()["queued"] for each in redriven) == 20


@pytest.mark.parametrize("change", [{"name": "n"}, {"default_value": "d"}])
async def test_a_variable_that_is_deleted_meanwhile_is_not_found(
    pair: Pair, change: dict[str, Any]
) -> None:
    for number in ROUNDS:
        body = {"name": f"v{number}", "type": "String"}
        path = f"{VARIABLES}/{(await pair.send('POST', VARIABLES, body))['id']}"

        answers = await pair.together(
            ("PATCH", path, change), ("DELETE", path, None), ("PATCH", path, change)
        )

        assert answers[1].status_code == 204
        assert {answers[0].status_code, answers[2].status_code} <= {200, 404}


async def test_an_event_is_defined_once(pair: Pair) -> None:
    for number in ROUNDS:
        body = {"name": f"e{number}"}
        path = f"{PROJECT}/event_definitions"

        created = await pair.together(*[("POST", path, body)] * 4)

        assert sorted(each.status_code for each in created) == [201, 400, 400, 400]


async def test_a_background_run_is_started_once(pair: Pair) -> None:
    query = {"kind": "HogQLQuery", "query": "SELECT 1"}
    await pair.send("POST", f"{PROJECT}/endpoints", {"name": "e", "query": query})
    for number in ROUNDS:
        body = {"refresh": "force_async", "client_query_id": f"q{number}"}
        for path, more in (("endpoints/e/run", {}), ("query", {"query": query})):
            requests = [("POST", f"{PROJECT}/{path}", body | more)] * 4

            started = await pair.together(*requests)

            assert [each.status_code for each in started] == [202] * 4
            times = {each.json()["query_status"]["start_time"] for each in started}
            assert len(times) == 1


async def test_cohorts_do_not_depend_on_one_another(pair: Pair) -> None:
    criterion = {"type": "person", "key": "a", "value": "b", "operator": "exact"}
    for number in ROUNDS:
        first, second = [
            await pair.send("POST", COHORTS, {"name": f"{name}{number}", **_criteria(criterion)})
            for name in "ab"
        ]

        saved = await pair.together(
            *(
                (
                    "PATCH",
                    f"{COHORTS}/{changed['id']}",
                    _criteria({"type": "cohort", "key": "id", "value": other["id"]}),
                )
                for changed, other in ((first, second), (second, first))
            )
        )

        assert sorted(each.status_code for each in saved) == [200, 400]


async def test_members_that_are_added_at_once_are_all_counted(pair: Pair) -> None:
    ids = await _add_persons(pair, 16)
    for number in ROUNDS:
        body = {"name": f"static {number}", "is_static": True}
        cohort = await pair.send("POST", COHORTS, body | {"_create_static_person_ids": []})
        path = f"{COHORTS}/{cohort['id']}"

        await pair.together(
            *(
                ("PATCH", f"{path}/add_persons_to_static_cohort", {"person_ids": [each]})
                for each in ids
            )
        )

        assert (await pair.send("GET", path))["count"] == len(ids)


def _criteria(criterion: dict[str, Any]) -> dict[str, Any]:
    return {"filters": {"properties": {"type": "AND", "values": [criterion]}}}


async def _add_persons(pair: Pair, count: int, *, distinct_ids: int = 1) -> list[str]:
    """New persons; their distinct ids are ``<id> 0``, ``<id> 1``, …."""
    ids = [new_id() for _ in range(count)]
    now = pair.services.clock.now()
    async with pair.services.database.write() as session:
        for each in ids:
            values = {"properties": "{}", "created_at": now, "is_identified": False, "version": 1}
            session.add(PersonRow(id=each, project_id=1, **values))
            for number in range(distinct_ids):
                name = f"{each} {number}"
                session.add(
                    DistinctIdRow(project_id=1, distinct_id=name, person_id=each, version=0)
                )
    return [str(each) for each in ids]


async def test_persons_are_deleted_once_in_any_order(pair: Pair) -> None:
    for _ in ROUNDS:
        ids = await _add_persons(pair, 50)
        requests = [{"ids": given, "delete_events": True} for given in (ids, ids[::-1])]

        deleted = await pair.together(
            *(("POST", f"{PROJECT}/persons/bulk_delete", body) for body in requests * 2)
        )
        single = await _add_persons(pair, 1)
        alone = await pair.together(*[("DELETE", f"{PROJECT}/persons/{single[0]}", None)] * 4)

        assert [each.status_code for each in deleted] == [202] * 4
        assert sum(each.json()["persons_deleted"] for each in deleted) == len(ids)
        assert sorted(each.status_code for each in alone) == [202, 404, 404, 404]


async def test_a_distinct_id_is_split_off_once_and_one_stays(pair: Pair) -> None:
    for _ in ROUNDS:
        (person,) = await _add_persons(pair, 1, distinct_ids=2)
        path = f"{PROJECT}/persons/{person}/split"
        bodies = [{"distinct_ids_to_split": [f"{person} {number}"]} for number in (0, 0, 1, 1)]

        split = await pair.together(*(("POST", path, body) for body in bodies))

        assert sorted(each.status_code for each in split) == [201, 400, 400, 400]
        stored = await pair.send("GET", f"{PROJECT}/persons/{person}")
        assert len(stored["distinct_ids"]) == 1


async def _add_property(pair: Pair) -> str:
    """The path of a new property definition in the API."""
    id_, now = new_id(), pair.services.clock.now()
    values = {"kind": "event", "name": f"p {id_}", "property_type": "String", "first_seen_at": now}
    async with pair.services.database.write() as session:
        session.add(PropertyDefinitionRow(id=id_, project_id=1, **values))
    return f"{PROJECT}/property_definitions/{id_}"


async def test_a_property_is_not_both_hidden_and_verified(pair: Pair) -> None:
    for _ in ROUNDS:
        path = await _add_property(pair)
        changes = {"hidden": True, "verified": True}

        await pair.together(*(("PATCH", path, {name: value}) for name, value in changes.items()))
        stored = await pair.send("GET", path)
        ended = await pair.together(*[("DELETE", path, None)] * 4)

        assert [stored["hidden"], stored["verified"]].count(True) == 1
        assert sorted(each.status_code for each in ended) == [204, 404, 404, 404]


async def test_each_change_of_a_type_is_a_new_version_of_the_definitions(pair: Pair) -> None:
    """A server that has read the definitions reads them again when their version changes."""
    paths = [await _add_property(pair) for _ in range(8)]
    before = await _definitions_version(pair)

    changed = await pair.together(
        *(("PATCH", each, {"property_type": "Numeric"}) for each in paths)
    )

    assert [each.status_code for each in changed] == [200] * len(paths)
    assert await _definitions_version(pair) == before + len(paths)


async def _definitions_version(pair: Pair) -> int:
    async with pair.services.database.read() as session:
        return (await session.scalars(select(ProjectRow.definitions_version))).one()


async def test_warnings_of_all_servers_are_counted(pair: Pair) -> None:
    services = [pair.services, pair.other]
    for number in ROUNDS:
        warnings = [
            IngestionWarnings(each.database, EventsRepository(), each.clock)
            for each in services * 2
        ]
        for each in warnings:
            each.note(1, f"kind {number}", {"event": "e"})
            each.note(1, "kind", {"event": "e"})

        await asyncio.gather(*(each.flush() for each in warnings))

    async with pair.services.database.read() as session:
        stored = await EventsRepository().warnings(session, 1)
    counts = {row.kind: row.count for row in stored}
    assert counts == {"kind": 4 * len(ROUNDS)} | {f"kind {number}": 4 for number in ROUNDS}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{PROJECT}/endpoints/a%00b", 404),
        ("POST", f"{PROJECT}/endpoints/%00/run", 404),
        ("GET", "/api/environments/1/query/%00/", 404),
        ("GET", f"{PROJECT}/endpoints/e%00/run?client_query_id=q", 404),
        ("GET", f"{PROJECT}/endpoints/nul/run?client_query_id=%00", 404),
        ("DELETE", f"{PROJECT}/endpoints/nul/run?client_query_id=a%00b", 404),
        ("GET", f"{FUNCTIONS}/?type=%00", 200),
        (
            "GET",
            f"{PROJECT}/property_definitions/seen_together?event_names=[]&property_name=%00",
            200,
        ),
        (
            "GET",
            f'{PROJECT}/property_definitions/seen_together?event_names=["%5Cu0000"]&property_name=p',
            200,
        ),
    ],
)
async def test_a_null_character_names_nothing(
    pair: Pair, method: str, path: str, status: int
) -> None:
    """PostgreSQL refuses it in every text, also in a condition; SQLite does not."""
    query = {"kind": "HogQLQuery", "query": "SELECT 1"}
    await pair.clients[0].post(f"{PROJECT}/endpoints", json={"name": "nul", "query": query})

    (response,) = await pair.together((method, path, None))

    assert response.status_code == status, response.text
    if "type=" in path:
        assert response.json()["results"] == []


async def test_limits_of_keys_hold(pair: Pair) -> None:
    body = {"label": "k", "scopes": ["endpoint:read"]}
    secrets = f"{PROJECT}/project_secret_api_keys"

    same = await pair.together(*[("POST", secrets, body)] * 4)
    more = await pair.together(
        *(("POST", secrets, {**body, "label": f"k{n}"}) for n in range(MAX_SECRET_KEYS + 4))
    )
    own = await pair.together(*[("POST", "/api/personal_api_keys", body)] * 16)

    assert sorted(each.status_code for each in same) == [201, 400, 400, 400]
    for created, limit in ((more, MAX_SECRET_KEYS - 1), (own, MAX_KEYS)):
        assert sum(each.status_code == 201 for each in created) == limit
        assert {each.status_code for each in created} == {201, 400}


async def test_a_rotation_ends_all_keys_before_it(pair: Pair) -> None:
    tokens = f"{PROJECT}/tenant_tokens"
    for _ in ROUNDS:
        rotated = await pair.together(*[("POST", f"{tokens}/rotate", {"grace_seconds": 0})] * 4)

        assert [each.status_code for each in rotated] == [201] * 4
        (remaining,) = (await pair.send("GET", f"{tokens}/keys"))["results"]
        assert remaining["id"] in {each.json()["id"] for each in rotated}
    await pair.together(*[("POST", f"{tokens}/rotate", {"grace_seconds": 60})] * (MAX_SIGNING + 4))
    keys = (await pair.send("GET", f"{tokens}/keys"))["results"]
    assert len(keys) == MAX_SIGNING
    assert [each["expires_at"] for each in keys].count(None) == 1
    key = f"{tokens}/keys/{keys[0]['id']}"
    revoked = await pair.together(*[("DELETE", key, None)] * 3)
    assert sorted(each.status_code for each in revoked) == [204, 404, 404]


async def test_a_project_that_another_server_changed_is_changed_back(pair: Pair) -> None:
    """Each server remembers projects for a while."""
    query = {"kind": "HogQLQuery", "query": "SELECT toDate(timestamp) AS d FROM events"}
    body = {"name": "days", "query": query, "is_materialized": True}
    await pair.send("POST", f"{PROJECT}/endpoints", body)
    await pair.send("GET", PROJECT, server=1)

    await pair.send("PATCH", PROJECT, {"timezone": "Asia/Kathmandu"})
    await pair.send("PATCH", PROJECT, {"timezone": "UTC"}, server=1)

    async with pair.services.database.read() as session:
        plans = (await session.scalars(select(MaterializationRow.plan))).all()
    assert [plan["built_for"]["timezone"] for plan in plans] == ["UTC"]
    logged = await pair.send("GET", f"{PROJECT}/activity_log?scope=Team")
    changes = [each["detail"]["changes"][0]["after"] for each in logged["results"]]
    assert changes == ["UTC", "Asia/Kathmandu"]
