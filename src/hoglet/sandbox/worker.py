"""The worker process: reads a frame, runs the operation, writes the response, one at a time.

It is started as ``python -m hoglet.sandbox.worker '<limits as JSON>'`` with an empty environment.
Its memory is limited from the start, and it dies with its parent. It confines itself
(``hoglet.sandbox.confinement``) after importing the first operation, so that the interpreter can
write bytecode caches, but before it sees untrusted text. It has no socket, no database and no
secrets other than those in the frames it receives.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from hoglet.kit.errors import SourceError
from hoglet.kit.freed_memory import collect_less, keep_freed_memory
from hoglet.sandbox import protocol as frames
from hoglet.sandbox.confinement import confine

_PR_SET_PDEATHSIG = 1
# A group of 8,000 events takes about 60 MB, its messages 4 MB each.
_KEPT_BYTES = 64 * 1024 * 1024
_LARGEST_KEPT_BLOCK = 16 * 1024 * 1024

type Operation = Callable[[Any], Any]


def main() -> None:
    """Serve frames until the parent closes standard input."""
    setup: dict[str, Any] = json.loads(sys.argv[1])
    sys.path.extend(setup["import_path"])
    os.nice(setup["niceness"])
    _limit(setup["memory_bytes"])
    keep_freed_memory(most=_KEPT_BYTES, largest_block=_LARGEST_KEPT_BLOCK)
    requests, answers = _take_over_standard_streams()
    operations: dict[str, Operation] = {}
    is_confined = False
    while (request := _read(requests)) is not None:
        if not is_confined and request.operation != frames.PREPARE:
            _confine([*setup["import_path"], *setup["readable"]])
            collect_less()
            is_confined = True
        answer = _answer(request, operations)
        answers.write(frames.pack(answer))
        answers.flush()


def _limit(memory_bytes: int) -> None:
    """Limit memory, forbid core dumps, die with the parent; skips what the platform lacks."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is handled by the parent, which then stops the worker
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _confine(readable: list[str]) -> None:
    """Confine the process; if the kernel refuses, print a warning, which the parent logs."""
    try:
        confine(readable)
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()


def _take_over_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve the pipes for frames and redirect ``print()`` to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sys.stdin.buffer, answers


def _read(requests: BinaryIO) -> frames.Request | None:
    header = requests.read(frames.HEADER.size)
    if len(header) < frames.HEADER.size:
        return None
    (length,) = frames.HEADER.unpack(header)
    body = requests.read(length)
    return frames.unpack_request(body) if len(body) == length else None


def _answer(request: frames.Request, loaded: dict[str, Operation]) -> frames.Answer:
    try:
        if request.operation == frames.PREPARE:
            _load(request.payload, loaded)
            return frames.Returned(None)
        operation = _load(request.operation, loaded)
        return frames.Returned(operation(request.payload))
    except SourceError as error:
        return frames.Refused(
            error.message,
            error.line,
            error.column,
            error.start,
            error.end,
            error.hint,
            error.error_code,
            error.attr,
        )
    except Exception as error:  # noqa: BLE001 (reported to the server, which logs and answers 500)
        return frames.Broken(f"{type(error).__name__}: {error}"[:2000], traceback.format_exc())


def _load(path: str, loaded: dict[str, Operation]) -> Operation:
    if path not in loaded:
        module, _, name = path.partition(":")
        loaded[path] = getattr(importlib.import_module(module), name)
    return loaded[path]


if __name__ == "__main__":
    main()
