"""What handlers get: the request, parameters of the path, results of dependencies."""

from typing import Annotated, Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hoglet.kit.errors import Forbidden
from hoglet.web.app import RequestPolicy, create_application
from hoglet.web.router import Depends, Router, arguments_of

router = Router()


async def caller(request: Request) -> str:
    name = request.headers.get("x-name")
    if name is None:
        raise Forbidden("No name.")
    return name


async def open_door(request: Request) -> None:
    request.state.opened = True


type Caller = Annotated[str, Depends(caller)]


@router.get("/things/{thing}/{part}", dependencies=[Depends(open_door)])
async def read(part: str, name: Caller, request: Request, thing: str) -> Response:
    return JSONResponse([thing, part, name, request.state.opened])


@router.api_route("/api/hook", methods=["GET", "POST"])
@router.api_route("/hook", methods=["GET", "POST"])
async def hook(request: Request) -> Response:
    return JSONResponse(request.method)


def client(prefix: str) -> httpx.AsyncClient:
    given: dict[str, Any] = {"project_routers": [router]} if prefix else {"routers": [router]}
    app = create_application(**given, policy=RequestPolicy(log_requests=False))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=f"http://hoglet.test{prefix}")


async def test_a_handler_gets_what_it_names() -> None:
    async with client("") as public:
        response = await public.get("/things/a/b%20c", headers={"X-Name": "Ada"})

    assert response.json() == ["a", "b c", "Ada", True]


async def test_a_dependency_that_raises_ends_the_request() -> None:
    async with client("") as public:
        response = await public.get("/things/a/b")

    assert (response.status_code, response.json()["detail"]) == (403, "No name.")


@pytest.mark.parametrize(
    ("prefix", "path", "status"),
    [("", "/hook", 405), ("", "/api/hook", 200), ("/api/projects/1", "/hook", 200)],
)
async def test_only_routes_of_the_api_answer_head(prefix: str, path: str, status: int) -> None:
    async with client(prefix) as either:
        response = await either.head(path)

    assert response.status_code == status


async def test_other_methods_are_405() -> None:
    async with client("") as public:
        assert (await public.delete("/hook")).status_code == 405
        assert (await public.post("/hook")).json() == "POST"


async def test_a_parameter_of_another_type_is_refused() -> None:
    async def handler(_number: int) -> Response:
        return Response("")

    with pytest.raises(TypeError, match="_number"):
        arguments_of(handler)
