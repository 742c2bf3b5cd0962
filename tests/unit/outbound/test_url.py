"""URLs are sent as written: the request line as received by a raw socket."""

import asyncio
from collections.abc import AsyncGenerator
from ipaddress import IPv6Address

import pytest

from hoglet.functions.integrations.credentials import may_go_to
from hoglet.functions.runtime.loop_guard import is_own_capture
from hoglet.outbound.client import Outbound
from hoglet.outbound.port import OutboundRequest, OutboundResponse, RequestRefused
from hoglet.outbound.targets import URL_CHARACTERS, InvalidUrl, parse_url
from hoglet.pipeline.delivery.attempt import host_of


class RawTarget:
    """Keeps the head of each request as it came over the wire."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.location = ""
        self.port = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        location = f"Location: {self.location}\r\n" if self.location else ""
        status = "302 Found" if self.location else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\n{location}Content-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    @property
    def line(self) -> str:
        """The last request line, without method and version."""
        return self.heads[-1].splitlines()[0].removeprefix("GET ").removesuffix(" HTTP/1.1")

    def header(self, name: str) -> list[str]:
        """Values of a header of the last request."""
        pairs = [line.partition(": ") for line in self.heads[-1].splitlines()[1:]]
        return [value for key, _, value in pairs if key.lower() == name]


@pytest.fixture
async def target() -> AsyncGenerator[RawTarget]:
    target = RawTarget()
    server = await asyncio.start_server(target.handle, "127.0.0.1", 0)
    target.port = server.sockets[0].getsockname()[1]
    yield target
    server.close()


async def resolve(host: str) -> list[str]:
    if "example" in host:
        return ["127.0.0.1"]
    raise OSError("no such host")


@pytest.fixture
async def outbound() -> AsyncGenerator[Outbound]:
    async with Outbound(allow_hosts=["127.0.0.1"], resolve=resolve) as outbound:
        yield outbound


UNCHANGED = [
    "/a%2Fb",
    "/%7Euser/~user",
    "/%c3%a9/%C3%A9",
    "/%zz/%/%1/%%",
    "/a+b?c+d=e+f",
    "/?a;b=c;d",
    "/?filter[name]=x&l[]=1",
    "/?a|b={c}`d^e",
    "/a;jsessionid=1;v=2?x=/y?z",
    "/?",
    "/a?",
    "/a?&&=&a==b",
    "/a//b///",
    "/:@!$&()*,=/'",
    "/?x=%20&y=%2B&z=%26",
    "/?X-Amz-Signature=ab%2Fcd%3D&X-Amz-Date=20260101T000000Z",
    "/a%00b",
    "/%E2%98%83",
    "/[x]/a|b",
    "/a%5Cb",
    "/%5cx",
]

CHANGED = {
    "": "/",
    "?a=b": "/?a=b",
    "/a b?c d": "/a%20b?c%20d",
    "/é?ü=☃": "/%C3%A9?%C3%BC=%E2%98%83",
    "/\U0001f600": "/%F0%9F%98%80",
    "/\ud83d?\ude00": "/%EF%BF%BD?%EF%BF%BD",
    "/a\tb\nc\r?d\te": "/abc?de",
    "/x  ": "/x",
    "\\a\\b": "/a/b",
    "/a/../b/./c": "/b/c",
    "/a/%2e%2E/b/%2e/c": "/b/c",
    "/../../x": "/x",
    '/"<>`{}?"<>\'': "/%22%3C%3E%60%7B%7D?%22%3C%3E%27",
    "/a#frag?x": "/a",
    "/a?b#c?d": "/a?b",
    "/a?#c": "/a?",
    "/\x01\x7f?\x1fa": "/%01%7F?%1Fa",
    "/a\u00a0b": "/a%C2%A0b",
}


@pytest.mark.parametrize("written", UNCHANGED)
async def test_a_url_goes_out_as_written(
    target: RawTarget, outbound: Outbound, written: str
) -> None:
    await outbound.fetch(OutboundRequest(f"http://127.0.0.1:{target.port}{written}"))

    assert target.line == written


@pytest.mark.parametrize("written", CHANGED)
async def test_what_no_url_may_hold_is_encoded_as_browsers_do(
    target: RawTarget, outbound: Outbound, written: str
) -> None:
    await outbound.fetch(OutboundRequest(f"http://127.0.0.1:{target.port}{written}"))

    assert target.line == CHANGED[written]


@pytest.mark.parametrize(
    ("host", "sent"),
    [
        ("EXAMPLE.com", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("faß.example", "xn--fa-hia.example"),
        ("ex%41mple.com", "example.com"),
        ("exam\tple.com", "example.com"),
        ("ex\u00adample.com", "example.com"),
        ("a_b.example", "a_b.example"),
        ("0x7f.1", "127.0.0.1"),
        ("①②⑦.⓪.⓪.①", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("example.com.", "example.com."),
        # Python 3.12 writes it [::ffff:7f00:1].
        ("[::ffff:127.0.0.1]", f"[{IPv6Address('::ffff:127.0.0.1')}]"),
    ],
)
async def test_the_host_is_sent_in_its_ascii_form(
    target: RawTarget, outbound: Outbound, host: str, sent: str
) -> None:
    await outbound.fetch(OutboundRequest(f"hTTp://{host}:{target.port}/"))

    assert target.header("host") == [f"{sent}:{target.port}"]


async def test_user_and_password_become_a_header(target: RawTarget, outbound: Outbound) -> None:
    url = f"http://m%40e:s%3Aecr%65t@127.0.0.1:{target.port}/x"
    await outbound.fetch(OutboundRequest(url))
    own = {"authorization": "Bearer x"}
    from_url = target.header("authorization")
    await outbound.fetch(OutboundRequest(url, headers=own))

    assert from_url == ["Basic bUBlOnM6ZWNyZXQ="]  # m@e:s:ecret
    assert target.header("authorization") == ["Bearer x"]
    assert "s%3Aecr" not in target.heads[-1]


@pytest.mark.parametrize("location", ["/%2F/x", "http://example.com/", "//example.com"])
async def test_a_redirect_is_answered_not_followed(
    target: RawTarget, outbound: Outbound, location: str
) -> None:
    target.location = location

    answer = await outbound.fetch(OutboundRequest(f"http://127.0.0.1:{target.port}/a"))

    assert isinstance(answer, OutboundResponse)
    assert (answer.status, answer.headers["location"]) == (302, location)
    assert len(target.heads) == 1


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "/x",
        "//127.0.0.1/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/plain,x",
        "blob:http://127.0.0.1/x",
        "http://",
        "http://?x",
        "http://:80/",
        "http://@/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:8o/",
        "http://1.2.3.4.5/",
        "http://0x.0x.0/x y",
        "http://[::1",
        "http://[::1%25eth0]/",
        "http://a b/",
        "http://a|b/",
        "http://a<b>/",
        "http://a%00b/",
        "http://a\0b/",
        "http://exa!mple/",
        "http://h/" + "x" * 20_000,
    ],
)
async def test_what_is_no_url_is_refused(outbound: Outbound, url: str) -> None:
    answer = await outbound.fetch(OutboundRequest(url))

    assert isinstance(answer, RequestRefused)
    assert answer.name in {"InvalidUrl", "HostNotAllowed"}


@pytest.mark.parametrize(
    "host", ["a" * 64 + ".com", "a..b", "a.b..", ".".join(["a" * 63] * 4) + ".com"]
)
async def test_a_host_name_that_dns_cannot_hold_is_told(outbound: Outbound, host: str) -> None:
    answer = await outbound.fetch(OutboundRequest(f"http://{host}/"))

    assert isinstance(answer, RequestRefused)
    assert answer.text == f"InvalidUrl: {host[:100]!r} is not a host name"


# Two hosts that parsers disagree about: the first is contacted, the second only looks like it.
CONFUSING = [
    r"http://evil.test\@api.slack.com/",
    r"http://evil.test\api.slack.com",
    "http://evil.test#@api.slack.com/",
    "http://evil.test?@api.slack.com/",
    "http://api.slack.com@evil.test/",
    "http://api.slack.com:80@evil.test/",
    "http://api.slack.com%2F@evil.test/",
    "http://evil.test;@evil.test/api.slack.com",
    "http:/evil.test/@api.slack.com",
    "http:evil.test/@api.slack.com",
    "http:///evil.test/@api.slack.com",
    "http:\\\\evil.test/@api.slack.com",
    "http://evil.te\tst/@api.slack.com",
    "http://evil.test\n\\@api.slack.com",
    "  http://evil.test/ @api.slack.com",
    "http://x:api.slack.com@evil.test",
    "http://evil.test:80\\@api.slack.com:80/",
    "http://evil.test。/@api.slack.com",
    "http://ｅｖｉｌ.test/api.slack.com",
]


@pytest.mark.parametrize("url", CONFUSING)
def test_everyone_who_judges_a_url_sees_the_host_that_is_contacted(url: str) -> None:
    host = parse_url(url).host.rstrip(".")

    assert host == "evil.test"
    assert host_of({"url": url}).partition(":")[0].rstrip(".") == "evil.test"
    assert not may_go_to(url, ["api.slack.com", "*.slack.com"])
    assert may_go_to(url, ["evil.test"])
    assert not is_own_capture(url + "/batch", "http://api.slack.com")


@pytest.mark.parametrize("url", CONFUSING)
async def test_the_guard_judges_the_host_that_is_contacted(target: RawTarget, url: str) -> None:
    asked: list[str] = []

    async def private(host: str) -> list[str]:
        asked.append(host.rstrip("."))
        return ["127.0.0.1"]

    async with Outbound(allow_hosts=["api.slack.com"], resolve=private) as outbound:
        answer = await outbound.fetch(OutboundRequest(url))

    assert isinstance(answer, RequestRefused)
    assert asked == ["evil.test"]
    assert not target.heads


@pytest.mark.parametrize(
    "url",
    [
        "http://hoglet.example/batch",
        "http://HOGLET.example:80/batch/",
        "http://hoglet.example./batch?x",
        "http:\\\\hoglet.example\\batch",
        "http://hoglet.example/%62atch",
        "http://hoglet.example/x/../batch",
        "http://me@hoglet.example/i/v0/e/",
        "http://hoglet.ex\tample/ba\ntch",
        "http://hoglet.example/batch#x",
    ],
)
def test_own_capture_routes_are_known_however_they_are_written(url: str) -> None:
    assert is_own_capture(url, "http://hoglet.example")


@pytest.mark.parametrize("url", ["http://hoglet.example:81/batch", "http://a/batch", "x", ""])
def test_other_addresses_are_no_capture_routes(url: str) -> None:
    assert not is_own_capture(url, "http://hoglet.example")


def test_the_longest_url_is_sent() -> None:
    longest = "http://h/".ljust(URL_CHARACTERS, "x")
    assert len(parse_url(longest).origin_form) == URL_CHARACTERS - len("http://h")
    with pytest.raises(InvalidUrl):
        parse_url(longest + "x")


def test_a_name_or_a_password_alone_is_sent() -> None:
    written = {
        "http://h/": b"",
        "http://:p@h/": b":p",
        "http://u@h/": b"u:",
        "http://u:p@h/": b"u:p",
    }
    assert {url: parse_url(url).userinfo for url in written} == written


def test_a_url_without_a_port_has_that_of_its_scheme() -> None:
    ports = {"http://h/": 80, "https://h/": 443, "http://h:443/": 443, "https://[::1]:80/": 80}
    assert {url: parse_url(url).port for url in ports} == ports


def test_hosts_of_limits_name_a_port_of_their_own() -> None:
    assert host_of({"url": "https://me:pw@API.example.com:8443/x"}) == "api.example.com:8443"
    assert host_of({"url": "https://api.example.com:443/x"}) == "api.example.com"
    assert host_of({"url": "http://[::1]:8080/"}) == "[::1]:8080"
    assert host_of({"url": "no url"}) == ""
    with pytest.raises(InvalidUrl):
        parse_url("no url")
