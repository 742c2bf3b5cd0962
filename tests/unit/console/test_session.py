"""Signing in: the cookie is encrypted and checked, and redirects stay on the site."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet
from starlette.applications import Starlette
from starlette.requests import Request

from hoglet.access.api import user as api
from hoglet.console.api_client import Backend, Reply
from hoglet.console.session import COOKIE, Sessions, safe_target
from hoglet.web.app import RequestPolicy, create_application
from support.access import World, open_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with open_world(tmp_path) as world:
        yield world


@pytest.fixture
def sessions(world: World) -> Sessions:
    app = create_application(routers=[api.router], policy=RequestPolicy(log_requests=False))
    app.state.access = world.access
    return Sessions([Fernet.generate_key().decode()], app)


@pytest.fixture
async def client(sessions: Sessions) -> AsyncGenerator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(Starlette(routes=sessions.routes()))
    async with httpx.AsyncClient(transport=transport, base_url="https://hoglet.test") as client:
        yield client


def request_with(cookie: str) -> Request:
    headers = [(b"host", b"hoglet.test"), (b"cookie", f"{COOKIE}={cookie}".encode())]
    return Request(
        {"type": "http", "scheme": "https", "path": "/", "query_string": b"", "headers": headers}
    )


def key_in(sessions: Sessions, cookie: str) -> str | None:
    return sessions.key_of(request_with(cookie))


async def test_a_valid_key_is_encrypted_into_the_cookie(
    client: httpx.AsyncClient, sessions: Sessions, world: World
) -> None:
    key = world.first.personal_api_key

    response = await client.post("/console/sign-in", data={"key": f" {key} ", "next": "/project/1"})

    assert (response.status_code, response.headers["location"]) == (303, "/project/1")
    cookie = response.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Secure"))
    assert str(key) not in cookie
    assert key_in(sessions, response.cookies[COOKIE]) == key


@pytest.mark.parametrize("key", ["", "phx_wrong", "é", "\r\nX: y"])
async def test_a_wrong_key_is_sent_back(client: httpx.AsyncClient, key: str) -> None:
    response = await client.post("/console/sign-in", data={"key": key, "next": "//evil.example"})

    assert response.headers["location"] == "/sign-in?failed=1&next=/"
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    "cookie",
    ["", "nonsense", Fernet(Fernet.generate_key()).encrypt(b"x")],
    ids=["empty", "nonsense", "sealed with another key"],
)
def test_a_forged_cookie_is_nobody(sessions: Sessions, cookie: str | bytes) -> None:
    assert key_in(sessions, cookie if isinstance(cookie, str) else cookie.decode()) is None


@pytest.mark.parametrize(
    "value",
    [b"\xc3\xa9", b"\xff\xfe", b"\x80", b"\xed\xa0\x80", b"gAAAA\xe9", b"=" * 99, b"x" * 9000],
)
def test_a_cookie_of_any_bytes_is_nobody(sessions: Sessions, value: bytes) -> None:
    headers = [(b"cookie", COOKIE.encode() + b"=" + value)]
    assert sessions.key_of(Request({"type": "http", "headers": headers})) is None


async def test_signing_out_clears_the_cookie(client: httpx.AsyncClient) -> None:
    response = await client.post("/console/sign-out")

    assert response.headers["location"] == "/sign-in"
    assert 'hoglet_console=""' in response.headers["set-cookie"]


async def test_signing_out_ends_the_open_pages_of_this_browser_only(
    client: httpx.AsyncClient, sessions: Sessions, world: World
) -> None:
    form = {"key": str(world.first.personal_api_key)}
    cookies = [(await client.post("/console/sign-in", data=form)).cookies[COOKIE] for _ in range(2)]
    pages = [sessions.backend(request_with(cookie)) for cookie in cookies]
    ended: list[int] = []
    for number, page in enumerate(pages):
        assert page is not None
        page.on_signed_out = lambda number=number: ended.append(number)

    client.cookies.set(COOKIE, cookies[0], domain="hoglet.test")
    await client.post("/console/sign-out")

    path = "/api/personal_api_keys/@current"
    statuses = [(await page.call("GET", path)).status for page in pages if page is not None]
    assert (ended, statuses) == ([0], [401, 200])


@pytest.mark.parametrize("action", ["sign-in", "sign-out"])
@pytest.mark.parametrize(
    ("site", "sets_cookie"), [("same-origin", True), ("none", True), ("cross-site", False)]
)
async def test_forms_of_other_sites_neither_sign_in_nor_out(
    client: httpx.AsyncClient, world: World, action: str, site: str, *, sets_cookie: bool
) -> None:
    response = await client.post(
        f"/console/{action}",
        data={"key": str(world.first.personal_api_key)},
        headers={"Sec-Fetch-Site": site},
    )

    assert response.status_code == 303
    assert ("set-cookie" in response.headers) == sets_cookie


@pytest.mark.parametrize(
    ("target", "safe"),
    [
        ("/project/1/functions", "/project/1/functions"),
        ("https://evil.example", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("", "/"),
    ],
)
def test_targets_stay_on_the_site(target: str, safe: str) -> None:
    assert safe_target(target) == safe


async def test_the_backend_calls_the_api_as_the_key(sessions: Sessions, world: World) -> None:
    backend = Backend(sessions._api, world.first.personal_api_key or "", "1")

    read = await backend.call("GET", "/api/projects", query="limit=1")
    changed = await backend.send("PATCH", "", {"name": ""})
    anonymous = await Backend(sessions._api, "phx_wrong").get("/")

    assert read.body["count"] == 1
    assert (changed.status, changed.problem) == (400, "name: This field may not be blank.")
    assert anonymous.status == 401


def test_a_problem_without_a_body_still_says_something() -> None:
    assert Reply(502, None).problem == "The request failed with status 502."
