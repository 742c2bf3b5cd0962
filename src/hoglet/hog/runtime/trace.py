"""A traced run, statement by statement."""

import msgspec


class TraceStep(msgspec.Struct):
    """A statement of a traced run, e.g. ``TraceStep(3, {"total": "4"}, ["fetch(): {…}"])``.

    ``values`` are the values it set, ``calls`` its calls with their results, all as text.
    """

    line: int
    values: dict[str, str] = {}
    calls: list[str] = []
