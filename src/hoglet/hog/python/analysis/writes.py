"""Writes of a program: which objects it owns, and which copies of globals it changes."""

from collections.abc import Sequence
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.paths import ANY_KEY, is_new, may_be_at, path_of_write

_MAX_EDITS: Final = 64
_MAX_COMPUTED: Final = 64
"""Paths with computed keys through one variable; more are taken to reach everything."""

type _Paths = set[tuple[Any, ...]]


class Writes:
    """The assignments of properties in one program.

    Attributes:
        edited: variables with a copy of a global that is written to, and the paths of the changed
            objects; ``{e: {(), ("properties",)}}`` for ``let e := event;
            e.properties.plan := 'free'``. Empty for programs with many assignments.

    Args:
        nodes: all nodes of the program.
    """

    def __init__(self, nodes: Sequence[Any]) -> None:
        self._nodes = nodes
        self._owned = self._find_owned()
        self._assigned = self._find_assigned()
        self.edited = self._find_edited()

    def is_own(self, target: Any) -> bool:
        """Whether the target of a write can only be an object that a variable owns.

        ``out`` after ``let out := {}``, and ``out.geo`` after ``let out := {'geo': {}}`` unless
        another value is assigned there.
        """
        path: list[Any] = []
        while isinstance(target, bound.GetProperty):
            path.insert(0, target.key.value if isinstance(target.key, bound.Constant) else ANY_KEY)
            target = target.target
        if not isinstance(target, bound.ReadVariable) or target.variable not in self._owned:
            return False
        return not path or (
            (ANY_KEY not in path and is_new(self._owned[target.variable], path))
            and not self._is_replaced(target.variable, path)
        )

    def _find_owned(self) -> dict[bound.Variable, Any]:
        """Variables bound once, to a new object or to a copy that is not shared."""
        return {
            node.variable: node.value
            for node in self._nodes
            if isinstance(node, bound.Declare)
            and not node.variable.assigned
            and isinstance(node.value, bound.MakeObject | bound.MakeArray | bound.ReadGlobal)
        }

    def _is_replaced(self, variable: bound.Variable, path: list[Any]) -> bool:
        """Whether a statement may assign the object at the path or one that contains it."""
        constant, computed = self._assigned.get(variable, (set(), set()))
        return (
            any(tuple(path[:length]) in constant for length in range(1, len(path) + 1))
            or len(computed) > _MAX_COMPUTED
            or any(may_be_at(keys, [tuple(path[: len(keys)])]) for keys in computed)
        )

    def _find_assigned(self) -> dict[bound.Variable, tuple[_Paths, _Paths]]:
        """The paths that are assigned through each variable: with constant, with computed keys."""
        assigned: dict[bound.Variable, tuple[_Paths, _Paths]] = {}
        for node in self._nodes:
            if isinstance(node, bound.AssignProperty):
                variable, keys = path_of_write(node)
                if variable is not None:
                    constant, computed = assigned.setdefault(variable, (set(), set()))
                    (computed if ANY_KEY in keys else constant).add(tuple(keys))
        return assigned

    def _find_edited(self) -> dict[bound.Variable, set[tuple[str, ...]]]:
        """Variables with a copy of a global that is written to, with the changed paths."""
        paths: dict[bound.Variable, set[tuple[str, ...]]] = {}
        refused, count = set[bound.Variable](), 0
        for node in self._nodes:
            if not isinstance(node, bound.AssignProperty):
                continue
            count += 1
            variable, keys = path_of_write(node)
            if variable is None:
                continue
            is_copy = isinstance(self._owned.get(variable), bound.ReadGlobal)
            if not is_copy or not all(isinstance(key, str) for key in keys[:-1]):
                refused.add(variable)
            written = paths.setdefault(variable, set())
            written.update(tuple(keys[:length]) for length in range(len(keys)))
        if count > _MAX_EDITS:
            return {}
        return {
            variable: written_paths
            for variable, written_paths in paths.items()
            if variable not in refused
        }
