"""The arguments and results of ``sendEmail(email)``. Pure; the pipeline sends.

Source: docs/spec/hog-functions.md#42-value-validation (the email object) and
docs/spec/hog-functions.md#133-functions.
"""

from email.headerregistry import Address
from email.utils import getaddresses
from typing import Any, TypedDict

import msgspec

from hoglet.kit.json import JsonObject, is_array, is_object

MAX_RECIPIENTS = 50  # per message; prevents using a function for bulk mail
MAX_CHARACTERS = 1_000_000  # each of text and html


class Mailbox(msgspec.Struct, frozen=True):
    """``Mailbox("ada@example.com", "Ada")``."""

    email: str
    name: str = ""


class EmailRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message, as the program requested it.

    At least one of ``text`` and ``html`` is not empty.
    """

    sender: Mailbox
    to: list[Mailbox]
    cc: list[Mailbox] = []
    bcc: list[Mailbox] = []
    reply_to: list[Mailbox] = []
    subject: str
    text: str = ""
    html: str = ""


class EmailRefused(ValueError):
    """The argument is not a valid message; the run fails with this error."""


def read_email(arguments: list[Any]) -> EmailRequest:
    """Normalize the argument of ``sendEmail``.

    Args:
        arguments: ``[{"from": "Shop <a@shop.example>", "to": {"email": "b@c.d", "name": "B"},
            "subject": "Hi", "text": "…", "html": "…"}]``; addresses are strings, objects, or lists
            of both; ``cc``, ``bcc`` and ``replyTo`` are optional.

    Raises:
        EmailRefused: something is missing or not a valid address.
    """
    requested = arguments[0] if arguments and is_object(arguments[0]) else None
    if requested is None:
        raise EmailRefused("sendEmail needs an email object")
    sender = _mailboxes(requested.get("from"), "from")
    request = EmailRequest(
        sender=sender[0] if sender else _missing("from"),
        to=_mailboxes(requested.get("to"), "to") or _missing("to"),
        cc=_mailboxes(requested.get("cc"), "cc"),
        bcc=_mailboxes(requested.get("bcc"), "bcc"),
        reply_to=_mailboxes(requested.get("replyTo") or requested.get("reply_to"), "replyTo"),
        subject=" ".join(_text(requested, "subject").split()) or _missing("subject"),
        text=_text(requested, "text"),
        html=_text(requested, "html"),
    )
    if not request.text and not request.html:
        _missing("text or html")
    if len(request.to) + len(request.cc) + len(request.bcc) > MAX_RECIPIENTS:
        raise EmailRefused(f"sendEmail sends to at most {MAX_RECIPIENTS} recipients")
    return request


class EmailResult(TypedDict):
    """The result of ``sendEmail``."""

    status: int
    success: bool
    error: str | None


def shape_sent() -> EmailResult:
    """The result for an accepted message."""
    return {"status": 200, "success": True, "error": None}


def shape_not_sent(error: str, *, is_final: bool) -> EmailResult:
    """The result for a rejected message (status 400) or one that could not be sent (503)."""
    return {"status": 400 if is_final else 503, "success": False, "error": error}


def _mailboxes(value: Any, field: str) -> list[Mailbox]:
    if not value:
        return []
    if is_array(value):
        return [box for item in value for box in _mailboxes(item, field)]
    if is_object(value):
        name = value.get("name")
        pairs = [(name if isinstance(name, str) else "", str(value.get("email") or ""))]
    else:
        pairs = getaddresses([value]) if isinstance(value, str) else [("", "")]
    return [_mailbox(name, address, field) for name, address in pairs]


def _mailbox(name: str, address: str, field: str) -> Mailbox:
    try:
        parsed = Address(addr_spec=address.strip())
    except Exception:  # noqa: BLE001 (the parser raises IndexError and others on strange text)
        parsed = None
    if parsed is None or not parsed.username or not parsed.domain or not address.isprintable():
        raise EmailRefused(f"sendEmail: {field} has no valid address")
    return Mailbox(address.strip(), "".join(c for c in name.strip() if c.isprintable()))


def _text(requested: JsonObject, name: str) -> str:
    value = requested.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        raise EmailRefused(
            f"sendEmail: {name} must be a string of up to {MAX_CHARACTERS} characters"
        )
    return value


def _missing(field: str) -> Any:
    raise EmailRefused(f"sendEmail: missing value for {field}")
