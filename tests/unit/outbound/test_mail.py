"""Sending email to real SMTP servers on localhost."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hoglet.kit.clock import FixedClock
from hoglet.outbound.mail import MailAccepted, Message
from hoglet.outbound.port import NetworkFailure, RequestRefused
from hoglet.outbound.smtp import SmtpMailer, SmtpServer
from support.certificates import self_signed
from support.mailbox import MailServer
from support.server import free_port

CLOCK = FixedClock(datetime(2026, 1, 5, 12, tzinfo=UTC))
LOGIN = ("hoglet", "pa ss:wörd")


def message(**more: Any) -> Message:
    fields: dict[str, Any] = {
        "message_id": "1.0@hoglet",
        "sender": ("Shop, Ltd", "shop@example.com"),
        "to": [("Ada Ö", "ada@example.com")],
        "subject": "Grüße",
        "text": "Hello\nthere",
    }
    return Message(**(fields | more))


def mailer(port: int, **more: Any) -> SmtpMailer:
    return SmtpMailer(SmtpServer(host="127.0.0.1", port=port, **more), CLOCK)


async def test_a_message_arrives_whole() -> None:
    expected = message(
        html="<p>Hello</p>",
        cc=[("", "cc@example.com")],
        bcc=[("", "hidden@example.com")],
        reply_to=[("", "answers@example.com")],
        headers=(("X-Hoglet-Delivery", "d"),),
    )
    with MailServer() as server:
        result = await mailer(server.port, security="none").send(expected)

    assert result == MailAccepted([])
    (got,) = server.received
    assert got.sender == "shop@example.com"
    assert got.recipients == ["ada@example.com", "cc@example.com", "hidden@example.com"]
    assert str(got.message["From"]) == '"Shop, Ltd" <shop@example.com>'
    assert str(got.message["To"]) == "Ada Ö <ada@example.com>"
    assert str(got.message["Subject"]) == "Grüße"
    assert got.message["Message-ID"] == "<1.0@hoglet>"
    assert got.message["Date"] == "Mon, 05 Jan 2026 12:00:00 +0000"
    assert got.message["Reply-To"] == "answers@example.com"
    assert got.message["X-Hoglet-Delivery"] == "d"
    assert "hidden" not in str(got.message)
    plain, rich = got.message.get_body(("plain",)), got.message.get_body(("html",))
    assert plain is not None
    assert rich is not None
    assert plain.get_content().splitlines() == ["Hello", "there"]
    assert rich.get_content().strip() == "<p>Hello</p>"


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_connections_are_protected_and_logged_in(tmp_path: Path, security: Any) -> None:
    certificate = self_signed(tmp_path)
    login = LOGIN if security == "starttls" else None
    with MailServer(security, certificate=certificate, login=login) as server:
        name, password = login or (None, None)
        options = {"security": security, "username": name, "password": password}
        result = await mailer(server.port, ca_file=certificate, **options).send(message())
        untrusted = await mailer(server.port, **options).send(message())

    assert result == MailAccepted([])
    assert [each.login for each in server.received] == [name]
    assert isinstance(untrusted, NetworkFailure)
    assert len(server.received) == 1


async def test_a_wrong_password_may_be_mended(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    with MailServer("starttls", certificate=certificate, login=LOGIN) as server:
        sender = mailer(server.port, ca_file=certificate, username="hoglet", password="wrong")
        result = await sender.send(message())

    assert isinstance(result, NetworkFailure)
    assert result.name == "SmtpLoginFailed"
    assert "wrong" not in result.text
    assert server.received == []


async def test_protection_is_not_given_up() -> None:
    """A server (or an attacker in between) that offers no STARTTLS gets nothing."""
    with MailServer("none") as server:
        result = await mailer(server.port, security="starttls").send(message())

    assert isinstance(result, NetworkFailure)
    assert server.received == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("451 4.3.0 try later", NetworkFailure),
        ("421 4.3.2 closing", NetworkFailure),
        ("550 5.7.1 spam", RequestRefused),
        ("554 5.6.0 no", RequestRefused),
    ],
)
async def test_refusals_are_for_now_or_for_good(answer: str, kind: type) -> None:
    with MailServer(answers=(answer,)) as server:
        result = await mailer(server.port, security="none").send(message())

    assert isinstance(result, kind), result
    assert answer[:3] in result.text


async def test_recipients_may_be_refused() -> None:
    people = [("", "ada@example.com"), ("", "nobody@example.com")]
    with MailServer(refused=("nobody@example.com",)) as server:
        sender = mailer(server.port, security="none")
        some = await sender.send(message(to=people))
        none = await sender.send(message(to=people[1:]))

    assert some == MailAccepted(["nobody@example.com"])
    assert server.received[0].recipients == ["ada@example.com"]
    assert isinstance(none, RequestRefused)
    assert "nobody@example.com: 550" in none.text


async def test_a_server_that_is_away_is_tried_again() -> None:
    result = await mailer(free_port(), security="none").send(message())

    assert isinstance(result, NetworkFailure)


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "a\r\nBcc: all@example.com"},
        {"sender": ("x\r\nBcc: y", "a@example.com")},
        {"to": [("", "a@example.com\r\nRCPT TO:<b@example.com>")]},
        {"to": [("", "not an address")]},
        {"headers": (("X-A", "1\r\nX-B: 2"),)},
    ],
)
async def test_headers_cannot_be_smuggled(change: dict[str, Any]) -> None:
    with MailServer() as server:
        result = await mailer(server.port, security="none").send(message(**change))

    assert isinstance(result, RequestRefused), result
    assert server.received == []
