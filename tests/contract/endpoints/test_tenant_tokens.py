"""Tenant tokens: what they run, what they cannot evade, and when they end."""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
import pytest_asyncio
from cryptography.fernet import Fernet
from sqlalchemy import delete

from hoglet.access.principals import Principal, ProjectScope, TenantGrant
from hoglet.access.tables import SigningKeyRow
from hoglet.access.tenant_tokens.signing_keys import SigningKeys
from hoglet.endpoints.enums import REFRESH_WORDS
from hoglet.functions.secrets.box import SecretBox
from hoglet.functions.secrets.rotation import reencrypt_all
from hoglet.kit.errors import Unauthenticated
from hoglet.sandbox import Sandbox
from hoglet.warehouse import ClickHouseWarehouse
from support.endpoints import EndpointWorld, open_endpoints

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)
TENANTS = ("ant", "bee", "cat")
BY_PLAN = (
    "SELECT properties.tenant AS whose, properties.plan AS plan, count() AS n FROM events "
    "WHERE properties.tenant = {variables.tenant} AND properties.plan = {variables.plan} "
    "GROUP BY whose, plan ORDER BY whose, plan"
)
NODE = {"kind": "EventsNode", "event": "used"}
TRENDS = {
    "kind": "TrendsQuery",
    "series": [NODE],
    "dateRange": {"date_from": "-30d"},
    "breakdownFilter": {"breakdowns": [{"property": "tenant", "type": "event"}]},
}


class Tenants:
    """Endpoints with rows of three tenants, and tokens for them."""

    def __init__(self, endpoints: EndpointWorld) -> None:
        self.endpoints = endpoints
        self.project = f"/api/projects/{endpoints.project_id}"

    async def mint(self, **body: Any) -> httpx.Response:
        return await self.endpoints.client.post(f"{self.project}/tenant_tokens", json=body)

    async def token(self, tenant: Any = "ant", name: str = "by_plan", **body: Any) -> str:
        answer = await self.mint(endpoints=[name], variables={"tenant": tenant}, **body)
        assert answer.status_code == 201, answer.text
        return answer.json()["token"]

    async def run(self, token: str, name: str = "by_plan", **body: Any) -> httpx.Response:
        return await self.send("POST", f"/endpoints/{name}/run", token, json=body)

    async def send(self, method: str, path: str, token: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}", **more.pop("headers", {})}
        return await self.endpoints.client.request(
            method, self.project + path, headers=headers, **more
        )

    async def rotate(self, **body: Any) -> dict[str, Any]:
        answer = await self.endpoints.client.post(f"{self.project}/tenant_tokens/rotate", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def offline(self, key: dict[str, Any], header: Any = None, **claims: Any) -> str:
        """A token as a customer's own server makes it, from the documented form alone."""
        now = int(self.endpoints.world.clock.now().timestamp())
        return sign(
            key["secret"],
            {"alg": "HS256", "typ": "JWT", "kid": key["id"]} | (header or {}),
            {
                "project": self.endpoints.project_id,
                "endpoints": ["by_plan"],
                "variables": {"tenant": "ant"},
                "iat": now,
                "exp": now + 60,
            }
            | claims,
        )


def sign(secret: str, header: Any, claims: Any, digest: Any = hashlib.sha256) -> str:
    def encode(part: bytes) -> str:
        return base64.urlsafe_b64encode(part).rstrip(b"=").decode()

    signed = f"{encode(json.dumps(header).encode())}.{encode(json.dumps(claims).encode())}"
    signature = hmac.new(secret.encode(), signed.encode(), digest).digest()
    return f"pht_{signed}.{encode(signature)}"


@pytest_asyncio.fixture(scope="module")
async def tenants(
    tmp_path_factory: pytest.TempPathFactory,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
) -> AsyncGenerator[Tenants]:
    folder: Path = tmp_path_factory.mktemp("tenants")
    async with open_endpoints(folder, warehouse, endpoint_sandbox, 900_017) as endpoints:
        await endpoints.add_events(
            [
                (
                    "used",
                    AT - timedelta(hours=number),
                    f"{tenant}{number}",
                    json.dumps({"tenant": tenant, "plan": plan, "browser": "Chrome"}),
                )
                for tenant in TENANTS
                for number, plan in enumerate(("pro", "pro", "free"))
            ]
        )
        await endpoints.add_variable("tenant", "String", "bee")
        await endpoints.add_variable("plan", "String", "pro")
        await endpoints.create(BY_PLAN, name="by_plan")
        await endpoints.create("SELECT count() FROM events", name="everything")
        await endpoints.create(TRENDS, name="trends")
        yield Tenants(endpoints)


def whose(answer: httpx.Response) -> set[Any]:
    assert answer.status_code == 200, answer.text
    rows = answer.json()["results"]
    values = [row[0] if isinstance(row, list) else row["breakdown_value"] for row in rows]
    return {each[0] if isinstance(each, list) else each for each in values}


async def test_a_token_runs_its_endpoint_with_its_variables(tenants: Tenants) -> None:
    answer = await tenants.mint(endpoints=["by_plan"], variables={"tenant": "ant"}, expires_in=3600)
    assert set(answer.json()) == {"token", "expires_at"}
    assert answer.json()["expires_at"] == "2026-01-05T13:00:00.000000Z"
    token = answer.json()["token"]
    assert token.startswith("pht_")

    assert (await tenants.run(token)).json()["results"] == [["ant", "pro", 2]]
    free = await tenants.run(token, variables={"plan": "free"})
    assert free.json()["results"] == [["ant", "free", 1]]
    same = await tenants.run(token, variables={"tenant": "ant", "plan": "free"})
    assert same.json()["results"] == [["ant", "free", 1]]
    got = await tenants.send("GET", "/endpoints/by_plan/run", token)
    assert got.json()["results"] == [["ant", "pro", 2]]
    current = await tenants.endpoints.client.post(
        "/api/projects/@current/endpoints/by_plan/run/",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert current.json()["results"] == [["ant", "pro", 2]]
    csv = await tenants.send("GET", "/endpoints/by_plan/run", token, headers={"Accept": "text/csv"})
    assert "ant,pro,2" in csv.text


@pytest.mark.parametrize(
    "value", ["bee", None, 1, True, "", ["ant"], ["ant", "bee"], {"a": 1}, "ant "]
)
async def test_another_value_of_a_fixed_variable_is_403(tenants: Tenants, value: Any) -> None:
    answer = await tenants.run(await tenants.token(), variables={"tenant": value})
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


async def test_numbers_are_not_booleans(tenants: Tenants) -> None:
    answer = await tenants.run(await tenants.token(1), variables={"tenant": True})
    assert answer.status_code == 403


EVASIONS: list[dict[str, Any]] = [
    {"debug": True},
    {"query_override": {}},
    {"query_override": {"breakdownFilter": None}},
    {"query_override": {"series": [NODE]}},
]


@pytest.mark.parametrize("body", EVASIONS)
@pytest.mark.parametrize("name", ["by_plan", "trends"])
async def test_options_that_could_evade_are_403(
    tenants: Tenants, name: str, body: dict[str, Any]
) -> None:
    assert (await tenants.run(await tenants.token(name=name), name, **body)).status_code == 403


async def test_fixed_dates_hold_against_overrides(tenants: Tenants) -> None:
    variables = {"tenant": "ant", "date_from": "2026-01-04"}
    token = (await tenants.mint(endpoints=["trends"], variables=variables)).json()["token"]
    answer = await tenants.run(token, "trends", filters_override={"date_from": "-90d"})
    assert answer.status_code == 403
    assert (await tenants.run(token, "trends")).status_code == 200


async def test_other_endpoints_are_403_whether_they_exist_or_not(tenants: Tenants) -> None:
    token = await tenants.token()
    for name in ("everything", "trends", "missing", "BY_PLAN"):
        assert (await tenants.run(token, name)).status_code == 403, name


async def test_cancelling_is_403(tenants: Tenants) -> None:
    token = await tenants.token()
    answer = await tenants.send("DELETE", "/endpoints/by_plan/run?client_query_id=x", token)
    assert answer.status_code == 403


async def test_other_projects_are_403(tenants: Tenants) -> None:
    token = await tenants.token()
    for project in (1, 999_999_999):
        url = f"/api/projects/{project}/endpoints/by_plan/run"
        headers = {"Authorization": f"Bearer {token}"}
        answer = await tenants.endpoints.client.post(url, headers=headers)
        assert answer.status_code in (403, 404), answer.text


async def test_tokens_are_read_from_the_header_only(tenants: Tenants) -> None:
    token = await tenants.token()
    url = f"{tenants.project}/endpoints/by_plan/run"
    async with httpx.AsyncClient(
        transport=tenants.endpoints.client._transport, base_url="http://h"
    ) as client:
        assert (await client.post(url, json={"personal_api_key": token})).status_code == 401
        assert (await client.get(url, params={"personal_api_key": token})).status_code == 401


async def test_a_token_ends(tenants: Tenants) -> None:
    token = await tenants.token(expires_in=1)
    assert (await tenants.run(token)).status_code == 200
    tenants.endpoints.world.clock.advance(seconds=1)
    answer = await tenants.run(token)
    assert (answer.status_code, answer.json()["code"]) == (401, "authentication_failed")
    assert "expired" in answer.json()["detail"]


async def test_every_changed_character_of_a_token_is_401(tenants: Tenants) -> None:
    token = await tenants.token()
    random = Random(17)  # noqa: S311 (test data)
    for index in random.sample(range(4, len(token) - 1), 60):
        replaced = "A" if token[index] != "A" else "B"
        forged = token[:index] + replaced + token[index + 1 :]
        assert (await tenants.run(forged)).status_code == 401, index


MALFORMED = [
    "pht_",
    "pht_.",
    "pht_..",
    "pht_a.b.c",
    "pht_a.b",
    "pht_a.b.c.d",
    "pht_" + "a" * 5000,
    "pht_" + "[" * 100,
    "pht_e30.e30.e30",
    "pht_bnVsbA.bnVsbA.bnVsbA",
]


@pytest.mark.parametrize("token", MALFORMED)
async def test_malformed_tokens_are_401(tenants: Tenants, token: str) -> None:
    for path in ("/endpoints/by_plan/run", "/endpoints"):
        answer = await tenants.send("GET", path, token)
        assert (answer.status_code, answer.json()["code"]) == (401, "authentication_failed")


async def test_tokens_made_offline(tenants: Tenants) -> None:
    key = await tenants.rotate()
    assert set(key) == {"id", "created_at", "expires_at", "secret"}
    assert (await tenants.run(tenants.offline(key))).json()["results"] == [["ant", "pro", 2]]
    without = tenants.offline(key, variables={})
    assert (await tenants.run(without, variables={"tenant": "bee"})).status_code == 200
    more = tenants.offline(key, {"cty": "JWT"}, sub="ada", jti="1", iss="shop", aud="hoglet")
    assert (await tenants.run(more)).status_code == 200


WRONG_HEADERS: list[dict[str, Any]] = [
    {"alg": "none"},
    {"alg": "HS512"},
    {"alg": "hs256"},
    {"alg": "RS256"},
    {"alg": None},
    {"alg": ["HS256"]},
    {"kid": None},
    {"kid": 1},
    {"kid": "0" * 16},
    {"kid": "\x00"},
    {"kid": "' OR 1=1 --"},
    {"crit": ["exp"]},
]


@pytest.mark.parametrize("header", WRONG_HEADERS, ids=str)
async def test_wrong_headers_are_401(tenants: Tenants, header: dict[str, Any]) -> None:
    key = await tenants.rotate()
    assert (await tenants.run(tenants.offline(key, header))).status_code == 401


async def test_other_algorithms_with_the_right_key_are_401(tenants: Tenants) -> None:
    key, now = await tenants.rotate(), int(tenants.endpoints.world.clock.now().timestamp())
    claims = {
        "project": tenants.endpoints.project_id,
        "endpoints": ["by_plan"],
        "iat": now,
        "exp": now + 60,
    }
    header = {"alg": "HS512", "typ": "JWT", "kid": key["id"]}
    longer = sign(key["secret"], header, claims, hashlib.sha512)
    pretended = sign(key["secret"], header | {"alg": "HS256"}, claims, hashlib.sha512)
    unsigned = sign(key["secret"], header | {"alg": "none"}, claims).rpartition(".")[0] + "."
    for token in (longer, pretended, unsigned):
        assert (await tenants.run(token)).status_code == 401


def _times(**shifts: int) -> Any:
    def claims(now: int) -> dict[str, Any]:
        return {name: now + shift for name, shift in shifts.items()}

    return claims


WRONG_CLAIMS: dict[str, Any] = {
    "expired": _times(iat=-60, exp=0),
    "issued far in the future": _times(iat=61, exp=120),
    "not before": _times(nbf=61),
    "too long": _times(exp=31 * 86_400),
    "ends before it is issued": _times(iat=30, exp=20),
    "no end": {"exp": None},
    "end as text": {"exp": "9999999999"},
    "end as a fraction": {"exp": 1e300},
    "another project": {"project": 1},
    "project as text": {"project": "900017"},
    "a boolean project": {"project": True},
    "no endpoints": {"endpoints": []},
    "endpoints as text": {"endpoints": "by_plan"},
    "numbers as endpoints": {"endpoints": [1]},
    "too many endpoints": {"endpoints": [f"e{number}" for number in range(101)]},
    "variables as list": {"variables": []},
    "a null variable": {"variables": {"tenant": None}},
    "an object": {"variables": {"tenant": {"a": 1}}},
    "an empty list": {"variables": {"tenant": []}},
    "a list of lists": {"variables": {"tenant": [["a"]]}},
    "a list with null": {"variables": {"tenant": ["a", None]}},
    "an integer of 71 bits": {"variables": {"tenant": 2**70}},
    "a list with such an integer": {"variables": {"tenant": [1, -(2**63) - 1]}},
}


@pytest.mark.parametrize("name", WRONG_CLAIMS)
async def test_wrong_claims_are_401(tenants: Tenants, name: str) -> None:
    key = await tenants.rotate()
    claims: Any = WRONG_CLAIMS[name]
    if callable(claims):
        claims = claims(int(tenants.endpoints.world.clock.now().timestamp()))
    answer = await tenants.run(tenants.offline(key, **claims))
    assert (answer.status_code, answer.json()["code"]) == (401, "authentication_failed")


async def test_clocks_may_differ_by_a_minute(tenants: Tenants) -> None:
    key = await tenants.rotate()
    now = int(tenants.endpoints.world.clock.now().timestamp())
    early = tenants.offline(key, iat=now + 60, nbf=now + 60, exp=now + 90)
    assert (await tenants.run(early)).status_code == 200


async def test_a_key_of_another_project_is_401(tenants: Tenants) -> None:
    client = tenants.endpoints.client
    foreign = (await client.post("/api/projects/1/tenant_tokens/rotate", json={})).json()
    assert (await tenants.run(tenants.offline(foreign))).status_code == 401
    theirs = tenants.offline(foreign, project=1)  # valid, but for project 1
    assert (await tenants.run(theirs)).status_code == 403


async def test_rotation_ends_tokens_at_once(tenants: Tenants) -> None:
    old = await tenants.token()
    await tenants.rotate()
    assert (await tenants.run(old)).status_code == 401
    assert (await tenants.run(await tenants.token())).status_code == 200


async def test_rotation_with_a_grace_time(tenants: Tenants) -> None:
    old = await tenants.token(expires_in=10_000)
    await tenants.rotate(grace_seconds=60)
    assert (await tenants.run(old)).status_code == 200
    keys = (await tenants.endpoints.client.get(f"{tenants.project}/tenant_tokens/keys")).json()
    assert [key["expires_at"] is None for key in keys["results"]] == [True, False]
    assert all("secret" not in key for key in keys["results"])
    await tenants.rotate(grace_seconds=3600)  # does not lengthen the first grace time
    tenants.endpoints.world.clock.advance(seconds=60)
    assert (await tenants.run(old)).status_code == 401


async def test_a_key_is_revoked_by_its_id(tenants: Tenants) -> None:
    key = await tenants.rotate()
    token = tenants.offline(key)
    assert (await tenants.run(token)).status_code == 200
    url = f"{tenants.project}/tenant_tokens/keys"
    client = tenants.endpoints.client
    assert (
        await client.delete(f"/api/projects/1/tenant_tokens/keys/{key['id']}")
    ).status_code == 404
    assert (await client.delete(f"{url}/{key['id']}")).status_code == 204
    assert (await tenants.run(token)).status_code == 401
    assert (await client.delete(f"{url}/{key['id']}")).status_code == 404


async def test_keys_within_their_grace_time_are_bounded(tenants: Tenants) -> None:
    await tenants.rotate()
    url = f"{tenants.project}/tenant_tokens/rotate"
    for _ in range(9):
        await tenants.rotate(grace_seconds=3600)
    refused = await tenants.endpoints.client.post(url, json={"grace_seconds": 3600})
    assert refused.status_code == 400
    await tenants.rotate()


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({}, "required", "endpoints"),
    ({"endpoints": []}, "min_length", "endpoints"),
    ({"endpoints": "by_plan"}, "not_a_list", "endpoints"),
    ({"endpoints": ["by_plann"]}, "does_not_exist", "endpoints__0"),
    ({"endpoints": ["by_plan", "gone"]}, "does_not_exist", "endpoints__1"),
    ({"endpoints": ["by_plan"], "variables": []}, "not_a_dict", "variables"),
    ({"endpoints": ["by_plan"], "variables": {"tenat": 1}}, "invalid_input", "variables__tenat"),
    ({"endpoints": ["by_plan"], "variables": {"tenant": None}}, "invalid_input", "variables"),
    ({"endpoints": ["by_plan"], "variables": {"tenant": {}}}, "invalid_input", "variables"),
    ({"endpoints": ["by_plan"], "variables": {"tenant": "x" * 9000}}, "invalid_input", "variables"),
    (
        {"endpoints": ["by_plan", "everything"], "variables": {"tenant": "ant"}},
        "invalid_input",
        "variables__tenant",
    ),
    ({"endpoints": ["by_plan"], "variabels": {"tenant": "a"}}, "invalid_input", "variabels"),
    ({"endpoint": ["by_plan"]}, "invalid_input", "endpoint"),
    ({"endpoints": ["by_plan"], "expire_in": 60}, "invalid_input", "expire_in"),
    ({"endpoints": ["by_plan"], "expires_in": 0}, "min_value", "expires_in"),
    ({"endpoints": ["by_plan"], "expires_in": 31 * 86_400}, "max_value", "expires_in"),
    ({"endpoints": ["by_plan"], "expires_in": "soon"}, "invalid_input", "expires_in"),
    ({"endpoints": ["by_plan"], "expires_in": True}, "invalid_input", "expires_in"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
async def test_refused_bodies(tenants: Tenants, number: int) -> None:
    body, code, attr = REFUSED[number]
    answer = await tenants.mint(**body)
    assert answer.status_code == 400, answer.text
    assert (answer.json()["code"], answer.json()["attr"]) == (code, attr)


async def test_a_fixed_variable_that_a_version_lacks_is_refused(tenants: Tenants) -> None:
    """Offline tokens are not checked when they are created; an unknown variable never passes."""
    key = await tenants.rotate()
    token = tenants.offline(key, endpoints=["everything"])
    answer = await tenants.run(token, "everything")
    assert (answer.status_code, answer.json()["attr"]) == (400, "variables")


async def test_cached_runs_do_not_leak(tenants: Tenants) -> None:
    tokens = {tenant: await tenants.token(tenant) for tenant in TENANTS}
    trends = {tenant: await tenants.token(tenant, "trends") for tenant in TENANTS}
    anybody = await tenants.endpoints.ran("by_plan")
    assert [row[0] for row in anybody["results"]] == ["bee"]
    for _ in range(3):
        for tenant in TENANTS:
            assert whose(await tenants.run(tokens[tenant])) == {tenant}
            assert whose(await tenants.run(trends[tenant], "trends")) == {tenant}
            for refresh in ("blocking", "force_cache", "lazy_async", "force"):
                assert whose(await tenants.run(tokens[tenant], refresh=refresh)) == {tenant}
    known = await tenants.send("GET", "/endpoints/by_plan/run", tokens["ant"])
    headers = {"If-None-Match": known.headers["etag"]}
    other = await tenants.send("GET", "/endpoints/by_plan/run", tokens["bee"], headers=headers)
    assert whose(other) == {"bee"}


async def test_cursors_do_not_leak(tenants: Tenants) -> None:
    sql = (
        "SELECT properties.tenant AS whose, distinct_id, uuid FROM events "
        "WHERE whose = {variables.tenant} ORDER BY distinct_id, uuid"
    )
    await tenants.endpoints.create(sql, name="rows")
    ant, bee = await tenants.token("ant", "rows"), await tenants.token("bee", "rows")
    page = (await tenants.run(ant, "rows", cursor="*", limit=1)).json()
    assert [row[1] for row in page["results"]] == ["ant0"]
    follow = await tenants.run(ant, "rows", cursor=page["next_cursor"], limit=1)
    assert [row[1] for row in follow.json()["results"]] == ["ant1"]
    stolen = await tenants.run(bee, "rows", cursor=page["next_cursor"], limit=1)
    assert stolen.status_code == 400


async def test_each_background_run_of_a_tenant_has_its_own_id(tenants: Tenants) -> None:
    token = await tenants.token()
    started = [
        await tenants.run(token, refresh="force_async", variables={"plan": "free"})
        for _ in range(3)
    ]
    assert [answer.status_code for answer in started] == [202] * 3
    assert len({answer.json()["query_status"]["id"] for answer in started}) == 3


async def test_background_runs_are_apart(tenants: Tenants) -> None:
    ant, bee = await tenants.token("ant"), await tenants.token("bee")
    jobs = tenants.endpoints.services.jobs
    plan: dict[str, Any] = {"variables": {"plan": "free"}}
    for query_id in ("page-1", "p" * 200):
        started = await tenants.run(ant, refresh="force_async", client_query_id=query_id, **plan)
        assert started.status_code == 202, started.text
        theirs = await tenants.send(
            "GET", f"/endpoints/by_plan/run?client_query_id={query_id}", bee
        )
        assert theirs.status_code == 404
        given = started.json()["query_status"]["id"]
        assert (
            await tenants.send("GET", f"/endpoints/by_plan/run?client_query_id={given}", bee)
        ).status_code == 404
        joined = await tenants.run(bee, refresh="force_async", client_query_id=query_id, **plan)
        assert joined.status_code == 202
        await jobs.drain()
        for token, tenant in ((ant, "ant"), (bee, "bee")):
            path = f"/endpoints/by_plan/run?client_query_id={query_id}"
            assert whose(await tenants.send("GET", path, token)) == {tenant}
        location = started.headers["location"]
        mine = await tenants.endpoints.client.get(
            location, headers={"Authorization": f"Bearer {ant}"}
        )
        assert whose(mine) == {"ant"}
    unnamed = await tenants.run(ant, refresh="force_async", **plan)
    await jobs.drain()
    headers = {"Authorization": f"Bearer {ant}"}
    polled = await tenants.endpoints.client.get(unnamed.headers["location"], headers=headers)
    assert whose(polled) == {"ant"}


@pytest.mark.parametrize("times", [12, pytest.param(40, marks=pytest.mark.long)])
async def test_materialized_runs_do_not_leak(tenants: Tenants, times: int) -> None:
    queries = {f"by_plan_{times}": BY_PLAN, f"trends_{times}": TRENDS}
    for name, query in queries.items():
        await tenants.endpoints.create(
            query, name=name, is_materialized=True, sync_frequency="1hour"
        )
    await tenants.endpoints.services.jobs.drain()
    random = Random(5)  # noqa: S311 (test data)
    for name, query in queries.items():
        tokens = {tenant: await tenants.token(tenant, name) for tenant in TENANTS}
        others = {"variables": {"plan": "pro"}} if query == BY_PLAN else {}
        first = await tenants.run(tokens["ant"], name, **others)
        assert first.json()["endpoint_materialized"] is True
        for _ in range(times):
            tenant, refresh = random.choice(TENANTS), random.choice(REFRESH_WORDS)
            answer = await tenants.run(tokens[tenant], name, refresh=refresh, **others)
            if answer.status_code == 202:
                await tenants.endpoints.services.jobs.drain()
                headers = {"Authorization": f"Bearer {tokens[tenant]}"}
                answer = await tenants.endpoints.client.get(
                    answer.headers["location"], headers=headers
                )
            assert whose(answer) == {tenant}


async def test_scopes_of_the_creating_key(tenants: Tenants) -> None:
    client = tenants.endpoints.client

    async def key(*scopes: str) -> str:
        body = {"label": " ".join(scopes), "scopes": [*scopes]}
        return (await client.post("/api/personal_api_keys/", json=body)).json()["value"]

    secret = await client.post(
        f"{tenants.project}/project_secret_api_keys",
        json={"label": "server", "scopes": ["endpoint:read"]},
    )
    body = {"endpoints": ["by_plan"], "variables": {"tenant": "ant"}}
    for value, mints, rotates in (
        (secret.json()["value"], 201, 403),
        (await key("endpoint:read"), 201, 403),
        (await key("query:read"), 403, 403),
        (await key("project:write"), 403, 403),
        (await key("project:write", "endpoint:read"), 201, 201),
    ):
        created = await tenants.send("POST", "/tenant_tokens", value, json=body)
        assert created.status_code == mints, created.text
        turned = await tenants.send("POST", "/tenant_tokens/rotate", value, json={})
        assert turned.status_code == rotates, turned.text
    token = await tenants.token()
    assert (await tenants.send("POST", "/tenant_tokens", token, json=body)).status_code == 403


async def test_runs_are_open_to_browsers(tenants: Tenants) -> None:
    url = f"{tenants.project}/endpoints/by_plan/run"
    origin = {"Origin": "https://shop.example.com"}
    asked = {
        **origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    preflight = await tenants.endpoints.client.options(url, headers=asked)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert preflight.headers["access-control-allow-headers"] == "authorization, content-type"
    assert "access-control-allow-credentials" not in preflight.headers
    for token, status in ((await tenants.token(), 200), ("pht_a.b.c", 401)):
        answer = await tenants.send(
            "POST", "/endpoints/by_plan/run", token, json={}, headers=origin
        )
        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == "*"
    closed = await tenants.endpoints.client.get(f"{tenants.project}/endpoints", headers=origin)
    assert "access-control-allow-origin" not in closed.headers


async def test_keys_survive_the_rotation_of_secret_keys(tenants: Tenants) -> None:
    world = tenants.endpoints.world
    old, new = Fernet.generate_key(), Fernet.generate_key()
    async with world.database.write() as session:
        await session.execute(delete(SigningKeyRow))  # those of the fixture have another key

    def keys(*secrets: bytes) -> SigningKeys:
        box = SecretBox(secrets)
        access = world.access
        return SigningKeys(access.database, box, world.clock, access.activity, cache_seconds=0)

    project = await world.access.project(tenants.endpoints.project_id)
    assert project is not None
    scope = ProjectScope(project, Principal("personal", "k", frozenset({"*"})))
    token, _ = await keys(old).sign(scope, TenantGrant.of(["by_plan"], {"tenant": "ant"}), 60)
    assert (await reencrypt_all(world.database, SecretBox([new, old]))).unreadable == 0

    principal = await keys(new).identify(token)
    assert principal.tenant == TenantGrant.of(["by_plan"], {"tenant": "ant"})
    with pytest.raises(Unauthenticated):
        await keys(old).identify(token)
    again, _ = await keys(old).sign(scope, TenantGrant.of(["by_plan"], {}), 60)
    assert (await keys(old).identify(again)).tenant  # with a new key: the other is unreadable
    async with world.database.write() as session:
        await session.execute(delete(SigningKeyRow))
