"""Which values are objects that nothing else refers to?

``{'email': person.properties.email}`` and ``arrayPushBack(event.tags, 'new')`` are new objects, and
their parts are scalars or such objects themselves. They may be put into an edited copy of the
host's data like scalars: no later write to another object can reach them.
"""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.scalars import Scalars

_NEW_ARRAYS: Final = frozenset(
    {
        "arrayPushBack", "arrayPushFront", "arrayPopBack", "arrayPopFront", "arraySort",
        "arrayReverseSort", "arrayReverse", "values",
    }
)  # fmt: skip
"""Library functions that return a new array of what is in their arguments."""

_FROM_TEXTS: Final = frozenset({"splitByString", "sortableSemver", "range", "jsonParse"})
"""Library functions that make a new value of texts and numbers."""


class Unshared:
    """The unshared values of one program.

    Args:
        scalars: its scalar expressions.
        host_names: names of host functions, which hide library functions.
    """

    def __init__(self, scalars: Scalars, host_names: frozenset[str]) -> None:
        self._scalars = scalars
        self._host_names = host_names

    def is_new(self, node: Any) -> bool:
        """Whether a value is a scalar, or an object or array of which all parts are unshared."""
        match node:
            case bound.MakeObject():
                return all(_is_usual_key(key) and self.is_new(value) for key, value in node.items)
            case bound.MakeArray():
                return all(map(self.is_new, node.items))
            case bound.Conditional():
                return self.is_new(node.then) and self.is_new(node.otherwise)
            case bound.IfNull():
                return self.is_new(node.value) and self.is_new(node.fallback)
            case bound.CallGlobal() if node.name in _NEW_ARRAYS | _FROM_TEXTS:
                parts = node.arguments if node.name in _NEW_ARRAYS else ()
                return node.name not in self._host_names and all(map(self.is_new, parts))
            case _:
                return _is_read_of_global(node) or self._scalars.is_certain(node)


def _is_usual_key(node: Any) -> bool:
    """Whether a key is a text, and not one that marks the host's form of a date or an error."""
    key = node.value if isinstance(node, bound.Constant) else None
    return isinstance(key, str) and not key.startswith("__")


def _is_read_of_global(node: Any) -> bool:
    """Whether an expression reads a copy of the host's data that is made for it."""
    while isinstance(node, bound.GetProperty):
        node = node.target
    return isinstance(node, bound.ReadGlobal) and not node.library
