"""The protocol between server and worker: length-prefixed msgpack over stdin and stdout.

A request is ``Request(operation, payload)``, a response is ``Returned``, ``Refused`` (the text is
invalid) or ``Broken`` (a bug in hoglet). The server decodes plain values only: nothing that a
worker sends can name a class or run code in the server, hence no pickle.
"""

import struct
from typing import Any

import msgspec

from hoglet.kit import json

HEADER = struct.Struct("!I")
# A batch of 5,000 events of 4 KB fits; more is a bug in the sender.
MAX_FRAME_BYTES = 256 * 1024 * 1024
PREPARE = ""  # a request that only imports the operation named by its payload


class Request(msgspec.Struct, array_like=True):
    """``operation`` is the path of a function; ``payload`` is any msgpack value."""

    operation: str
    payload: Any


class Returned(msgspec.Struct, tag="done", array_like=True):
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


type Answer = Returned | Refused | Broken

_encoder = msgspec.msgpack.Encoder()
_answers: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Returned | Refused | Broken)
_requests = msgspec.msgpack.Decoder(Request)


def pack(message: Request | Answer) -> bytes:
    """Encode one frame including its header; lone surrogates become U+FFFD."""
    body = json.pack(_encoder, message)
    return HEADER.pack(len(body)) + body


def unpack_request(body: bytes) -> Request:
    """Decode the request in a frame's body."""
    return _requests.decode(body)


def unpack_answer(body: bytes) -> Answer:
    """Decode the response in a frame's body.

    Raises:
        msgspec.DecodeError: the worker sent anything else.
    """
    return _answers.decode(body)
