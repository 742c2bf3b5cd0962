"""Redaction of log lines: secrets in every encoding, and headers with credentials."""

import base64
import json
import time
from urllib.parse import quote, quote_plus

import pytest

from hoglet.functions.executable.model import ExecutableInput
from hoglet.functions.runtime.redaction import REDACTED, clean_line, secret_texts

SECRET = 's3"cr\\et/ÿ&+ key'
FORMS = secret_texts([ExecutableInput(key="token", value=SECRET, secret=True)], {"token": SECRET})


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        SECRET.lower(),
        SECRET.upper(),
        json.dumps({"a": SECRET}),
        json.dumps({"a": SECRET}, ensure_ascii=False),
        json.dumps({"a": json.dumps({"b": SECRET}, ensure_ascii=False)}, ensure_ascii=False),
        "https://host/?t=" + quote(SECRET, safe=""),
        "https://host/?t=" + quote(SECRET, safe="!'()*-._~"),
        "t=" + quote_plus(SECRET),
        _encoded(SECRET),
        *(
            _encoded(before + SECRET + after)
            for before in ("u:", "us:", "use:")
            for after in ("", ":")
        ),
        base64.urlsafe_b64encode(f"u:{SECRET}".encode()).decode().rstrip("="),
    ],
)
def test_a_secret_is_hidden_however_it_is_written(written: str):
    cleaned = clean_line(f"before {written} after", FORMS)

    assert REDACTED in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")
    remaining = cleaned.replace(REDACTED, "")
    assert "s3" not in remaining.lower()
    assert _encoded(SECRET)[4:16] not in remaining


def test_numbers_and_parts_of_objects_are_secrets_too():
    items = [
        ExecutableInput(key="pin", value=987654, secret=True),
        ExecutableInput(key="more", value={"a": ["deep-secret"], "b": True}, secret=True),
        ExecutableInput(key="plain", value="shown"),
    ]
    line = clean_line(
        '{"pin":987654,"more":["deep-secret",true],"plain":"shown"}', secret_texts(items, {})
    )

    assert line == f'{{"pin":{REDACTED},"more":["{REDACTED}",true],"plain":"shown"}}'


@pytest.mark.parametrize(
    ("line", "redacted"),
    [
        ("Authorization: Bearer abc", "Authorization: @"),
        ('{"Authorization":"Bearer a","x":"y"}', '{"Authorization":"@","x":"y"}'),
        ("{'authorization': 'Basic a b', 'x': 1}", "{'authorization': '@', 'x': 1}"),
        (
            r'{"h":"{\"Authorization\":\"Bearer a\",\"x\":1}"}',
            r'{"h":"{\"Authorization\":\"@\",\"x\":1}"}',
        ),
        ('{"authorization":["Bearer a"],"x":1}', '{"authorization":@,"x":1}'),
        ("Cookie: a=b; c=d\nnext", "Cookie: @\nnext"),
        ("Set-Cookie: a=b, x", "Set-Cookie: @"),
        ("X-API-Key=abc; y=1", "X-API-Key=@; y=1"),
        ("https://h/?api_key=abc&x=1", "https://h/?api_key=@&x=1"),
        ("X-Hub-Signature-256: sha256=a, next", "X-Hub-Signature-256: @, next"),
        (
            '{"X-Shopify-Access-Token":"a","Private-Token":"b"}',
            '{"X-Shopify-Access-Token":"@","Private-Token":"@"}',
        ),
        (
            '{"Idempotency-Key":"a","author":"b","tokens":"c"}',
            '{"Idempotency-Key":"a","author":"b","tokens":"c"}',
        ),
    ],
)
def test_headers_with_credentials_are_hidden(line: str, redacted: str):
    assert clean_line(line, []) == redacted.replace("@", REDACTED)


def test_long_lines_are_cut_and_looked_at_in_bounded_time():
    assert clean_line("x" * 10_000, []) == "x" * 10_000
    assert clean_line("x" * 10_001, []) == "x" * 10_000 + "... (truncated)"
    assert clean_line("x" * 9_990 + SECRET * 10, FORMS)[9_990:] == "***REDACTE... (truncated)"
    begun = time.process_time()
    for hostile in ("authorization:'", "x-token:\\'", "api-", "a-token ", 'cookie:"\\'):
        clean_line(hostile * 1_000_000, FORMS)
    assert time.process_time() - begun < 2


def test_a_secret_that_is_a_piece_of_the_mark_leaves_the_mark_whole():
    line = clean_line("a RED car, token ACTED", ["token", "ACTED", "RED", "***"])
    assert line == f"a {REDACTED} car, {REDACTED} {REDACTED}"


def test_secrets_longer_than_what_is_looked_at_are_hidden():
    for length in (9_000, 15_000, 39_999, 100_000):
        secret = "".join(chr(97 + i * i % 23) for i in range(length))
        item = ExecutableInput(key="s", type="string", value=secret, secret=True)
        secrets = secret_texts([item], {"s": secret})
        for line in (secret, f"x {secret} {secret} {secret} {secret}", json.dumps({"s": secret})):
            cleaned = clean_line(line, secrets)
            assert len(cleaned.replace(REDACTED, "")) < 100, (length, cleaned[:200])
