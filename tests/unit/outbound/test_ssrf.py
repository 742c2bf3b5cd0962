"""Every notation of a private target is refused, unless the operator allows it (``ssrf.yaml``)."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from hoglet.outbound.client import Outbound
from hoglet.outbound.port import (
    NetworkFailure,
    OutboundRequest,
    OutboundResponse,
    RequestRefused,
)

SUITE: dict[str, list[str]] = yaml.safe_load(
    Path(__file__).with_name("ssrf.yaml").read_text("utf-8")
)
NAMES: dict[str, list[str]] = {
    "localhost": ["127.0.0.1"],
    "localhost.localdomain": ["127.0.0.1"],
    "ip6-localhost": ["::1"],
    "private.example": ["127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "zero.example": ["0.0.0.0"],  # noqa: S104 (an address to refuse)
    "nat64.example": ["64:ff9b::a00:1"],
    "linklocal.example": ["fe80::1%eth0"],
    "several.example": ["10.0.0.1", "::1", "127.0.0.1"],
    "rebind.example": ["127.0.0.1"],
}


async def resolve(host: str) -> list[str]:
    """Resolve like a name server, which does not know addresses that only look like names."""
    addresses = NAMES.get(host.lower().rstrip("."))
    if addresses is None:
        raise OSError("no such host")
    return addresses


class Target:
    """Counts what reaches it."""

    def __init__(self) -> None:
        self.hits = 0
        self.port = 0
        self.location = ""

    async def handle(self, _request: web.Request) -> web.Response:
        self.hits += 1
        if self.location:
            return web.Response(status=307, headers={"Location": self.location})
        return web.Response(text="reached")


@pytest.fixture
async def target() -> AsyncGenerator[Target]:
    target = Target()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", target.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    target.port = runner.addresses[0][1]
    yield target
    await runner.cleanup()


@pytest.mark.parametrize("theme", list(SUITE))
async def test_private_targets_are_refused(target: Target, theme: str) -> None:
    async with Outbound(resolve=resolve) as strict:
        for url in SUITE[theme]:
            written = url.replace("{port}", str(target.port))
            result = await strict.fetch(OutboundRequest(written), timeout_s=2)

            # An unknown name is not refused, but reaches nothing either.
            unknown = isinstance(result, NetworkFailure) and result.name == "ResolutionError"
            assert unknown or isinstance(result, RequestRefused), (url, result)
    assert target.hits == 0


def test_the_suite_is_large() -> None:
    assert sum(map(len, SUITE.values())) > 140


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "private.example",
     "PRIVATE.example.", "①②⑦.⓪.⓪.①"],
)  # fmt: skip
async def test_allowed_targets_are_reached_in_any_notation(target: Target, host: str) -> None:
    async with Outbound(allow_hosts=["127.0.0.1"], resolve=resolve) as outbound:
        result = await outbound.fetch(OutboundRequest(f"http://{host}:{target.port}/"))

    assert isinstance(result, OutboundResponse), result
    assert target.hits == 1


async def test_allowing_one_target_allows_no_other(target: Target) -> None:
    async with Outbound(allow_hosts=["127.0.0.1", "private.example"], resolve=resolve) as outbound:
        for host in ("127.0.0.2", "10.0.0.1", "[::1]", "metadata.example", "169.254.169.254"):
            result = await outbound.fetch(OutboundRequest(f"http://{host}:{target.port}/"))
            assert isinstance(result, RequestRefused), host


@pytest.mark.parametrize(
    "location",
    ["http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "//127.1/", "/again"],
)
async def test_redirects_lead_nowhere(target: Target, location: str) -> None:
    target.location = location
    async with Outbound(allow_hosts=["127.0.0.1"], resolve=resolve) as outbound:
        result = await outbound.fetch(OutboundRequest(f"http://127.0.0.1:{target.port}/"))

    assert isinstance(result, OutboundResponse)
    assert result.status == 307
    assert target.hits == 1


async def test_a_name_is_checked_for_each_connection(target: Target) -> None:
    """The first answer is public, every later one private: a name server that rebinds."""
    answers = [["192.0.2.1"], ["127.0.0.1"]]

    async def rebinding(_host: str) -> list[str]:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async with Outbound(allow_hosts=["192.0.2.1"], resolve=rebinding) as outbound:
        request = OutboundRequest(f"http://rebind.example:{target.port}/")
        first = await outbound.fetch(request, timeout_s=0.3)
        second = await outbound.fetch(request, timeout_s=2)

    assert isinstance(first, NetworkFailure), "it went to the address that was checked"
    assert isinstance(second, RequestRefused)
    assert target.hits == 0
