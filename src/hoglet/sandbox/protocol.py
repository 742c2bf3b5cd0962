"""The wire between server and worker: length-prefixed msgpack over the worker's stdin and stdout.

A request is ``Request(operation, payload)``, an answer one of ``Done``, ``Refused`` (the text was
at fault) or ``Broken`` (hoglet was at fault). The server decodes answers into plain values only:
nothing that a worker sends can name a class or run code in the server, so no pickle here.
"""

import struct
from typing import Any

import msgspec

from hoglet.kit import text

HEADER = struct.Struct("!I")
# One batch of 5,000 events of 4 KB fits; more is a bug in the sender, not a reason to grow.
MAX_FRAME_BYTES = 256 * 1024 * 1024
PREPARE = ""  # a request that has the operation named by its payload imported, and nothing done


class Request(msgspec.Struct, array_like=True):
    """``operation`` is a name of the worker's table; ``payload`` any msgpack value."""

    operation: str
    payload: Any


class Done(msgspec.Struct, tag="done", array_like=True):
    """The operation returned ``value``."""

    value: Any


class Refused(msgspec.Struct, tag="refused", array_like=True):
    """The operation raised a SourceError."""

    message: str
    line: int
    column: int
    start: int
    end: int
    hint: str | None
    code: str
    attr: str | None = None


class Broken(msgspec.Struct, tag="broken", array_like=True):
    """The operation raised something else; ``trace`` is for the server's log only."""

    error: str
    trace: str


type Answer = Done | Refused | Broken

_encoder = msgspec.msgpack.Encoder()
_answers: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Done | Refused | Broken)
_requests = msgspec.msgpack.Decoder(Request)


def pack(message: Request | Answer) -> bytes:
    """One frame, header included; lone surrogates become U+FFFD."""
    body = text.pack(_encoder, message)
    return HEADER.pack(len(body)) + body


def unpack_request(body: bytes) -> Request:
    """The request in a frame's body."""
    return _requests.decode(body)


def unpack_answer(body: bytes) -> Answer:
    """The answer in a frame's body.

    Raises:
        msgspec.DecodeError: the worker sent something else.
    """
    return _answers.decode(body)
