"""Objects in which a program gathers parts of the host's data.

::

    let kept := {}
    for (let key, value in event.properties) { if (key != '$ip') { kept[key] := value } }
    let e := event
    e.properties := kept

``kept`` holds the host's own values, as an edited copy does: nothing writes to objects in it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.paths import overlap, path_of_write
from hoglet.hog.python.analysis.puts import Put


def gathering(
    nodes: Sequence[Any], owned: dict[bound.Variable, Any], is_unshared: Callable[[Any], bool]
) -> set[bound.Variable]:
    """The variables with objects that are filled with other values, and put into other objects.

    Args:
        nodes: all nodes of the program.
        owned: variables that are bound once, and the new objects or copies that they are bound to.
        is_unshared: whether a value is a scalar or an object that nothing else refers to.
    """
    filled, put = set[Any](), set[Any]()
    for node in nodes:
        if isinstance(node, bound.AssignProperty):
            variable, keys = path_of_write(node)
            if len(keys) == 1 and not is_unshared(node.value):
                filled.add(variable)
            if isinstance(node.value, bound.ReadVariable) and variable is not None:
                put.add(node.value.variable)
    return {
        variable
        for variable in filled & put
        if isinstance(value := owned.get(variable), bound.MakeObject)
        and all(isinstance(item, bound.Constant) for _, item in value.items)
    }


class Gathering:
    """The objects of one program in which it gathers host data, and what it puts where.

    Args:
        candidates: the variables that :func:`gathering` found.
        puts: the writes to copies of globals and to these objects.
        sources: the expressions that each variable is bound to.
        borrows: whether a variable may hold the host's own data.
        is_unshared: see :func:`gathering`.
    """

    def __init__(
        self,
        candidates: set[bound.Variable],
        puts: Sequence[Put],
        sources: Mapping[bound.Variable, Sequence[Any]],
        borrows: Callable[[bound.Variable], bool],
        is_unshared: Callable[[Any], bool],
    ) -> None:
        self._puts = puts
        self._variables = candidates - {put.root for put in puts if len(put.path) > 1}
        self._literals = {id(sources[variable][0]): variable for variable in self._variables}
        self._borrows = borrows
        self._is_unshared = is_unshared

    def is_gathered(self, node: Any) -> bool:
        """Whether an expression is such an object, or reads one."""
        if isinstance(node, bound.ReadVariable):
            return node.variable in self._variables and self._borrows(node.variable)
        variable = self._literals.get(id(node))
        return variable is not None and self._borrows(variable)

    def may_be_put(self, value: Any) -> bool:
        """Whether host data or a gathered object may be put as it is where the program puts it.

        Nothing may be written to parts of host data there. Gathered objects may get new values,
        but are not put into one another, so that none contains itself.
        """
        is_gathered = self.is_gathered(value)
        return not any(
            self._may_change(put, other, is_gathered=is_gathered)
            for put in self._puts
            if put.value is value
            for other in self._puts
            if other.root is put.root
        ) and not (is_gathered and self._is_put_into_gathered(value))

    def _is_put_into_gathered(self, value: Any) -> bool:
        return any(put.root in self._variables for put in self._puts if put.value is value)

    def _may_change(self, put: Put, other: Put, *, is_gathered: bool) -> bool:
        """Whether another write may change what was put, or parts of it."""
        below = len(other.path) - len(put.path)
        if below <= 0 or not overlap(put.path, other.path):
            return False
        return not (is_gathered and below == 1 and self._is_unshared(other.value))
