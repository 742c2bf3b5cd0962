"""Where in edited copies of the host's data may an expression read?

What a program reads from such a copy and passes on is a copy of its own, which later writes to the
edited one would not reach; see :mod:`hoglet.hog.python.analysis.borrowing`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.bindings import Bindings
from hoglet.hog.python.analysis.paths import ANY_KEY

MAX_READS: Final = 64
"""Variables that a value is followed through; real programs have a few."""

type _ReadPath = tuple[bound.Variable, tuple[Any, ...] | None]
"""An edited variable and the path of a part of its value; None for any path."""


class EditedPlaces:
    """The places that the raw expressions of one program read.

    Args:
        bindings: what each variable is bound to.
        edited: the variables with edited copies.
        root: returns the borrowing variable at the root of an expression, else None.
        is_filter: whether an expression is a filtered array of host data.
    """

    def __init__(
        self,
        bindings: Bindings,
        edited: Iterable[bound.Variable],
        root: Callable[[Any], bound.Variable | None],
        is_filter: Callable[[Any], bool],
    ) -> None:
        self._bindings = bindings
        self._root = root
        self._is_filter = is_filter
        self._edited = set(edited)
        self._roots = self._find_roots()

    def of(self, node: Any) -> set[_ReadPath]:
        """The places that an expression may read."""
        places = set[_ReadPath]()
        root = self._root(node)
        roots = set[bound.Variable]() if root is None else self._roots[root]
        waiting: list[tuple[Any, tuple[Any, ...]]] = [(node, ())] if roots else []
        for _ in range(MAX_READS):
            if not waiting:
                return places
            node, below = waiting.pop()
            variable, keys = self._path(self._bindings.returned(node) or node)
            if variable in self._edited:
                places.add((variable, (*keys, *below)))
            elif variable is not None:
                is_item = variable in self._bindings.elements
                inner = (ANY_KEY, *keys, *below) if is_item else (*keys, *below)
                waiting += [(source, inner) for source in self._bindings.sources[variable]]
        return {(variable, None) for variable in roots}

    def _find_roots(self) -> defaultdict[bound.Variable, set[bound.Variable]]:
        """The edited variables that the values of other variables may be parts of."""
        parts_of = defaultdict[bound.Variable, list[bound.Variable]](list)
        for variable, sources in self._bindings.sources.items():
            for root in map(self._root, sources):
                if root is not None:
                    parts_of[root].append(variable)
        roots = defaultdict[bound.Variable, set[bound.Variable]](set)
        for edited in self._edited:
            waiting = [edited]
            while waiting:
                variable = waiting.pop()
                if edited not in roots[variable]:
                    roots[variable].add(edited)
                    waiting += parts_of[variable]
        return roots

    def _path(self, node: Any) -> tuple[bound.Variable | None, list[Any]]:
        """The borrowing variable that a raw expression reads, and the keys."""
        keys: list[Any] = []
        while not isinstance(node, bound.ReadVariable):
            if isinstance(node, bound.GetProperty):
                keys.insert(0, node.key.value if isinstance(node.key, bound.Constant) else ANY_KEY)
                node = node.target
            elif isinstance(node, bound.IfNull):
                node = node.value
            elif isinstance(node, bound.CallGlobal) and self._is_filter(node):
                keys[:1] = [ANY_KEY] * len(keys[:1])  # any of the items
                node = node.arguments[1]
            else:
                return None, keys
        return self._root(node), keys
