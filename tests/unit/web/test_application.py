"""Every failure has the form ``{type, code, detail, attr}``; paths are normalized."""

import gzip
from collections.abc import AsyncGenerator
from typing import Any, Literal

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from pydantic import Field
from sqlalchemy.exc import TimeoutError as PoolTimedOut
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hoglet.kit import errors
from hoglet.web.app import ReadinessChecks, create_application, set_fallback
from hoglet.web.error_handlers import add_error_key
from hoglet.web.json_response import JsonResponse, json_response
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.request_log import BUCKETS_S, RequestMetrics
from hoglet.web.router import Router
from hoglet.web.validation import Body, validate

router = Router()


class Masking(Body):
    ttl: int = Field(ge=60, le=86400)


class Thing(Body):
    name: str = Field(default="", max_length=5)
    kind: Literal["a", "b"] = "a"
    enabled: bool = False
    masking: Masking | None = None
    steps: list[dict[str, Any]] = Field(default_factory=list)


@router.post("/things")
async def create(request: Request, project_id: str) -> Response:
    thing = validate(Thing, await read_object(request))
    return JsonResponse({"project": project_id, **thing.model_dump()}, status_code=201)


@router.get("/things")
async def listing(request: Request, project_id: str) -> Response:
    page = parse_page(request.query_params)
    return JsonResponse(envelope(request, page, 250, [project_id]))


@router.get("/fail/{how}")
async def fail(how: str) -> Response:
    raise {
        "throttled": errors.Throttled("Slow down.", wait_seconds=7),
        "stale": errors.Stale("It changed."),
        "unavailable": errors.Unavailable("No room."),
        "cost": errors.CostExceeded("Too slow.", code="query_timeout"),
        "key": errors.Unauthenticated("No key."),
        "error": add_error_key(errors.Invalid("Bad.", attr="version")),
        "bug": errors.Bug("secret internals"),
        "crash": ValueError("secret internals"),
        "database": PoolTimedOut("secret internals"),
    }[how]


@router.post("/side")
async def side(request: Request) -> Response:
    return json_response(request, {"done": True})


@pytest.fixture
async def client() -> AsyncGenerator[httpx.AsyncClient]:
    async def broken() -> None:
        raise ConnectionError

    app = create_application(
        project_routers=[router], readiness=ReadinessChecks({"storage": broken})
    )
    app.state.body_limit_bytes = 20_000

    async def console(scope: Any, receive: Any, send: Any) -> None:
        await Response("console")(scope, receive, send)

    set_fallback(app, console, ("/pages/",))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://hoglet.test") as client:
        yield client


def shape(response: httpx.Response) -> tuple[int, str, str, str | None]:
    body = response.json()
    assert {"type", "code", "detail", "attr"} <= set(body)
    assert isinstance(body["detail"], str)
    return response.status_code, body["type"], body["code"], body["attr"]


async def test_a_long_value_is_not_repeated_whole(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/projects/1/things", json={"kind": "x" * 15_000})

    detail = response.json()["detail"]
    assert response.status_code == 400
    assert len(detail) < 5_000
    assert detail.endswith('x" is not a valid choice.')


@pytest.mark.parametrize("prefix", ["projects", "environments"])
@pytest.mark.parametrize("slash", ["", "/"])
async def test_every_spelling_of_a_path_answers_without_redirect(
    client: httpx.AsyncClient, prefix: str, slash: str
) -> None:
    response = await client.post(f"/api/{prefix}/@current/things{slash}", json={"name": " x "})

    assert response.status_code == 201
    assert response.json()["name"] == "x"
    assert response.json()["project"] == "@current"


@pytest.mark.parametrize(
    ("body", "code", "attr", "detail"),
    [
        (
            {"name": "toolong"},
            "max_length",
            "name",
            "Ensure this field has no more than 5 characters.",
        ),
        ({"name": None}, "null", "name", "This field may not be null."),
        ({"kind": "x"}, "invalid_choice", "kind", '"x" is not a valid choice.'),
        ({"enabled": "maybe"}, "invalid_input", "enabled", "Must be a valid boolean."),
        ({"masking": {}}, "required", "masking__ttl", "This field is required."),
        (
            {"masking": {"ttl": "x"}},
            "invalid_input",
            "masking__ttl",
            "A valid integer is required.",
        ),
        (
            {"masking": {"ttl": 1}},
            "min_value",
            "masking__ttl",
            "Ensure this value is greater than or equal to 60.",
        ),
        (
            {"masking": {"ttl": 86401}},
            "max_value",
            "masking__ttl",
            "Ensure this value is less than or equal to 86400.",
        ),
        ({"steps": "x"}, "not_a_list", "steps", 'Expected a list of items but got type "str".'),
        (
            {"steps": [{}, []]},
            "not_a_dict",
            "steps__1",
            'Expected a dictionary of items but got type "list".',
        ),
        ([], "not_a_dict", None, 'Expected a dictionary of items but got type "list".'),
    ],
)
async def test_validation_uses_the_framework_messages(
    client: httpx.AsyncClient, body: Any, code: str, attr: str | None, detail: str
) -> None:
    response = await client.post("/api/projects/1/things", json=body)

    assert shape(response) == (400, "validation_error", code, attr)
    assert response.json()["detail"] == detail


@pytest.mark.parametrize(
    ("content", "media", "expected"),
    [
        (b"{", "application/json", (400, "invalid_request", "parse_error", None)),
        (b"\xff\xfe", "application/json", (400, "invalid_request", "parse_error", None)),
        (b'{"a": NaN}', "application/json", (400, "invalid_request", "parse_error", None)),
        (
            b"[" * 500 + b"]" * 500,
            "application/json",
            (400, "invalid_request", "parse_error", None),
        ),
        (b"[" * 9000, "application/json", (400, "invalid_request", "parse_error", None)),
        (b"a=b", "text/plain", (415, "invalid_request", "unsupported_media_type", None)),
        (b"1" * 20_001, "application/json", (413, "invalid_request", "request_too_large", None)),
    ],
)
async def test_unreadable_bodies(
    client: httpx.AsyncClient, content: bytes, media: str, expected: Any
) -> None:
    response = await client.post(
        "/api/projects/1/things", content=content, headers={"content-type": media}
    )

    assert shape(response) == expected


async def test_a_streamed_body_is_cut_at_the_limit(client: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncGenerator[bytes]:
        for _ in range(30):
            yield b" " * 1000

    response = await client.post("/api/projects/1/things", content=chunks())

    assert response.status_code == 413


@pytest.mark.parametrize(
    ("how", "expected", "header"),
    [
        ("throttled", (429, "throttled_error", "throttled", None), ("Retry-After", "7")),
        ("stale", (409, "server_error", "stale_update", None), None),
        ("unavailable", (503, "server_error", "unavailable", None), ("Retry-After", "5")),
        ("cost", (400, "server_error", "query_timeout", None), None),
        (
            "key",
            (401, "authentication_error", "not_authenticated", None),
            ("WWW-Authenticate", "Bearer"),
        ),
        ("error", (400, "validation_error", "invalid_input", "version"), None),
        ("bug", (500, "server_error", "error", None), None),
        ("crash", (500, "server_error", "error", None), None),
        ("database", (503, "server_error", "unavailable", None), ("Retry-After", "5")),
    ],
)
async def test_raised_errors_have_one_shape(
    client: httpx.AsyncClient, how: str, expected: Any, header: tuple[str, str] | None
) -> None:
    response = await client.get(f"/api/projects/1/fail/{how}")

    assert shape(response) == expected
    assert "secret" not in response.text
    assert response.headers["x-request-id"]
    if header:
        assert response.headers[header[0]] == header[1]
    if how == "error":
        assert response.json()["error"] == "Bad."


async def test_unknown_paths_and_methods(client: httpx.AsyncClient) -> None:
    missing = await client.get("/api/nothing/here/")
    method = await client.delete("/api/projects/1/things/")
    below = await client.get("/api-typo", headers={"Accept": "application/json"})
    page = await client.get("/pages/one")
    person = await client.get("/typo", headers={"Accept": "text/html,*/*"})

    assert shape(missing) == (404, "invalid_request", "not_found", None)
    assert missing.json()["detail"] == "Not found."
    assert shape(method) == (405, "invalid_request", "method_not_allowed", None)
    assert method.json()["detail"] == 'Method "DELETE" not allowed.'
    assert method.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert shape(below) == (404, "invalid_request", "not_found", None)
    assert page.text == person.text == "console"


async def test_compressed_json_is_refused_as_such(client: httpx.AsyncClient) -> None:
    sent = gzip.compress(b'{"a": 1}')
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    response = await client.post("/api/projects/1/things", content=sent, headers=headers)

    assert shape(response) == (415, "invalid_request", "unsupported_media_type", None)
    assert response.json()["detail"].startswith("Content-Encoding gzip is not supported")


async def test_options_lists_the_methods_of_a_path(client: httpx.AsyncClient) -> None:
    known = await client.options("/api/projects/1/things/")
    missing = await client.options("/api/nothing/here/")

    assert (known.status_code, known.content) == (204, b"")
    assert known.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert shape(missing) == (404, "invalid_request", "not_found", None)


async def test_page_urls_do_not_repeat_a_key(client: httpx.AsyncClient) -> None:
    url = "/api/projects/1/things/?personal_api_key=phx_secret&limit=100&offset=100"

    body = (await client.get(url)).json()

    assert body["next"] == "http://hoglet.test/api/projects/1/things/?limit=100&offset=200"
    assert "phx_secret" not in str(body)


async def test_page_urls_repeat_the_query_string(client: httpx.AsyncClient) -> None:
    url = "/api/environments/1/things/?search=a%20b&limit=100&offset=100"

    body = (await client.get(url)).json()

    base = "http://hoglet.test/api/environments/1/things/?search=a+b&limit=100"
    assert body["next"] == f"{base}&offset=200"
    assert body["previous"] == base
    assert (body["count"], body["results"]) == (250, ["1"])


@pytest.mark.parametrize(("limit", "used"), [("0", 100), ("x", 100), ("9999", 1000), ("-5", 100)])
def test_limits_out_of_range_are_mended(limit: str, used: int) -> None:
    assert parse_page({"limit": limit}).limit == used


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 10**19 - 1])
def test_no_page_has_numbers_that_a_database_refuses(number: int) -> None:
    page = parse_page({"limit": str(number), "offset": str(number)}, default=None, maximum=None)

    assert (page.limit, page.offset) == (2**63 - 1, 2**63 - 1)


async def test_prefer_minimal_gives_an_empty_answer(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/projects/1/side", headers={"Prefer": "return=minimal"})

    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["preference-applied"] == "return=minimal"


async def test_open_cors_only_on_public_paths(client: httpx.AsyncClient) -> None:
    origin = {"Origin": "https://shop.example"}

    preflight = await client.options("/batch/", headers=origin)
    inside = await client.get("/api/projects/1/things", headers=origin)

    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "https://shop.example"
    assert "access-control-allow-origin" not in inside.headers


async def test_health_readiness_and_metrics(client: httpx.AsyncClient) -> None:
    await client.get("/api/projects/1/things")

    health = await client.get("/_health")
    ready = await client.get("/_readyz")
    metrics = await client.get("/metrics")

    assert health.status_code == 200
    assert ready.status_code == 503
    assert ready.json()["checks"] == {"storage": "ConnectionError"}
    assert 'route="/api/projects/{project_id}/things",status="200"' in metrics.text


async def test_routes_that_share_a_handler_are_counted_apart() -> None:
    async def shared(_request: Request) -> Response:
        return Response("")

    app = create_application(
        project_routers=[],
        routes=[Route(path, shared, methods=["POST"]) for path in ("/batch", "/e", "/i/v0/e")],
    )
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://hoglet.test") as client:
        for path in ("/e/", "/i/v0/e", "/i/v0/e/"):
            await client.post(path)
        metrics = (await client.get("/metrics")).text

    assert 'method="POST",route="/e",status="200"} 1.0' in metrics
    assert 'method="POST",route="/i/v0/e",status="200"} 2.0' in metrics
    assert 'route="/batch"' not in metrics


def test_request_metrics_are_those_of_the_prometheus_client() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    metrics = RequestMetrics(ours)
    labels = ("method", "route")
    count = Counter(
        "hoglet_http_requests", "Requests answered.", (*labels, "status"), registry=theirs
    )
    seconds = Histogram(
        "hoglet_http_request_seconds",
        "Response time.",
        labels,
        buckets=BUCKETS_S,
        registry=theirs,
    )
    for method, route, status, taken in (
        ("GET", "/a", 200, 0.001),  # on a boundary
        ("GET", "/a", 200, 0.0011),
        ("GET", "/a", 404, 30),
        ("POST", "/b", 500, 31),
        ("POST", "/b", 500, 0.0),
    ):
        metrics.observe(method, route, status, taken)
        count.labels(method, route, status).inc()
        seconds.labels(method, route).observe(taken)

    def lines(registry: CollectorRegistry) -> list[str]:
        text = generate_latest(registry).decode()
        return [line for line in text.splitlines() if "_created" not in line]

    assert lines(ours) == lines(theirs)
