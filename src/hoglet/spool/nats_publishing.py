"""Publishes many messages at once and collects NATS's acknowledgements.

The client library has such a call, but it misses a rejection (a full disk) and keeps waiting.
"""

import asyncio
import itertools
from collections.abc import Sequence

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import Header

# "JetStream system temporarily unavailable": it is starting or electing a leader.
_STARTING = 10008


class StreamNotReady(nats.errors.Error):
    """No stream accepts the subject yet; a retry may succeed."""


class StreamMessage(msgspec.Struct, frozen=True):
    """A message to publish; NATS stores each id once."""

    subject: str
    payload: bytes
    message_id: str


class _Refusal(msgspec.Struct, frozen=True):
    description: str = ""
    err_code: int = 0


class _Answer(msgspec.Struct, frozen=True):
    seq: int = 0
    error: _Refusal | None = None


_answers = msgspec.json.Decoder(_Answer)


class Publisher:
    """Publishes through one client, with one inbox for all acknowledgements."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = client.new_inbox()
        self._numbers = itertools.count()
        self._waiting: dict[str, asyncio.Future[int]] = {}

    async def listen(self) -> None:
        """Subscribe to the inbox; call it before the first message."""
        await self._client.subscribe(f"{self._inbox}.*", cb=self._answered)

    async def publish(self, messages: Sequence[StreamMessage]) -> list[int]:
        """Publish in order without waiting for each message; returns the sequence numbers.

        Raises:
            StreamNotReady: no stream accepts the subject yet.
            nats.errors.Error: NATS rejects a message, or the connection is lost.
        """
        inboxes = [f"{self._inbox}.{next(self._numbers)}" for _ in messages]
        answers = [asyncio.get_running_loop().create_future() for _ in messages]
        self._waiting.update(zip(inboxes, answers, strict=True))
        try:
            for message, inbox in zip(messages, inboxes, strict=True):
                headers = {Header.MSG_ID.value: message.message_id}
                await self._client.publish(
                    message.subject, message.payload, reply=inbox, headers=headers
                )
            return await asyncio.gather(*answers)
        finally:
            for inbox, answer in zip(inboxes, answers, strict=True):
                self._waiting.pop(inbox, None)
                answer.cancel()

    async def _answered(self, message: Msg) -> None:
        future = self._waiting.get(message.subject)
        if future is None or future.done():
            return
        try:
            future.set_result(_position(message))
        except (nats.errors.Error, msgspec.DecodeError) as error:
            future.set_exception(error)


def _position(message: Msg) -> int:
    if message.headers and Header.STATUS.value in message.headers:
        raise StreamNotReady("no stream answers")
    answer = _answers.decode(message.data)
    if answer.error is None:
        return answer.seq
    if answer.error.err_code == _STARTING:
        raise StreamNotReady(answer.error.description)
    raise nats.errors.Error(answer.error.description)
