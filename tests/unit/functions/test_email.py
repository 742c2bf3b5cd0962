"""The argument of ``sendEmail``."""

from typing import Any

import pytest

from hoglet.functions.runtime.email import EmailRefused, Mailbox, read_email

EMAIL: dict[str, Any] = {"from": "a@shop.example", "to": "b@c.d", "subject": "Hi", "text": "t"}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("b@c.d", [Mailbox("b@c.d")]),
        (" B <b@c.d>, e@f.g ", [Mailbox("b@c.d", "B"), Mailbox("e@f.g")]),
        ({"email": "b@c.d", "name": "B"}, [Mailbox("b@c.d", "B")]),
        ({"email": "b@c.d", "name": None}, [Mailbox("b@c.d")]),
        ([{"email": "b@c.d"}, "e@f.g"], [Mailbox("b@c.d"), Mailbox("e@f.g")]),
        ({"email": "b@c.d", "name": "B\r\nBcc: x"}, [Mailbox("b@c.d", "BBcc: x")]),
    ],
)
def test_addresses_are_texts_objects_and_lists(given: Any, read: list[Mailbox]) -> None:
    assert read_email([{**EMAIL, "to": given}]).to == read


def test_everything_is_read() -> None:
    more = {
        "cc": "c@c.c",
        "bcc": ["d@d.d"],
        "replyTo": "r@r.r",
        "html": "<b>",
        "subject": " a\r\nb ",
    }
    request = read_email([{**EMAIL, **more, "design": {"x": 1}}])

    assert (request.subject, request.text, request.html) == ("a b", "t", "<b>")
    assert [request.cc, request.bcc, request.reply_to] == [
        [Mailbox("c@c.c")],
        [Mailbox("d@d.d")],
        [Mailbox("r@r.r")],
    ]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "email object"),
        (["x"], "email object"),
        ([{**EMAIL, "from": None}], "from"),
        ([{**EMAIL, "to": ""}], "to"),
        ([{**EMAIL, "to": {"name": "B"}}], "to has no valid address"),
        ([{**EMAIL, "to": "nobody"}], "to has no valid address"),
        ([{**EMAIL, "to": 5}], "to has no valid address"),
        ([{**EMAIL, "to": "a@b\r\nc.d"}], "to has no valid address"),
        ([{**EMAIL, "to": "null"}], "to has no valid address"),
        ([{**EMAIL, "cc": "@"}], "cc has no valid address"),
        ([{**EMAIL, "subject": " "}], "subject"),
        ([{**EMAIL, "text": ""}], "text or html"),
        ([{**EMAIL, "text": {"a": 1}}], "text"),
        ([{**EMAIL, "to": [f"{n}@b.c" for n in range(51)]}], "at most 50"),
    ],
)
def test_what_is_no_message(arguments: list[Any], reason: str) -> None:
    with pytest.raises(EmailRefused, match=reason):
        read_email(arguments)
