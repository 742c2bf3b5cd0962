"""An SMTP server that records messages and sends scripted replies."""

import ssl
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Received(NamedTuple):
    """A message with its envelope."""

    sender: str
    recipients: list[str]
    message: EmailMessage
    login: str | None


class MailServer:
    """Accepts everything, or sends the lines in ``answers`` instead, in order.

    Args:
        security: ``none``, ``starttls`` (required) or ``tls``.
        certificate: key and certificate, for the last two.
        login: the required name and password.
        refused: recipients that are rejected with 550.
    """

    def __init__(
        self,
        security: Literal["none", "starttls", "tls"] = "none",
        *,
        certificate: Path | None = None,
        login: tuple[str, str] | None = None,
        refused: tuple[str, ...] = (),
        answers: tuple[str, ...] = (),
    ) -> None:
        self.received: list[Received] = []
        self.attempts = 0
        self._login = login
        self._refused = refused
        self._answers = list(answers)
        context = None
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
        is_starttls = security == "starttls"
        options: dict[str, Any] = {"tls_context": context} if is_starttls else {}
        if login is not None:
            options |= {
                "authenticator": self._authenticate,
                "auth_required": True,
                "auth_require_tls": security == "starttls",
            }
        self._controller = Controller(
            self,
            hostname="127.0.0.1",
            port=_free_port(),
            ssl_context=context if security == "tls" else None,
            require_starttls=is_starttls,
            **options,
        )

    def __enter__(self) -> Self:
        self._controller.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._controller.stop()

    @property
    def port(self) -> int:
        return self._controller.port

    async def handle_RCPT(  # noqa: N802 (aiosmtpd's name)
        self, _server: SMTP, _session: Any, envelope: Any, address: str, _options: list[str]
    ) -> str:
        if address in self._refused:
            return "550 5.1.1 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        self.attempts += 1
        if self._answers:
            return self._answers.pop(0)
        parsed: Any = message_from_bytes(envelope.content, policy=default)
        self.received.append(
            Received(envelope.mail_from, envelope.rcpt_tos, parsed, session.auth_data)
        )
        return "250 OK"

    def _authenticate(self, *given: Any) -> AuthResult:
        data = given[-1]
        assert isinstance(data, LoginPassword)
        pair = (data.login.decode(), data.password.decode())
        return AuthResult(success=pair == self._login, handled=False, auth_data=pair[0])


def _free_port() -> int:
    from support.server import free_port

    return free_port()
