"""The step batcher's operation, with a bug that one event triggers."""

import msgspec

from hoglet.pipeline.delivery import step_batcher


def run_steps(payload):
    asked = msgspec.msgpack.decode(payload)
    if any(one["globals"]["event"]["event"] == "poison" for one in asked["requests"]):
        raise ZeroDivisionError
    return step_batcher.run_steps(payload)
