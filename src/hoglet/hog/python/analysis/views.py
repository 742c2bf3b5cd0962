"""Objects of the host's data that a program reads several fields of.

Each read of a field has to test whether its holder is an object. If a holder is read twice or more,
it is tested once: a *view* is a local variable that holds the object, or an empty object in place
of anything else, which has no fields either.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.borrowing import Borrowing
from hoglet.hog.python.analysis.type_facts import NUMBERS, TypeFacts
from hoglet.hog.python.analysis.visitor import everything

_LOOPS: Final = frozenset({bound.While, bound.For, bound.ForIn})


class Views:
    """The views of one program.

    Attributes:
        paths: globals and paths below them, with the names of their views:
            ``{("event",): "h1", ("event", "properties"): "h2"}``; shorter paths come first.
        variables: borrowing variables that have a view.

    Args:
        facts: type facts about the program.
        borrowing: which variables hold the host's own data.
        known_globals: roots of globals that always exist; reading others may fail.
        loops: the loop around each node, see ``loops_around``.
        enabled: whether the program may have views.
    """

    def __init__(
        self,
        facts: TypeFacts,
        borrowing: Borrowing,
        known_globals: frozenset[str],
        loops: Mapping[int, Any],
        *,
        enabled: bool,
    ) -> None:
        nodes = [node for own in facts.own.values() for node in own] if enabled else []
        self._loops = loops
        self._collections = {
            id(part): node
            for node in nodes
            if isinstance(node, bound.ForIn)
            for part in everything(node.collection, into_functions=False)
        }
        self._aliases: dict[bound.Variable, tuple[Any, ...]] = {}
        self._find_aliases(nodes, borrowing)
        paths, variables = self._count(nodes, facts)
        self.paths: dict[tuple[Any, ...], str] = {}
        for path in sorted([path for path, count in paths.items() if count > 1], key=len):
            if path[0] in known_globals and all(isinstance(step, str) for step in path):
                self.paths[path] = f"h{len(self.paths) + 1}"
        self.variables = {
            variable
            for variable, count in variables.items()
            if count > 1
            and variable in borrowing.variables
            and variable not in borrowing.edited
            and not variable.assigned
            and self._aliases.get(variable) not in self.paths
            and not (variable.captured and variable in facts.loops)
        }

    def _find_aliases(self, nodes: list[Any], borrowing: Borrowing) -> None:
        """Find variables that are other names of globals: ``let p := event.properties``."""
        for node in nodes:
            if (
                isinstance(node, bound.Declare)
                and node.variable in borrowing.variables
                and node.variable not in borrowing.edited
                and not node.variable.assigned
                and not node.early
            ):
                path = self.path_of(node.value)
                if path is not None:
                    self._aliases[node.variable] = path

    def _count(
        self, nodes: list[Any], facts: TypeFacts
    ) -> tuple[Counter[tuple[Any, ...]], Counter[bound.Variable]]:
        """How often fields of each global and of each variable are read."""
        paths, variables = Counter[tuple[Any, ...]](), Counter[bound.Variable]()
        inner = {id(node.target) for node in nodes if isinstance(node, bound.GetProperty)}
        for node in nodes:
            if isinstance(node, bound.GetProperty):
                is_once = isinstance(node.key, bound.Constant) and not self._is_repeated(node)
                times = 1 if is_once else 2  # computed keys are probably in a loop, too
                is_index = facts.kind(node.key) in NUMBERS  # arrays have no views
                if isinstance(node.target, bound.ReadVariable) and not is_index:
                    variables[node.target.variable] += times
                path = self.path_of(node.target)
                if path is not None and is_index:
                    path = path[:-1] or None
                if path is not None and (id(node) not in inner or self.path_of(node) is None):
                    paths[path] += times
            elif (
                isinstance(node, bound.ReadGlobal)
                and not node.library
                and len(node.path) > 1
                and id(node) not in inner
            ):
                paths[node.path[:-1]] += 2 if self._is_repeated(node) else 1
        return paths, variables

    def _is_repeated(self, node: Any) -> bool:
        """Whether a node is evaluated in each round of a loop of its function."""
        around = self._collections.get(id(node), node)
        return type(self._loops.get(id(around))) in _LOOPS

    def path_of(self, node: Any) -> tuple[Any, ...] | None:
        """The path of a global that an expression reads: ``("event", "properties")``, or None."""
        if isinstance(node, bound.ReadGlobal):
            return None if node.library else node.path
        if isinstance(node, bound.ReadVariable):
            return self._aliases.get(node.variable)
        if isinstance(node, bound.GetProperty) and isinstance(node.key, bound.Constant):
            holder = self.path_of(node.target)
            if holder is not None and isinstance(node.key.value, str):
                return (*holder, node.key.value)
        return None

    def longest(self, path: tuple[Any, ...]) -> tuple[str | None, int]:
        """The view of the longest part of a path that has one, and the length of that part."""
        for length in range(len(path), 0, -1):
            name = self.paths.get(path[:length])
            if name is not None:
                return name, length
        return None, 0

    def lines(self, root_names: dict[str, str]) -> list[str]:
        """The statements that bind the views of globals at the start of the program."""
        lines: list[str] = []
        for path, name in self.paths.items():
            view, seen = self.longest(path[:-1])
            holder, steps = (root_names[path[0]], path[1:]) if view is None else (view, path[seen:])
            if view is None:
                lines.append(f"{name} = {holder}")
                holder = name
            for step in steps:
                if holder is not view:
                    lines.append(f"if type({name}) is not D: {name} = NO_FIELDS")
                lines.append(f"{name} = {holder}.get({step!a})")
                holder = name
            lines.append(f"if type({name}) is not D: {name} = NO_FIELDS")
        return lines
