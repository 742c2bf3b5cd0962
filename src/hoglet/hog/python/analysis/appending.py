"""Finds arrays that ``a := arrayPushBack(a, x)`` may append to, instead of copying them.

Nothing else may refer to the array when an item is appended. So the variable is bound only to new
arrays and to such calls, inner functions do not use it, and the array is stored or passed on only
where no item can be appended to it any more.
"""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.paths import path_of_write
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.visitor import LEAVES, parts

_NEW: Final = frozenset(
    {
        "arrayMap", "arrayFilter", "arraySort", "arrayReverseSort", "arrayReverse", "keys",
        "values", "range", "arrayPushBack", "arrayPushFront", "arrayPopBack", "arrayPopFront",
    }
)  # fmt: skip
"""Library functions that always return a new array."""

_ONLY_READ: Final = frozenset(
    {
        "length", "empty", "notEmpty", "has", "indexOf", "arrayStringConcat", "arraySort",
        "typeof", "arrayReverse", "arrayExists", "arrayCount", "jsonStringify", "print",
        "isNull", "isNotNull",
    }
)  # fmt: skip
"""Library functions whose result does not contain their argument, only its items."""

_LOOKS: Final = frozenset(
    {bound.GetProperty, bound.Compare, bound.And, bound.Or, bound.Not, bound.If, bound.ForIn}
)
_LOOPS: Final = frozenset({bound.While, bound.For, bound.ForIn})


class _Uses:
    """How a variable is used; positions count the nodes of its function in their order."""

    def __init__(self) -> None:
        self.declared_in: Any = None
        self.is_new = True
        self.last_append = -1
        self.last_write = -1
        self.handed_on: list[tuple[int, Any]] = []

    def is_alone(self, until: int) -> bool:
        """Whether nothing else refers to the variable's value up to a position."""
        return (
            self.is_new
            and self.declared_in is not None
            and all(
                position > until and loop is self.declared_in for position, loop in self.handed_on
            )
        )


class ArrayUses:
    """How each function of a program uses the variables that it binds.

    Args:
        facts: type facts about the program.
        host_names: names of host functions, which hide library functions.
    """

    def __init__(self, facts: TypeFacts, host_names: frozenset[str]) -> None:
        self._facts = facts
        self._uses: dict[int, dict[bound.Variable, _Uses]] = {}
        for number, function in facts.functions.items():
            uses = self._uses[number] = {}
            _walk(function.body, function, uses, [0], host_names)

    def appended(self) -> set[bound.Variable]:
        """The variables whose arrays may be appended to."""
        kinds = self._facts.variables
        return {
            variable
            for uses in self._uses.values()
            for variable, use in uses.items()
            if use.last_append >= 0 and use.is_alone(use.last_append)
            if kinds.get(variable) == "L" and not variable.captured
        }

    def alone(self, function: int) -> set[bound.Variable]:
        """Variables of a function with new arrays or objects, handed on after the last write."""
        kinds = self._facts.variables
        return {
            variable
            for variable, use in self._uses[function].items()
            if use.is_alone(max(use.last_write, use.last_append))
            if kinds.get(variable) in {"L", "D"} and not variable.captured
        }


def _walk(
    node: Any,
    loop: Any,
    uses: dict[bound.Variable, _Uses],
    count: list[int],
    host_names: frozenset[str],
) -> None:
    """Collect the uses in a node; ``loop`` is the innermost loop around it."""
    count[0] += 1
    read = _reads(node, host_names)
    inside = node if type(node) in _LOOPS else loop
    before = node.initializer if isinstance(node, bound.For) else None
    for part in parts(node):
        if isinstance(part, bound.BoundFunction):
            continue
        if isinstance(part, bound.ReadVariable) and id(part) not in read:
            use = uses.setdefault(part.variable, _Uses())
            use.handed_on.append((count[0], loop))
        elif type(part) in LEAVES:
            continue
        _walk(part, loop if part is before else inside, uses, count, host_names)
    count[0] += 1
    if isinstance(node, bound.Declare):
        use = uses.setdefault(node.variable, _Uses())
        use.declared_in = loop
        use.is_new = use.is_new and not node.early and _makes_new(node.value, host_names)
    elif isinstance(node, bound.AssignVariable):
        use = uses.setdefault(node.variable, _Uses())
        use.is_new = use.is_new and _makes_new(node.value, host_names)
        if appended_item(node) is not None and use.is_new:
            use.last_append = count[0]
    elif isinstance(node, bound.AssignProperty):
        variable, _ = path_of_write(node)
        if variable is not None:
            uses.setdefault(variable, _Uses()).last_write = count[0]


def appended_item(node: bound.AssignVariable) -> Any:
    """The ``x`` of ``a := arrayPushBack(a, x)``; None for other statements."""
    value = node.value
    if not isinstance(value, bound.CallGlobal) or value.name != "arrayPushBack":
        return None
    if len(value.arguments) != 2:
        return None
    head, item = value.arguments
    is_same = isinstance(head, bound.ReadVariable) and head.variable is node.variable
    return item if is_same else None


def _makes_new(node: Any, host_names: frozenset[str]) -> bool:
    if isinstance(node, bound.CallGlobal):
        return node.name in _NEW and node.name not in host_names
    return isinstance(node, bound.MakeArray | bound.MakeObject)


def _reads(node: Any, host_names: frozenset[str]) -> set[int]:
    """The parts of a node that it neither stores nor passes on."""
    kind = type(node)
    if kind is bound.CallGlobal:
        if node.name in host_names:
            return set(map(id, node.arguments))  # the host gets a copy
        if node.name in _ONLY_READ:
            return set(map(id, node.arguments[:1] if node.name == "has" else node.arguments))
        if node.name in _NEW:
            return set(map(id, node.arguments[:1] if "Push" in node.name else node.arguments))
        return set()
    if kind is bound.AssignProperty:
        return {id(node.target), id(node.key)}
    return set(map(id, parts(node))) if kind in _LOOKS else set()
