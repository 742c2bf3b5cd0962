"""Lone surrogates in a JSON body are rejected with their position."""

import pytest

from hoglet.kit.errors import Unreadable
from hoglet.web.request_body import NESTING_LIMIT, parse_json


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        (r'{"name": "a\ud83d"}', "name"),
        (r'{"name": "\ude00a"}', "name"),
        (r'{"name": "\ude00\ud83d"}', "name"),
        (r'{"inputs": {"url": {"value": "\ud83d"}}}', "inputs__url__value"),
        (r'{"steps": ["a", {"event": "\udfff"}]}', "steps__1__event"),
        (r'{"inputs": {"\ud83d": 1}}', "inputs"),
        (r'{"\ud83d": 1}', None),
        (r'"\ud83d"', None),
        (r'["\ud800"]', "0"),
    ],
)
def test_the_place_is_named(body: str, attr: str | None):
    with pytest.raises(Unreadable, match="half of a character") as caught:
        parse_json(body.encode())

    assert (caught.value.error_code, caught.value.attr) == ("parse_error", attr)


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "\xed\xa0\xbd"}',
        b'{"name": "\xff"}',
        b'{"name": "\\ud83d", }',
        b"[" * (NESTING_LIMIT + 5) + b'"\\ud83d"' + b"]" * (NESTING_LIMIT + 5),
        b"[" * 100_000 + b'"\\ud83d"' + b"]" * 100_000,
    ],
)
def test_what_is_no_json_besides_is_refused_as_such(body: bytes):
    with pytest.raises(Unreadable, match="JSON parse error"):
        parse_json(body)


def test_whole_characters_pass():
    assert parse_json(rb'{"\ud83d\ude00": "\ud83d\ude00"}') == {"😀": "😀"}
