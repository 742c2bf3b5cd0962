"""Finds expressions that are certainly not objects, and comparisons of values that may be."""

from collections.abc import Sequence
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import BY_IDENTITY
from hoglet.hog.python.analysis.scalar_flow import ScalarFlow
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.visitor import parts
from hoglet.hog.stdlib.table import STL

_SCALARS: Final = frozenset("ZCKFBSN")
_SCALAR_TYPES: Final = frozenset(
    {"string", "string?", "number", "number?", "boolean", "boolean?", "null"}
)

_OF_TEXTS: Final = frozenset({"splitByString", "sortableSemver"})
"""Library functions that return a new array of texts or numbers, or null."""

_LOOKS: Final = frozenset({"length", "arrayStringConcat", "has", "indexOf", "empty", "notEmpty"})
"""Library functions that neither change nor return an array."""


class Scalars:
    """The scalar expressions of one program.

    Args:
        facts: type facts about the program.
        host_names: names of host functions, which hide library functions.
        nodes: all nodes of the program.
    """

    def __init__(self, facts: TypeFacts, host_names: frozenset[str], nodes: Sequence[Any]) -> None:
        self._facts = facts
        self._host_names = host_names
        self._nodes = nodes
        self._texts = set[bound.Variable]()
        self._texts = self._find_texts()
        self._keys = self._find_keys()
        self._flow = ScalarFlow(facts, self._is_certain_alone, nodes)

    def is_certain(self, node: Any) -> bool:
        """Whether a value is certainly not an object, array or date."""
        if isinstance(node, bound.Conditional):
            return self.is_certain(node.then) and self.is_certain(node.otherwise)
        if isinstance(node, bound.IfNull):
            return self.is_certain(node.value) and self.is_certain(node.fallback)
        if isinstance(node, bound.ReadVariable) and self._flow.holds_scalars(node.variable):
            return True
        if isinstance(node, bound.CallValue) and self._flow.returns_scalars(node):
            return True
        return self._is_certain_alone(node)

    def _is_certain_alone(self, node: Any) -> bool:
        """:meth:`is_certain` whatever variables that are of no single kind hold."""
        if isinstance(node, bound.CallGlobal) and node.name not in self._host_names:
            entry = STL.get(node.name)
            return entry is not None and entry.types.rpartition("-> ")[2] in _SCALAR_TYPES
        if isinstance(node, bound.GetProperty) and self._makes_texts(node.target):
            return True
        return self.is_scalar(node) and not isinstance(node, bound.MakeArray | bound.MakeTuple)

    def _makes_texts(self, node: Any) -> bool:
        """Whether a value is an array of texts, and nothing else can refer to it."""
        if isinstance(node, bound.ReadVariable):
            return node.variable in self._texts
        return (
            isinstance(node, bound.CallGlobal)
            and node.name in _OF_TEXTS
            and node.name not in self._host_names
        )

    def _find_texts(self) -> set[bound.Variable]:
        """Variables with arrays of texts that are only looked at."""
        arrays = {
            node.variable: 0
            for node in self._nodes
            if isinstance(node, bound.Declare)
            and not node.variable.assigned
            and self._makes_texts(node.value)
        }
        if arrays:
            for node in self._nodes:
                for part in parts(node):
                    if isinstance(part, bound.ReadVariable) and part.variable in arrays:
                        arrays[part.variable] += not self._only_looks(node, part)
        return {variable for variable, uses in arrays.items() if not uses}

    def _only_looks(self, node: Any, part: Any) -> bool:
        if isinstance(node, bound.GetProperty):
            return part is node.target
        return isinstance(node, bound.ForIn) or (
            isinstance(node, bound.CallGlobal)
            and node.name in _LOOKS
            and node.name not in self._host_names
        )

    def compared_by_identity(self, node: Any) -> tuple[Any, Any] | None:
        """The two values that a node compares, if both may be objects."""
        match node:
            case bound.Compare(operator="==" | "!=" | "in" | "not in"):
                operands = (node.left, node.right)
            case bound.CallGlobal() if node.name in BY_IDENTITY and len(node.arguments) == 2:
                operands = node.arguments
            case _:
                return None
        if any(self.is_scalar(operand) or self.is_certain(operand) for operand in operands):
            return None
        return operands[0], operands[1]

    def is_scalar(self, node: Any) -> bool:
        """Whether a value is not an object, or is a collection of literals."""
        if isinstance(node, bound.MakeArray | bound.MakeTuple):
            return all(isinstance(item, bound.Constant) for item in node.items)
        if isinstance(node, bound.ReadVariable) and (
            node.variable in self._keys or node.variable in self._facts.literals
        ):
            return True
        return (self._facts.kind(node) or "N") in _SCALARS

    def _find_keys(self) -> set[bound.Variable]:
        """Variables that only hold scalar keys; objects can be keys if the program makes them."""
        keys = {
            node.key
            for node in self._nodes
            if isinstance(node, bound.ForIn) and node.key is not None and not node.key.assigned
        }
        written = [node.key for node in self._nodes if isinstance(node, bound.AssignProperty)]
        for node in self._nodes:
            if isinstance(node, bound.MakeObject):
                written += [key for key, _ in node.items]
        is_scalar = all(
            (isinstance(key, bound.ReadVariable) and key.variable in keys)
            or (self._facts.kind(key) or "N") in _SCALARS
            for key in written
        )
        return keys if is_scalar else set()
