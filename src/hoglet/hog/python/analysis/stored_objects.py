"""Objects of the program that it puts into edited copies of the host's data.

``e.properties := renamed`` puts an object there that the program may still change, by either name.
The copy then holds that object itself, which is what a program without borrowing has, too. But
reading it back from the copy would import it: the program would get another object. So nothing may
look at the places where such objects may be; the copy is only tested, written to and returned.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.paths import overlap
from hoglet.hog.python.analysis.puts import Put

_BINDS: Final = (bound.Declare, bound.AssignVariable, bound.CallValue, bound.Return)
_TESTS: Final = (bound.GetProperty, bound.If, bound.Not, bound.And, bound.Or)


class StoredObjects:
    """The objects of one program in edited copies.

    Args:
        puts: the writes to edited copies.
        is_copied: whether a value is a scalar, or an object that nothing else refers to.
        is_bound: whether a node only gives a part another name, whose uses are looked at, too.
    """

    def __init__(
        self,
        puts: Iterable[Put],
        is_copied: Callable[[Any], bool],
        is_bound: Callable[[Any, Any], bool],
    ) -> None:
        self._puts = [put for put in puts if not isinstance(put.value, bound.Constant)]
        self._is_copied = is_copied
        self._is_bound = is_bound

    def exist(self) -> bool:
        """Whether the program puts any object of its own into a copy."""
        return any(not self._is_copied(put.value) for put in self._puts)

    def only_tests(self, node: Any, part: Any) -> bool:
        """Whether a use of a part neither imports it nor looks through all of it."""
        if isinstance(node, _TESTS):
            return not (isinstance(node, bound.GetProperty) and part is node.key)
        if isinstance(node, bound.Compare):
            return any(
                isinstance(operand, bound.Constant) and operand.value is None
                for operand in (node.left, node.right)
            )
        return isinstance(node, _BINDS) and self._is_bound(node, part)

    def may_be_at(self, variable: bound.Variable, path: tuple[Any, ...] | None) -> bool:
        """Whether such an object may be at a place in a copy, contain it, or be a part of it."""
        return any(
            put.root is variable and overlap(put.path, path) and not self._is_copied(put.value)
            for put in self._puts
        )
