"""Searches names and descriptions: exact matches, or similar ones if there are none.

Source: docs/spec/hog-functions.md#8-list-row-1.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

type MatchType = Literal["exact", "similar"]

MAX_CHARACTERS = 200
_SIMILARITY = 0.3
_LONG_WORD = 8
_WORD = re.compile(r"\w+", re.UNICODE)
_MAX_WORDS = 200  # of a description; bounds the work of a fuzzy search


class Searchable(NamedTuple):
    """The searchable texts of a row; ``key`` is returned for matches."""

    key: object
    name: str
    description: str


def clean_query(text: str) -> str:
    """The normalized search text: without NULs, trimmed, lower case."""
    return text.replace("\x00", "").strip().lower()


def search(query: str, rows: Sequence[Searchable]) -> list[tuple[object, MatchType]]:
    """The keys of matching rows, best first; ties keep the order of ``rows``.

    Args:
        query: the result of :func:`clean_query`, not empty.
        rows: the candidates.
    """
    ranked = [(rank, row.key) for row in rows if (rank := _exact_rank(query, row)) is not None]
    if ranked:
        return [(key, "exact") for _, key in sorted(ranked, key=lambda pair: pair[0])]
    scored = [(score, row.key) for row in rows if (score := _similar_score(query, row)) is not None]
    return [(key, "similar") for _, key in sorted(scored, key=lambda pair: -pair[0])]


def _exact_rank(query: str, row: Searchable) -> int | None:
    name = row.name.lower()
    if name == query:
        return 0
    if name.startswith(query):
        return 1
    if query in name:
        return 2
    return 3 if query in row.description.lower() else None


def _similar_score(query: str, row: Searchable) -> float | None:
    """Higher is more similar; a hit in the name counts one more than in the description."""
    scores = [
        *(score + 1 for score in _word_scores(query, row.name)),
        *_word_scores(query, row.description),
    ]
    return max(scores, default=None)


def _word_scores(query: str, text: str) -> Iterable[float]:
    query_words = _WORD.findall(query)[:_MAX_WORDS]
    for word in _WORD.findall(text.lower())[:_MAX_WORDS]:
        for part in query_words:
            allowed = 2 if len(part) >= _LONG_WORD else 1
            distance = edit_distance(part, word, allowed)
            similarity = trigram_similarity(part, word)
            if distance <= allowed and len(part) > allowed:
                yield max(similarity, 1 - distance / len(part))
            elif similarity >= _SIMILARITY:
                yield similarity


def edit_distance(left: str, right: str, limit: int) -> int:
    """Edit distance with adjacent transpositions; ``limit + 1`` stands for anything above.

    Example:
        >>> edit_distance("slcak", "slack", 1)
        1
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    last = list(range(len(right) + 1))
    for i, dead_letter in enumerate(left, start=1):
        row = [i]
        for j, other in enumerate(right, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (dead_letter != other))
            if i > 1 and j > 1 and dead_letter == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return min(last[-1], limit + 1)


def trigram_similarity(left: str, right: str) -> float:
    """Shared trigrams over all trigrams, 0..1, words padded as in PostgreSQL's ``pg_trgm``."""
    a, b = _trigrams(left), _trigrams(right)
    return len(a & b) / len(a | b)


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}
