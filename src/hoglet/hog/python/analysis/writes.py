"""Writes of a program: which objects it owns, and which copies of globals it changes."""

from collections.abc import Sequence
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.paths import ANY_KEY, is_new, path_of_write

_MAX_EDITS: Final = 64


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
            and not any(self._replaces(node, target.variable, path) for node in self._nodes)
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

    def _replaces(self, node: Any, variable: bound.Variable, path: list[Any]) -> bool:
        """Whether a statement may assign the object at the path or one that contains it."""
        if not isinstance(node, bound.AssignProperty):
            return False
        keys = [node.key]
        target = node.target
        while isinstance(target, bound.GetProperty):
            keys.insert(0, target.key)
            target = target.target
        if not isinstance(target, bound.ReadVariable) or target.variable is not variable:
            return False
        if len(keys) > len(path):
            return False
        return all(
            not isinstance(key, bound.Constant) or key.value == step
            for key, step in zip(keys, path, strict=False)
        )

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
