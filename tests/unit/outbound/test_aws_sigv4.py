"""AWS signatures: the published examples, and harder ones against botocore.

The examples are those of AWS's signing test suite and of its documentation: for each, the headers
that were given and the signature that came out.
"""

import asyncio
import hashlib
import hmac
from datetime import UTC, datetime

import pytest

from hoglet.outbound.aws_sigv4 import AwsSigV4, signed_headers
from hoglet.outbound.client import Outbound
from hoglet.outbound.port import OutboundRequest, OutboundResponse
from hoglet.outbound.targets import parse_url

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
SIGNER = AwsSigV4("AKIDEXAMPLE", SECRET, "us-east-1", "service")
NOW = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)


def signature(
    method: str,
    url: str,
    *,
    headers: dict[str, str] | None = None,
    body: bytes = b"",
    signer: AwsSigV4 = SIGNER,
    now: datetime = NOW,
) -> str:
    signed = signed_headers(
        signer, parse_url(url), method=method, headers=headers or {}, body=body, now=now
    )
    return signed["Authorization"].rpartition("Signature=")[2]


@pytest.mark.parametrize(
    ("method", "url", "expected"),
    [
        ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "GET",
            "/?Param2=value2&Param1=value1",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        ("GET", "/./", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("GET", "/foo/..", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("GET", "//", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ],
)
def test_the_examples_of_the_signing_test_suite(method: str, url: str, expected: str) -> None:
    assert signature(method, f"https://example.amazonaws.com{url}") == expected


def test_the_example_of_the_documentation() -> None:
    signer = AwsSigV4("AKIDEXAMPLE", SECRET, "us-east-1", "iam")
    computed = signature(
        "GET",
        "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
        headers={"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
        signer=signer,
    )

    assert computed == "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"


def test_the_example_of_s3() -> None:
    """GET Bucket Lifecycle of the S3 documentation."""
    signer = AwsSigV4(
        "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1", "s3"
    )
    computed = signature(
        "GET",
        "https://examplebucket.s3.amazonaws.com/?lifecycle",
        signer=signer,
        now=datetime(2013, 5, 24, tzinfo=UTC),
    )

    assert computed == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"


KINESIS = ("POST", "https://kinesis.eu-west-1.amazonaws.com/", b'{"a":"\xc3\xa9"}')
ESCAPED = ("PUT", "https://h.amazonaws.com/a%2Fb/c%20d/~e", b"x")
QUERY = ("GET", "https://h.amazonaws.com:8443/x?b=2&a=1&a=0&c&d=%2F%20", b"")
SLASHES = ("DELETE", "https://h.amazonaws.com/a//b///c/", b"")
BINARY = ("POST", "https://h.amazonaws.com/%C3%A9", b"\x00\xff")


@pytest.mark.parametrize(
    ("case", "service", "expected"),
    [
        (KINESIS, "kinesis", "428438d1e0522d8a85dcac2bcfce592e0fdcf84a867c7832ca7aeba75b5f1760"),
        (KINESIS, "s3", "9e68cce9b5f36415ba96f02eeb29655f8e649dde5b2380ef0a1f0b5560cd9834"),
        (ESCAPED, "kinesis", "4a64398409cffc32e014a8b8d290c02424cfda1c91edc08c764593ceed82152f"),
        (ESCAPED, "s3", "eff854309c5d2f92850b6a1596e6eb9719440d93db6544f810baf65a1ef08c0b"),
        (QUERY, "kinesis", "938e78203a04d9435e2334d924a5072b31898779c111a6bcd997277ea2fbd29e"),
        (QUERY, "s3", "12aeea1dc25ad02d7372aad039835e823584ea9c4d8fd0e6481f92858fb92461"),
        (SLASHES, "kinesis", "4eff9f445d6ce8a3af008bdcf5e661d03e685140972795b4bfad4a499f732fa9"),
        (SLASHES, "s3", "2f13db2fc2a7a42d58c87aade76bf492f7d389517b4a46568b2ce78ca19abf17"),
        (BINARY, "kinesis", "c79828274bbbcb74f26d5db4b6ac5ff17b3762081d05e475c9abb606be1e4d0a"),
        (BINARY, "s3", "613b8d26dd82724d3f78b3bde49969426b8894237e78c82950bd00e24739a6ab"),
    ],
)
def test_signatures_are_those_of_botocore(
    case: tuple[str, str, bytes], service: str, expected: str
) -> None:
    """Expected values were computed with botocore 1.44.5."""
    method, url, body = case
    signer = AwsSigV4("AKID", SECRET, "eu-west-1", service, "session")
    given = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "Kinesis.PutRecord"}

    assert signature(method, url, headers=given, body=body, signer=signer) == expected


def test_one_signature_for_each_way_to_write_a_query() -> None:
    """AWS decodes a query before it checks the signature."""
    host = "https://example.amazonaws.com/"

    assert signature("GET", host + "?X=%7Ea%2fb") == signature("GET", host + "?X=~a%2Fb")
    assert signature("GET", host + "?a=1&b=2") == signature("GET", host + "?b=2&a=1")


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        ("a1=2&a=1", "a=1&a1=2"),
        ("a-b=1&a.b=2&a=3", "a=3&a-b=1&a.b=2"),
        ("list-type=2&list=1&l%69st=0", "list=0&list=1&list-type=2"),
        ("a%20b=1&a=2", "a=2&a%20b=1"),
        ("a=10&a=1&a=1-", "a=1&a=1-&a=10"),
        ("b&a", "a=&b="),
        ("a=b=c", "a=b%3Dc"),
        ("A=1&a=2&_=3&~=4&0=5", "0=5&A=1&_=3&a=2&~=4"),
        ("x=a%2Bb&y=%c3%a9", "x=a%2Bb&y=%C3%A9"),
        ("&&a=1&", "a=1"),
        ("", ""),
    ],
)
def test_a_query_is_sorted_by_name_then_by_value(query: str, canonical: str) -> None:
    canonical_request = "\n".join(
        [
            "GET", "/", canonical, "host:h.test", "x-amz-date:20150830T123600Z", "",
            "host;x-amz-date", hashlib.sha256(b"").hexdigest(),
        ]
    )  # fmt: skip
    scope = "20150830/us-east-1/service/aws4_request"
    digest = hashlib.sha256(canonical_request.encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n20150830T123600Z\n{scope}\n{digest}"

    assert (
        signature("GET", f"https://h.test/?{query}")
        == hmac.digest(key, text.encode(), "sha256").hex()
    )


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://example.amazonaws.com/b"},
        {"url": "https://other.amazonaws.com/a"},
        {"method": "PUT"},
        {"body": b"other"},
        {"headers": {"Content-Type": "text/plain"}},
        {"headers": {"X-Amz-Target": "x"}},
        {"signer": AwsSigV4("AKIDEXAMPLE", "other", "us-east-1", "service")},
        {"signer": AwsSigV4("AKIDEXAMPLE", SECRET, "eu-west-1", "service")},
        {"signer": AwsSigV4("AKIDEXAMPLE", SECRET, "us-east-1", "other")},
        {"signer": AwsSigV4("AKIDEXAMPLE", SECRET, "us-east-1", "service", "token")},
        {"now": datetime(2015, 8, 30, 12, 37, tzinfo=UTC)},
    ],
)
def test_everything_that_counts_is_signed(change: dict[str, object]) -> None:
    given: dict[str, object] = {"method": "POST", "url": "https://example.amazonaws.com/a"}

    assert signature(**given) != signature(**{**given, **change})  # pyright: ignore[reportArgumentType]


def test_a_program_cannot_keep_headers_of_the_signature() -> None:
    given = {"authorization": "mine", "x-amz-date": "then", "X-Other": "kept"}
    signed = signed_headers(
        SIGNER,
        parse_url("https://example.amazonaws.com/"),
        method="GET",
        headers=given,
        body=b"",
        now=NOW,
    )

    assert set(signed) == {"X-Other", "X-Amz-Date", "Authorization"}
    assert "secret" not in repr(SIGNER).replace("secret_access_key", "")
    assert SECRET not in repr(SIGNER)


async def test_a_request_leaves_signed_for_what_is_on_the_wire() -> None:
    heads: list[str] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with Outbound(allow_hosts=["127.0.0.1"]) as outbound:
        sent = OutboundRequest(
            f"http://127.0.0.1:{port}/a%2Fb?q=%2F", "POST", {"X-Amz-Target": "t"}, b"body",
            aws_sigv4=SIGNER,
        )  # fmt: skip
        answer = await outbound.fetch(sent)
    server.close()

    assert isinstance(answer, OutboundResponse)
    lines = heads[0].split("\r\n")
    headers = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines[1:])}
    stamp = headers["x-amz-date"]
    canonical = "\n".join(
        [
            "POST", "/a%252Fb", "q=%2F", f"host:127.0.0.1:{port}", f"x-amz-date:{stamp}",
            "x-amz-target:t", "", "host;x-amz-date;x-amz-target",
            hashlib.sha256(b"body").hexdigest(),
        ]
    )  # fmt: skip
    scope = f"{stamp[:8]}/us-east-1/service/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{digest}"
    expected = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    assert lines[0] == "POST /a%2Fb?q=%2F HTTP/1.1"
    assert headers["authorization"].endswith(f"Signature={expected}")
