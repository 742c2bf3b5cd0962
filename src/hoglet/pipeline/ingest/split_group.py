"""Splits groups that exceed the limits of a worker, and merges the results in order. Pure.

A piece is a :class:`ReadRequest` with some of the group's events. It keeps the group's id, because
all pieces of a group are inserted and committed together.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from hoglet.definitions.observer import merge_observations
from hoglet.events.persons.model import PersonStoreState
from hoglet.events.split_batch import halve_batch
from hoglet.pipeline.ingest.ipc import BatchCounters, BatchResult, Part, ReadRequest


def merge_results(pieces: Sequence[BatchResult]) -> BatchResult:
    """Merge the results of the pieces, as if the group had been processed as a whole."""
    return BatchResult(
        blocks=_blocks(pieces),
        stored=sum(piece.stored for piece in pieces),
        persons=_persons(pieces),
        new_group_types={kind: i for piece in pieces for kind, i in piece.new_group_types.items()},
        groups=list({(g.index, g.key): g for piece in pieces for g in piece.groups}.values()),
        new_uuids=[uuid for piece in pieces for uuid in piece.new_uuids],
        invocations=[run for piece in pieces for run in piece.invocations],
        tally=_tally(pieces),
        observation=merge_observations([piece.observation for piece in pieces]),
        warnings=[warning for piece in pieces for warning in piece.warnings],
        set_aside=[part for piece in pieces for part in piece.set_aside],
    )


def _blocks(pieces: Sequence[BatchResult]) -> dict[int, bytes]:
    by_table: dict[int, list[bytes]] = {}
    for piece in pieces:
        for name, rows in piece.blocks.items():
            by_table.setdefault(name, []).append(rows)
    return {name: b"\n".join(blocks) for name, blocks in by_table.items()}


def _persons(pieces: Sequence[BatchResult]) -> PersonStoreState:
    """The last state of each person; one that a later piece merged into another is only deleted."""
    persons = {person.id: person for piece in pieces for person in piece.persons.persons}
    ids = {row.distinct_id: row for piece in pieces for row in piece.persons.ids}
    deleted = [person for piece in pieces for person in piece.persons.deleted]
    for person in deleted:
        persons.pop(person.id, None)
    return PersonStoreState(
        list(persons.values()),
        list(ids.values()),
        deleted,
        merges=[pair for piece in pieces for pair in piece.persons.merges],
    )


def _tally(pieces: Sequence[BatchResult]) -> BatchCounters:
    deferred: Counter[str] = Counter()
    whole = BatchCounters()
    for piece in pieces:
        tally = piece.tally
        deferred.update(tally.deferred)
        whole.lines.extend(tally.lines)
        whole.dead_letters.extend(tally.dead_letters)
        for function_id, counters in tally.counts.items():
            for key, number in counters.items():
                kind, _, name = key.partition("/")
                whole.count(function_id, kind, name, number)
        for function_id, spent in tally.spent.items():
            whole.spent.setdefault(function_id, []).extend(spent)
    whole.deferred = dict(deferred)
    return whole


def halves_of(piece: ReadRequest) -> tuple[ReadRequest, ReadRequest] | None:
    """Split a piece into two, keeping the order of events; None if it has only one event.

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
