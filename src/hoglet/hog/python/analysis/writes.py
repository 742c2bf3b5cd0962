"""Writes of a program: which objects it owns, and which copies of globals it changes."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.bindings import Bindings
from hoglet.hog.python.analysis.gathering import gathering
from hoglet.hog.python.analysis.paths import (
    ANY_KEY,
    is_new,
    is_same_read,
    may_be_at,
    path_of_write,
)
from hoglet.hog.python.analysis.puts import Put

_MAX_EDITS: Final = 64
_MAX_COMPUTED: Final = 64
"""Paths with computed keys through one variable; more are taken to reach everything."""

_MAX_NAMES: Final = 8
"""Names through which an object is followed, one for another, and objects that a name may be."""

type _Paths = set[tuple[Any, ...]]

type _Part = tuple[bound.Variable, tuple[str, ...]]
"""A variable that owns a copy of a global, and the path of a part of it."""


class Writes:
    """The assignments of properties in one program.

    Attributes:
        edited: variables with a copy of a global that is written to, and the paths of the changed
            objects; ``{e: {(), ("properties",)}}`` for ``let e := event;
            e.properties.plan := 'free'``. Empty for programs with many assignments.
        other_names: variables that are other names of parts of such copies, and written through:
            ``p`` after ``let p := e.properties``, or parameters for which that is passed.
        gathered: variables with new objects in which parts of the host's data are gathered; they
            are written to like copies of globals.
        puts: the writes to copies of globals and to gathered objects.
        in_place: writes that put an object where it already is, by identity:
            ``e.properties := mask(e.properties)`` if ``mask`` returns its parameter.
        to_own_places: those that put what is returned for a part of a global at the place of that
            part in a copy: ``e.properties := mask(event.properties)``.

    Args:
        nodes: all nodes of the program.
        bindings: what each variable is bound to.
        is_unshared: whether a value is a scalar or an object that nothing else refers to.
    """

    def __init__(
        self, nodes: Sequence[Any], bindings: Bindings, is_unshared: Callable[[Any], bool]
    ) -> None:
        self._nodes = nodes
        self._is_unshared = is_unshared
        self._bindings = bindings
        self._known: dict[bound.Variable, list[_Part]] = {}
        self._owned = self._find_owned()
        self.in_place = {id(node) for node in nodes if self._is_in_place(node)}
        self.gathered = gathering(nodes, self._owned, is_unshared)
        self._assigned = self._find_assigned()
        self.other_names = set[bound.Variable]()
        self.puts: list[Put] = []
        self.edited = self._find_edited()
        self.to_own_places = {id(node) for node in nodes if self._is_to_own_place(node)}

    def is_own(self, node: bound.AssignProperty) -> bool:
        """Whether the target of a write can only be an object that a variable owns.

        ``out`` after ``let out := {}``, and ``out.geo`` after ``let out := {'geo': {}}`` unless
        another value is assigned there.
        """
        variable, (*path, _) = path_of_write(node)
        return variable in self._owned and self._is_own_part(variable, path)

    def is_edit(self, node: bound.AssignProperty) -> bool:
        """Whether a write only changes copies of globals that variables own."""
        variable, (*path, _) = path_of_write(node)
        return variable in self.other_names and all(
            self._is_own_part(root, [*above, *path]) for root, above in self._copies_of(variable)
        )

    def owns_copy(self, variable: bound.Variable) -> bool:
        """Whether a variable owns a copy of a global, each time it is bound a new one."""
        return isinstance(self._owned.get(variable), bound.ReadGlobal)

    def _is_in_place(self, node: Any) -> bool:
        if not isinstance(node, bound.AssignProperty):
            return False
        argument = self._bindings.returned_argument(node.value)
        return isinstance(argument, bound.GetProperty) and is_same_read(
            argument, bound.GetProperty(target=node.target, key=node.key)
        )

    def _is_to_own_place(self, node: Any) -> bool:
        if not isinstance(node, bound.AssignProperty):
            return False
        argument = self._bindings.returned_argument(node.value)
        variable, keys = path_of_write(node)
        return isinstance(argument, bound.ReadGlobal) and all(
            isinstance(source, bound.ReadGlobal) and (*source.path, *above, *keys) == argument.path
            for root, above in self._copies_of(variable)
            for source in self._bindings.sources[root]
        )

    def _is_own_part(self, variable: bound.Variable, path: list[Any]) -> bool:
        return not path or (
            (ANY_KEY not in path and is_new(self._owned[variable], path))
            and not self._is_replaced(variable, path)
        )

    def _copies_of(self, variable: bound.Variable | None, names: int = _MAX_NAMES) -> list[_Part]:
        """The parts of copies of globals that a variable is; empty if it may be anything else."""
        if variable is None or variable in self._known:
            return [] if variable is None else self._known[variable]
        self._known[variable] = []  # for a variable that is bound to itself
        if self.owns_copy(variable) or variable in self.gathered:
            self._known[variable] = [(variable, ())]
        elif names and not (variable.assigned or variable in self._bindings.elements):
            sources = self._bindings.sources.get(variable, [])
            self._known[variable] = self._copies_of_all(sources, names - 1)
        return self._known[variable]

    def _copies_of_all(self, sources: Sequence[Any], names: int) -> list[_Part]:
        parts: list[_Part] = []
        for source in sources:
            root, path = _constant_path(self._bindings.returned(source) or source)
            above = self._copies_of(root, names)
            if not above or len(parts) > _MAX_NAMES:
                return []
            parts += [(copy, (*keys, *path)) for copy, keys in above]
        return parts

    def _find_owned(self) -> dict[bound.Variable, Any]:
        """Variables bound once, to a new object or to a copy that is not shared."""
        owned = {
            node.variable: node.value
            for node in self._nodes
            if isinstance(node, bound.Declare)
            and not node.variable.assigned
            and isinstance(node.value, bound.MakeObject | bound.MakeArray | bound.ReadGlobal)
        }
        return owned | self._bindings.parameters_with_globals()

    def _is_replaced(self, variable: bound.Variable, path: list[Any]) -> bool:
        """Whether a statement may assign the object at the path or one that contains it."""
        constant, computed = self._assigned.get(variable, (set(), set()))
        return (
            any(tuple(path[:length]) in constant for length in range(1, len(path) + 1))
            or len(computed) > _MAX_COMPUTED
            or any(may_be_at(keys, [tuple(path[: len(keys)])]) for keys in computed)
        )

    def _find_assigned(self) -> dict[bound.Variable, tuple[_Paths, _Paths]]:
        """The paths that are assigned through each variable: with constant, with computed keys.

        An object that nothing else refers to belongs to the copy of a global that it is put into.
        """
        assigned: dict[bound.Variable, tuple[_Paths, _Paths]] = {}
        for node in self._nodes:
            if isinstance(node, bound.AssignProperty):
                variable, keys = path_of_write(node)
                parts = self._copies_of(variable)
                if variable is not None and not parts:
                    parts = [(variable, ())]
                elif self._is_unshared(node.value) or id(node) in self.in_place:
                    continue
                for root, above in parts:
                    constant, computed = assigned.setdefault(root, (set(), set()))
                    (computed if ANY_KEY in keys else constant).add((*above, *keys))
        return assigned

    def _find_edited(self) -> dict[bound.Variable, set[tuple[str, ...]]]:
        """Variables with a copy of a global that is written to, with the changed paths."""
        paths: dict[bound.Variable, set[tuple[str, ...]]] = {}
        refused, roots, count = set[bound.Variable](), dict[bound.Variable, list[Any]](), 0
        for node in self._nodes:
            if not isinstance(node, bound.AssignProperty):
                continue
            count += 1
            variable, keys = path_of_write(node)
            places = self._copies_of(variable)
            if variable is not None:
                roots[variable] = [root for root, _ in places]
            for root, above in places:
                if not all(isinstance(key, str) for key in keys[:-1]):
                    refused.add(root)
                written = (*above, *keys)
                self.puts.append(Put(root, written, node.value))
                changed = paths.setdefault(root, set())
                changed.update(written[:length] for length in range(len(written)))
        if count > _MAX_EDITS:
            return {}
        edited = {root: changed for root, changed in paths.items() if root not in refused}
        self.other_names = {
            variable
            for variable, owners in roots.items()
            if owners and variable not in self._owned and all(root in edited for root in owners)
        }
        return edited


def _constant_path(node: Any) -> tuple[bound.Variable | None, list[str]]:
    """The variable and the keys of ``e.properties``; no variable for other expressions."""
    path: list[str] = []
    while isinstance(node, bound.GetProperty):
        key = node.key.value if isinstance(node.key, bound.Constant) else None
        if not isinstance(key, str):
            return None, path
        path.insert(0, key)
        node = node.target
    return (node.variable if isinstance(node, bound.ReadVariable) else None), path
