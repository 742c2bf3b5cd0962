"""The client's address is that of the peer, or the one that a trusted proxy reports."""

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from hoglet.web.app import RequestPolicy, create_application


async def _who(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.client.host if request.client else "")


@pytest.mark.parametrize(
    ("forwarded", "trusted", "address"),
    [
        ("198.51.100.4, 10.0.0.1", True, "198.51.100.4"),
        ("198.51.100.4:4711", True, "198.51.100.4"),
        ("[2001:db8::7]:4711", True, "2001:db8::7"),
        ("2001:db8::7", True, "2001:db8::7"),
        ("unknown", True, "203.0.113.9"),
        ("", True, "203.0.113.9"),
        ("198.51.100.4", False, "203.0.113.9"),
    ],
)
async def test_forwarded_addresses_count_behind_a_trusted_proxy_only(forwarded, trusted, address):
    app = create_application(
        routes=[Route("/who", _who)], policy=RequestPolicy(trust_proxy=trusted)
    )
    transport = httpx.ASGITransport(app=app, client=("203.0.113.9", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://hoglet") as client:
        response = await client.get("/who", headers={"X-Forwarded-For": forwarded})

    assert response.text == address
