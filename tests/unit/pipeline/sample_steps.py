"""The step batcher's operation, with a bug that one event triggers."""

import msgspec

from hoglet.functions.runtime import step


def run_steps(payload):
    requests = msgspec.msgpack.decode(payload)["requests"]
    if any(request["globals"]["event"]["event"] == "poison" for request in requests):
        raise ZeroDivisionError
    return step.run_steps(payload)
