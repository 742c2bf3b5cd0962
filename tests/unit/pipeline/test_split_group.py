"""Groups that are split into pieces, and the results of the pieces."""

from datetime import UTC, datetime
from uuid import UUID

import orjson

from hoglet.events.persons.model import PersonState, PersonStoreState
from hoglet.pipeline.ingest.ipc import (
    BatchResult,
    Part,
    ProjectFacts,
    ReadRequest,
)
from hoglet.pipeline.ingest.split_group import halves_of, merge_results

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_events_keep_their_numbers_in_halves_of_halves():
    """The numbers make the UUIDs of events without one: wrong ones would store events twice."""
    body = orjson.dumps({"batch": [{"n": number} for number in range(7)]})
    whole = ReadRequest(
        group=UUID(int=1),
        project=ProjectFacts(id=1, name="p", site_url="http://h"),
        parts=[Part(UUID(int=2), body, NOW, None, None)],
        functions_key="",
        functions=None,
    )
    pieces = [whole]
    singles: list[Part] = []
    while pieces:
        piece = pieces.pop(0)
        halves = halves_of(piece)
        if halves is None:
            singles.append(piece.parts[0])
        else:
            pieces += halves

    numbers = {part.first: orjson.loads(part.body)["batch"][0]["n"] for part in singles}
    assert numbers == {number: number for number in range(7)}


def test_a_person_that_a_later_piece_merged_away_is_only_deleted():
    survivor, gone = (PersonState(UUID(int=n), "{}", NOW, False, 1) for n in (1, 2))
    merged = merge_results(
        [
            BatchResult(persons=PersonStoreState(persons=[survivor, gone])),
            BatchResult(persons=PersonStoreState(deleted=[gone], merges=[(gone.id, survivor.id)])),
        ]
    )

    assert [person.id for person in merged.persons.persons] == [survivor.id]
    assert [person.id for person in merged.persons.deleted] == [gone.id]
    assert merged.persons.merges == [(gone.id, survivor.id)]
