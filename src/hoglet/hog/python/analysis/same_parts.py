"""Do two expressions read the same part of the host's data?"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.edited_places import MAX_READS
from hoglet.hog.python.analysis.paths import field


class SameParts:
    """The parts that raw expressions of one program read.

    Args:
        sources: the expressions that each variable is bound to.
        root: returns the borrowing variable at the root of an expression, else None.
    """

    def __init__(
        self, sources: Mapping[bound.Variable, Sequence[Any]], root: Callable[[Any], Any]
    ) -> None:
        self._sources = sources
        self._root = root

    def are_apart(self, first: Any, second: Any) -> bool:
        """Whether two raw expressions certainly read different parts."""
        first_field, second_field = field(first), field(second)
        if (
            first_field is not None
            and second_field is not None
            and first_field[0] is second_field[0]
            and first_field[1] != second_field[1]
        ):
            return True
        return self._roots(self._root(first)).isdisjoint(self._roots(self._root(second)))

    def _roots(self, variable: bound.Variable) -> set[bound.Variable]:
        """The variable, and those that its value may be a part of; of many, all variables."""
        roots, waiting = set[bound.Variable](), [variable]
        while waiting:
            current = waiting.pop()
            if current not in roots:
                roots.add(current)
                if len(roots) > MAX_READS:
                    return set(self._sources)
                above = map(self._root, self._sources.get(current, []))
                waiting += [root for root in above if root is not None]
        return roots
