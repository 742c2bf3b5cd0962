"""Pieces of a group that exceeds the limits of a worker. Pure.

A piece is a :class:`ReadRequest` with some of the group's events. It keeps the group's id, since
the group is stored and committed as one, however many pieces it was processed in.
"""

import msgspec

from hoglet.events.batch_halves import halve_batch
from hoglet.pipeline.ingest.ipc import Part, ReadRequest


def halves_of(piece: ReadRequest) -> tuple[ReadRequest, ReadRequest] | None:
    """Two pieces in the order of their events; None when there is one event left.

    Batches are kept whole as long as there are several.
    """
    parts = piece.parts
    if len(parts) > 1:
        middle = len(parts) // 2
        return _with(piece, parts[:middle]), _with(piece, parts[middle:])
    try:
        halved = halve_batch(parts[0].body) if parts else None
    except msgspec.DecodeError:  # capture stores JSON only, so the job was damaged
        return None
    if halved is None:
        return None
    first, second, events = halved
    part = parts[0]
    left = msgspec.structs.replace(part, body=first)
    right = msgspec.structs.replace(part, body=second, first=part.first + events)
    return _with(piece, [left]), _with(piece, [right])


def _with(piece: ReadRequest, parts: list[Part]) -> ReadRequest:
    return msgspec.structs.replace(piece, parts=parts)
