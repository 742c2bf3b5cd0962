"""Matches sent mappings with stored ones, so that each keeps its secrets and number. Pure.

Waiting runs and dead letters refer to a mapping's number, but in the API mappings have no ids. A
mapping is matched by name and filters, by name, or by filters, where these are unique, else by
position. A stored mapping is matched once: secrets of a removed one go to no other.

Source: docs/spec/hog-functions.md#44-secrets and docs/spec/hog-functions.md#45-mappings.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence

from hoglet.functions.filters.normalize import without_generated
from hoglet.functions.json_types import FunctionMapping, MappingMatcher, StoredMatcher


def stored_identities(
    stored: Sequence[FunctionMapping], sent: Sequence[FunctionMapping]
) -> dict[int, int]:
    """The stored index of each sent mapping; new ones are omitted.

    Example:
        >>> stored_identities([{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "c"}])
        {0: 1, 1: 0}
        >>> stored_identities([{"name": "a"}, {"name": "b"}], [{"name": "b"}])
        {0: 1}
    """
    found: dict[int, int] = {}
    for told_by in (_by_all, _by_name, _by_filters):
        there = _told_apart(stored, told_by, set(found.values()))
        here = _told_apart(sent, told_by, set(found))
        found |= {here[text]: there[text] for text in here.keys() & there.keys()}
    taken = set(found.values())
    for place in range(min(len(stored), len(sent))):
        if place not in found and place not in taken:
            found[place] = place
    return dict(sorted(found.items()))


def numbered(
    matchers: Sequence[MappingMatcher],
    stored_matcher: StoredMatcher,
    stored: Sequence[FunctionMapping] | None,
    sent: Sequence[FunctionMapping] | None,
) -> StoredMatcher:
    """The matchers of sent mappings with their numbers, and the next free number.

    Numbers are never reused: a run of a removed mapping must not become another's.

    Returns:
        ``{"mappings": [{"tree": ..., "events": ..., "number": 1}], "next_number": 2}``
    """
    parts = stored_matcher.get("mappings") or []
    places = stored_identities(stored or [], sent or [])
    free = max(len(stored or []), stored_matcher.get("next_number", 0))
    found: list[MappingMatcher] = []
    for place, matcher in enumerate(matchers):
        if place in places:
            number = mapping_number(parts, places[place])
        else:
            number, free = free, free + 1
        found.append({**matcher, "number": number})
    return {"mappings": found, "next_number": free}


def mapping_number(matchers: Sequence[MappingMatcher], place: int) -> int:
    """The number of a stored mapping; its position if it was saved before numbers existed."""
    return matchers[place].get("number", place) if place < len(matchers) else place


def _told_apart(
    mappings: Sequence[FunctionMapping],
    told_by: Callable[[FunctionMapping], str | None],
    done: set[int],
) -> dict[str, int]:
    """Indexes by a distinguishing key, for mappings whose key is unique."""
    texts = {i: told_by(mapping) for i, mapping in enumerate(mappings) if i not in done}
    numbers = Counter(texts.values())
    return {text: i for i, text in texts.items() if text is not None and numbers[text] == 1}


def _by_all(mapping: FunctionMapping) -> str | None:
    return json.dumps([mapping.get("name"), _by_filters(mapping)])


def _by_name(mapping: FunctionMapping) -> str | None:
    return mapping.get("name") or None


def _by_filters(mapping: FunctionMapping) -> str | None:
    return json.dumps(without_generated(mapping.get("filters") or {}), sort_keys=True)
