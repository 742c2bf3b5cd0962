"""Operations that the sandbox tests run in real workers."""

import os
import time

from hoglet.kit.errors import SourceError, SourceSpan


def echo(payload):
    return payload


def spin(payload):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        pass


def die(payload):
    os._exit(3)


def refuse(payload):
    raise SourceError("nope", SourceSpan(2, 3), hint="yes")


def crash(payload):
    return 1 / 0


def hoard(payload):
    return len(bytearray(payload))


def environment(payload):
    return sorted(os.environ)


def surrogate(payload):
    return "a\ud83d"


def niceness(payload):
    return os.getpriority(os.PRIO_PROCESS, 0)
