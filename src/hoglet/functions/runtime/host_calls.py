"""Performs host calls, ``fetch`` and ``sendEmail``, one attempt each, for the journal of a run.

The caller decides about retries: the pipeline by the function's retry policy; test runs never
retry.

Source: docs/spec/hog-functions.md#133-functions.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from hoglet.functions.integrations.credentials import Credentials
from hoglet.functions.runtime.email import (
    EmailRequest,
    EmailResult,
    Mailbox,
    shape_not_sent,
    shape_sent,
)
from hoglet.functions.runtime.fetch import (
    ATTEMPT_HEADER,
    DELIVERY_HEADER,
    FetchRequest,
    FetchResponse,
    is_retried,
    shape_failure,
    shape_response,
    with_delivery_headers,
)
from hoglet.functions.runtime.journal import RunJournal
from hoglet.functions.runtime.messages import Step, StepHostCall
from hoglet.kit import tracing
from hoglet.kit.json import encode_utf8, is_object
from hoglet.outbound.mail import MailAccepted, Mailer, Message
from hoglet.outbound.port import NetworkFailure, OutboundRequest, OutboundResponse

_REFUSAL_CHARACTERS = 300  # length of a response's text in a dead letter's error


def new_journal(now: datetime, seed: int) -> RunJournal:
    """The journal of a run that has not started."""
    return RunJournal(started_at=now.isoformat(), seed=seed)


def resume(
    step: Step, answer: Any, milliseconds: float = 0, *, has_answer: bool = True
) -> RunJournal:
    """The journal after a completed host call.

    Args:
        step: a step with outcome ``call``.
        answer: the result for the program, e.g. ``{"status": 200, "body": "ok"}``.
        milliseconds: how long the call took, for the closing log line.
        has_answer: the host responded; otherwise ``answer`` says why not.
    """
    name = step.call.name if step.call else ""
    status = answer.get("status") if is_object(answer) else None
    call = (name, status if isinstance(status, int) else None)
    said = (answer.get("body"), answer.get("error")) if is_object(answer) else ()
    body = next((text for text in said if isinstance(text, str)), None)
    refusal = step.journal.refusal
    if body is not None and isinstance(status, int) and status >= 400:
        refusal = body[:_REFUSAL_CHARACTERS]
    return msgspec.structs.replace(
        step.journal,
        entries=[*step.journal.entries, ["host", answer]],
        calls=[*step.journal.calls, call],
        refusal=refusal,
        has_answer=has_answer,
        waiting=False,
        waited_ms=step.journal.waited_ms + milliseconds,
    )


class HostCallResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one attempt.

    Attributes:
        answer: the result for the program.
        problem: why it failed, None if it did not.
        may_help: a retry may succeed.
        retry_after: the response's ``Retry-After``, as sent.
        note: a log line for a success.
        has_answer: the host responded; otherwise ``answer`` says why not.
    """

    answer: FetchResponse | EmailResult
    problem: str | None = None
    may_help: bool = False
    retry_after: str | None = None
    note: str | None = None
    has_answer: bool = False


class HostCalls:
    """Makes attempts.

    Args:
        credentials: sends requests.
        mailer: sends messages; None without an SMTP server.
        mail_domain: domain of message ids.
    """

    def __init__(
        self, credentials: Credentials, mailer: Mailer | None, mail_domain: str = "hoglet"
    ) -> None:
        self._credentials = credentials
        self._mailer = mailer
        self._mail_domain = mail_domain

    async def make(
        self, project_id: int, call: StepHostCall, *, invocation_id: UUID, number: int, attempt: int
    ) -> HostCallResult:
        """Make one attempt.

        Args:
            project_id: the project whose integrations can be used.
            call: the requested call.
            invocation_id: identifies the delivery, the same for every attempt.
            number: index of the call within its run, from 0.
            attempt: number of the attempt, from 1.
        """
        if call.name == "fetch":
            request = msgspec.convert(call.request, FetchRequest)
            headed = with_delivery_headers(
                request, invocation_id=str(invocation_id), attempt=attempt
            )
            return await self._fetch(project_id, headed)
        message_id = f"{invocation_id}.{number}@{self._mail_domain}"
        headers = ((DELIVERY_HEADER, str(invocation_id)), (ATTEMPT_HEADER, str(attempt)))
        return await self._send(msgspec.convert(call.request, EmailRequest), message_id, headers)

    async def _fetch(self, project_id: int, request: FetchRequest) -> HostCallResult:
        body = None if request.body is None else encode_utf8(request.body)
        headers = _traced(request.headers)
        outgoing = OutboundRequest(
            request.url, request.method, headers, body, aws_sigv4=request.aws_sigv4
        )
        result = await self._credentials.fetch(project_id, outgoing)
        if not isinstance(result, OutboundResponse):
            answer = shape_failure(result.name, result.message)
            may_help = isinstance(result, NetworkFailure)
            return HostCallResult(answer=answer, problem=result.text, may_help=may_help)
        failed = result.status >= 400
        return HostCallResult(
            answer=shape_response(result.status, result.body),
            problem=f"status {result.status}" if failed else None,
            may_help=failed and is_retried(result.status),
            retry_after=result.headers.get("retry-after"),
            has_answer=True,
        )

    async def _send(
        self, request: EmailRequest, message_id: str, headers: tuple[tuple[str, str], ...]
    ) -> HostCallResult:
        if self._mailer is None:  # it was configured when the program started
            text = "no SMTP server is configured any more"
            return HostCallResult(answer=shape_not_sent(text, is_final=True), problem=text)
        result = await self._mailer.send(_message(request, message_id, headers))
        if isinstance(result, MailAccepted):
            return HostCallResult(answer=shape_sent(), note=_sent_note(request, result))
        may_help = isinstance(result, NetworkFailure)
        answer = shape_not_sent(result.text, is_final=not may_help)
        return HostCallResult(answer=answer, problem=result.text, may_help=may_help)


def _traced(headers: dict[str, str]) -> dict[str, str]:
    """The headers of a request, with its trace unless the program sets ``traceparent`` itself."""
    trace = tracing.parent_header()
    if trace is None or any(name.lower() == "traceparent" for name in headers):
        return dict(headers)
    return {**headers, "traceparent": trace}


def _message(
    request: EmailRequest, message_id: str, headers: tuple[tuple[str, str], ...]
) -> Message:
    return Message(
        message_id=message_id,
        sender=_person(request.sender),
        to=[*map(_person, request.to)],
        cc=[*map(_person, request.cc)],
        bcc=[*map(_person, request.bcc)],
        reply_to=[*map(_person, request.reply_to)],
        subject=request.subject,
        text=request.text,
        html=request.html,
        headers=headers,
    )


def _person(box: Mailbox) -> tuple[str, str]:
    return box.name, box.email


def _sent_note(request: EmailRequest, result: MailAccepted) -> str:
    persons = [box.email for box in (*request.to, *request.cc, *request.bcc)]
    reported = f"Email sent to {', '.join(item for item in persons if item not in result.refused)}"
    return f"{reported}; refused: {', '.join(result.refused)}" if result.refused else reported
