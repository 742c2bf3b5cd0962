"""The wire between server and worker: length-prefixed msgpack over the worker's stdin and stdout.

A request is ``Request(operation, payload)``, an answer one of ``Done``, ``Refused`` (the text was
at fault) or ``Broken`` (hoglet was at fault). The server decodes answers into plain values only:
nothing that a worker sends can name a class or run code in the server, so no pickle here.
"""

import struct
from typing import Any

import msgspec

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


class Broken(msgspec.Struct, tag="broken", array_like=True):
    """The operation raised something else; ``trace`` is for the server's log only."""

    error: str
    trace: str


type Answer = Done | Refused | Broken

_answers: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Done | Refused | Broken)
_requests = msgspec.msgpack.Decoder(Request)


def pack(message: Request | Answer) -> bytes:
    """One frame, header included.

    Hog strings may hold lone surrogates (``substring`` cuts between UTF-16 units); msgpack cannot
    carry them, so they become U+FFFD, as they would in any UTF-8 output.
    """
    try:
        body = msgspec.msgpack.encode(message)
    except UnicodeEncodeError:
        body = msgspec.msgpack.encode(_without_surrogates(msgspec.to_builtins(message)))
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


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
