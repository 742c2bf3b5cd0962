"""Suggests the nearest known name for an unknown one."""

from collections import Counter
from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> str:
    """``" Did you mean 'event'?"`` for the closest name within a third of its letters, else ``""``.

    Example:
        >>> near("evnt", ["event", "uuid"])
        " Did you mean 'event'?"
    """
    given = str(name)
    most = max(1, len(given) // 3)
    letters = Counter(given.lower())
    closest = ""
    for item in map(str, known):
        longest = max(len(item), len(given))
        if abs(len(item) - len(given)) > most:
            continue
        if longest - (letters & Counter(item.lower())).total() > most:  # most edits
            continue
        distance = _distance(given.lower(), item.lower(), most)
        if distance <= most:
            closest, most = item, distance - 1
    return f" Did you mean '{closest}'?" if closest else ""


def _distance(left: str, right: str, most: int) -> int:
    """Damerau-Levenshtein distance.

    Distances above ``most`` may be underestimated, but stay above ``most``.
    """
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, item in enumerate(left, 1):
        line = [row]
        for column, two in enumerate(right, 1):
            cost = min(above[column] + 1, line[-1] + 1, above[column - 1] + (item != two))
            swapped = row > 1 and column > 1 and (item, left[row - 2]) == (right[column - 2], two)
            line.append(min(cost, before[column - 2] + 1) if swapped else cost)
        if min(line) > most and min(above) > most:
            return most + 1
        before, above = above, line
    return above[-1]
