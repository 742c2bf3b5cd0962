"""Sends email through the operator's SMTP server.

The operator chooses the server, so the guard against private addresses does not apply; programs
only choose the recipients.

Source: docs/spec/hog-functions.md#133-functions (sendEmail).
"""

import asyncio
import ssl
from collections.abc import Sequence
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from pathlib import Path
from typing import Literal

import aiosmtplib
import msgspec

from hoglet.kit.clock import Clock
from hoglet.outbound.mail import MailAccepted, Message
from hoglet.outbound.port import NetworkFailure, RequestRefused

SMTP_TIMEOUT_S = 20.0  # servers that scan messages take seconds to accept them
CONNECTIONS = 8  # servers often reject more

type Security = Literal["starttls", "tls", "none"]
_PORTS: dict[Security, int] = {"starttls": 587, "tls": 465, "none": 25}


class SmtpServer(msgspec.Struct, frozen=True, kw_only=True):
    """An SMTP server; ``ca_file`` has certificates to trust instead of the system's."""

    host: str
    port: int | None = None
    security: Security = "starttls"
    username: str | None = None
    password: str | None = None
    ca_file: Path | None = None


class SmtpMailer:
    """Sends each message over its own connection.

    Args:
        server: the SMTP server.
        clock: source of the ``Date`` header.
    """

    def __init__(self, server: SmtpServer, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._slots = asyncio.Semaphore(CONNECTIONS)

    async def send(self, message: Message) -> MailAccepted | RequestRefused | NetworkFailure:
        """See ``Mailer.send``."""
        try:
            written = self._written(message)
        except (ValueError, UnicodeError) as error:
            return RequestRefused("InvalidEmail", str(error))
        persons = [address for _, address in (*message.to, *message.cc, *message.bcc)]
        async with self._slots:
            try:
                return await self._deliver(written, message.sender[1], persons)
            except Exception as error:  # noqa: BLE001 (failures of a server are returned)
                return _failure(error)

    async def _deliver(
        self, written: EmailMessage, sender: str, recipients: list[str]
    ) -> MailAccepted:
        server = self._server
        refused, _ = await aiosmtplib.send(
            written,
            sender=sender,
            recipients=recipients,
            hostname=server.host,
            port=server.port or _PORTS[server.security],
            username=server.username,
            password=server.password,
            use_tls=server.security == "tls",
            start_tls=server.security == "starttls",  # if rejected, fails: no downgrade
            tls_context=self._tls(),
            timeout=SMTP_TIMEOUT_S,
        )
        return MailAccepted(list(refused))

    def _tls(self) -> ssl.SSLContext | None:
        if self._server.security == "none":
            return None
        return ssl.create_default_context(cafile=self._server.ca_file)

    def _written(self, message: Message) -> EmailMessage:
        written = EmailMessage(policy=SMTP)
        written["Message-ID"] = f"<{message.message_id}>"
        written["Date"] = format_datetime(self._clock.now())
        written["From"] = _address(message.sender)
        written["To"] = [_address(item) for item in message.to]
        if message.cc:
            written["Cc"] = [_address(item) for item in message.cc]
        if message.reply_to:
            written["Reply-To"] = [_address(item) for item in message.reply_to]
        written["Subject"] = message.subject
        for name, value in message.headers:
            written[name] = value
        if message.text or not message.html:
            written.set_content(message.text)
        if message.html and message.text:
            written.add_alternative(message.html, subtype="html")
        elif message.html:
            written.set_content(message.html, subtype="html")
        return written


def _address(person: tuple[str, str]) -> Address:
    return Address(display_name=person[0], addr_spec=person[1])


def _failure(error: Exception) -> RequestRefused | NetworkFailure:
    match error:
        case aiosmtplib.SMTPRecipientsRefused():
            return _none_accepted(error.recipients)
        case aiosmtplib.SMTPResponseException():
            said = f"{error.code} {error.message}"
            is_login = isinstance(error, aiosmtplib.SMTPAuthenticationError)
            kind = RequestRefused if error.code >= 500 and not is_login else NetworkFailure
            return kind("SmtpLoginFailed" if is_login else "SmtpRefused", said)
        case TimeoutError():
            return NetworkFailure("TimeoutError", "the SMTP server did not respond in time")
        case aiosmtplib.SMTPException() | OSError():
            return NetworkFailure("SmtpError", str(error) or type(error).__name__)
        case _:
            return RequestRefused("InvalidEmail", str(error) or type(error).__name__)


def _none_accepted(
    recipients: Sequence[aiosmtplib.SMTPRecipientRefused],
) -> RequestRefused | NetworkFailure:
    said = "; ".join(
        f"{recipient.recipient}: {recipient.code} {recipient.message}" for recipient in recipients
    )
    kind = (
        RequestRefused if all(recipient.code >= 500 for recipient in recipients) else NetworkFailure
    )
    return kind("RecipientsRefused", said)
