"""Email messages of functions; :mod:`hoglet.outbound.smtp` delivers them.

Source: docs/spec/hog-functions.md#133-functions (sendEmail).
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from hoglet.outbound.port import NetworkFailure, RequestRefused


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message; persons are ``(name, address)``, ``headers`` extra ones (X-Hoglet-Delivery)."""

    message_id: str
    sender: tuple[str, str]
    to: Sequence[tuple[str, str]]
    cc: Sequence[tuple[str, str]] = ()
    bcc: Sequence[tuple[str, str]] = ()
    reply_to: Sequence[tuple[str, str]] = ()
    subject: str
    text: str = ""
    html: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class MailAccepted(msgspec.Struct, frozen=True):
    """The server accepted the message; ``refused`` are recipients it rejected."""

    refused: list[str]


class Mailer(Protocol):
    """Delivers messages."""

    async def send(self, message: Message) -> MailAccepted | RequestRefused | NetworkFailure:
        """Make one attempt.

        Returns:
            ``RequestRefused`` if the server rejects the message permanently (5xx) or it is invalid;
            ``NetworkFailure`` if a retry may succeed: 4xx, no connection, or a failed login, which
            the operator can fix.
        """
        ...
