"""Static type facts about values.

A *kind* is a promise about the Python value behind an expression:

=====  ==========================================================================================
kind   promise
=====  ==========================================================================================
``Z``  an int literal below 2^31, which may be printed as a float where that helps
``C``  an int far within ±2^53: a literal, a length, or one of these plus small literals; a run
       is too short to count from there to 2^53, so no check for overflow is needed
``K``  a number, probably an int; never an int beyond ±2^53
``F``  a float
``B``  a bool
``S``  a str
``L``  a list (an array, not a tuple)
``D``  a dict (an object)
``N``  None
``E``  a HogError
``A``  any value
=====  ==========================================================================================

Kinds of variables, parameters and results are computed as a fixed point: it starts without any
kinds and joins those of all assignments and calls until nothing changes.
"""

from collections.abc import Collection
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import LAMBDA_PARAMETER, lambda_argument
from hoglet.hog.python.analysis.loop_shapes import loop_shape
from hoglet.hog.python.analysis.naturals import (
    find_naturals,
    is_divisor,
    is_natural,
    is_small_multiple,
)
from hoglet.hog.python.analysis.unchanged import find_literals, find_sources
from hoglet.hog.python.analysis.visitor import (
    always_returns,
    declared_by,
    everything,
    own_nodes,
)
from hoglet.hog.python.analysis.worklist import Worklist
from hoglet.hog.stdlib.table import STL

SMALL_STEP: Final = 65_536
SMALL_LITERAL: Final = 2**31
_MOST_TEXTS: Final = 256
NUMBERS: Final = frozenset("ZCKF")
_RANK: Final = {"Z": 0, "C": 1, "K": 2, "F": 3}


def join(first: str | None, second: str | None) -> str | None:
    """The kind of values of either kind."""
    if first is None or first == second:
        return second
    if second is None:
        return first
    if first in NUMBERS and second in NUMBERS:
        return first if _RANK[first] > _RANK[second] else second
    return "A"


def constant_kind(value: Any) -> str:
    """The kind of a literal."""
    if value is None:
        return "N"
    if isinstance(value, bool):
        return "B"
    if isinstance(value, int):
        return "Z" if abs(value) < SMALL_LITERAL else ("K" if abs(value) <= 2**53 else "F")
    return "F" if isinstance(value, float) else "S"


def arithmetic_kind(
    left: str, right: str, node: bound.Arithmetic, naturals: Collection[bound.Variable] = ()
) -> str:
    """The kind of an operation's result; every operation returns a number.

    ``naturals`` are counters, see :mod:`hoglet.hog.python.analysis.naturals`.
    """
    operator = node.operator
    if operator == "/":
        return "F"
    if operator == "%":
        is_counted = left in "ZC" and is_divisor(node.right) and is_natural(node.left, naturals)
        return "C" if is_counted else "K"
    if left in "ZC" and right in "ZC" and is_small_multiple(node, naturals):
        return "C"
    if "F" in (left, right):
        return "F"
    if (
        operator in "+-"
        and left in "ZC"
        and right in "ZC"
        and (_small(node.left) or _small(node.right))
    ):
        return "C"
    return "K"


def _small(node: Any) -> bool:
    return (
        isinstance(node, bound.Constant)
        and type(node.value) is int
        and abs(node.value) <= SMALL_STEP
    )


def _is_text(node: Any) -> bool:
    return isinstance(node, bound.Constant) and isinstance(node.value, str)


def _has_text_keys(node: Any) -> bool:
    return isinstance(node, bound.MakeObject) and all(_is_text(key) for key, _ in node.items)


class TypeFacts:
    """The facts about a program.

    Attributes:
        variables: kind of each variable.
        results: kind of what each function returns, by number.
        direct: functions that are only ever called by their name: variable to function.
        loops: variables declared inside a loop of their own function.
        lengths: variables that are always the result of one call of ``length``, maybe null.
        counted_down: counters of loops from a length down, which only run if it is not null;
            none if the program is traced, because such loops are printed as ranges.
        recursive: variables that functions inside their own value use.
        literals: variables whose value is always this array or object of literals.
        sources: variables whose value is always the unchanged result of this call, such as of
            ``range``, which tells the kind of its items.
        naturals: counters that are never negative.
    """

    def __init__(
        self,
        functions: tuple[bound.BoundFunction, ...],
        host_names: frozenset[str],
        *,
        trace: bool = False,
    ) -> None:
        self.functions = {function.number: function for function in functions}
        self.host_names, self._trace = host_names, trace
        self.variables: dict[bound.Variable, str | None] = {}
        self.results: dict[int, str | None] = {}
        self.direct: dict[bound.Variable, bound.BoundFunction] = {}
        self.loops: set[bound.Variable] = set()
        self.lengths: set[bound.Variable] = set()
        self.counted_down: set[bound.Variable] = set()
        self.recursive: set[bound.Variable] = set()
        self.own = {f.number: list(own_nodes(f)) for f in functions}
        self._nodes = [node for nodes in self.own.values() for node in nodes]
        self._final: dict[int, str | None] | None = None
        self._find_direct()
        self._find_loops()
        self.literals = find_literals(self._nodes, host_names)
        self.sources = find_sources(self._nodes, host_names)
        self.naturals = find_naturals(self._nodes, self.sources, host_names)
        self._settle()

    # --- functions that are called by name only

    def _find_direct(self) -> None:
        candidates: dict[bound.Variable, bound.BoundFunction] = {}
        for node in self._nodes:
            if isinstance(node, bound.DeclareFunction):
                if node.variable in node.function.captures:
                    self.recursive.add(node.variable)
                if not node.variable.assigned:
                    candidates[node.variable] = node.function
            if isinstance(node, bound.Declare) and not node.variable.assigned:
                value = node.value
                if isinstance(value, bound.MakeFunction):
                    candidates[node.variable] = value.function
            if isinstance(node, bound.Declare) and node.recursive:
                self.recursive.add(node.variable)
        self.named = dict(candidates)
        callees = {
            id(node.callee)
            for node in self._nodes
            if isinstance(node, bound.CallValue) and isinstance(node.callee, bound.ReadVariable)
        }
        for node in self._nodes:
            if isinstance(node, bound.ReadVariable) and id(node) not in callees:
                candidates.pop(node.variable, None)
        self.direct = candidates
        self._closed = {function.number for function in candidates.values()}

    def callee(self, node: bound.CallValue) -> bound.BoundFunction | None:
        """The function that a call always reaches, if known."""
        if isinstance(node.callee, bound.ReadVariable):
            return self.named.get(node.callee.variable)
        if isinstance(node.callee, bound.MakeFunction):
            return node.callee.function
        return None

    # --- variables of loops

    def _find_loops(self) -> None:
        for function in self.functions.values():
            for node in self.own[function.number]:
                if isinstance(node, bound.While | bound.For | bound.ForIn):
                    self._mark_loop(node)
                if isinstance(node, bound.For) and not self._trace:
                    self._find_counted_down(node)
                elif isinstance(node, bound.Declare) and self._is_length(node.value):
                    self.lengths.update([] if node.variable.assigned else [node.variable])

    def _find_counted_down(self, node: bound.For) -> None:
        shape = loop_shape(node)
        if shape is None or not -SMALL_STEP <= shape.step < 0 or not self._is_length(shape.start):
            return
        match shape.limit:
            case bound.Constant(value=int(limit)) if abs(limit) < SMALL_LITERAL:
                self.counted_down.add(shape.variable)
            case _:
                pass

    def _is_length(self, node: Any) -> bool:
        return (
            isinstance(node, bound.CallGlobal)
            and node.name == "length"
            and len(node.arguments) == 1
            and node.name not in self.host_names
        )

    def _mark_loop(self, loop: Any) -> None:
        for node in everything(loop, into_functions=False):
            self.loops.update(declared_by(node))

    # --- the fixed point

    def _settle(self) -> None:
        items = {
            function.parameters[index]
            for node in self._nodes
            if (function := lambda_argument(node, self.host_names)) is not None
            and (index := LAMBDA_PARAMETER[node.name]) < len(function.parameters)
        }
        for function in self.functions.values():
            if function.number not in self._closed:
                for parameter in function.parameters:
                    self.variables[parameter] = None if parameter in items else "A"
        for number, function in self.functions.items():
            self.results[number] = None if always_returns(function.body) else "N"
        self._worklist = Worklist(
            (number, node)
            for number, nodes in self.own.items()
            for node in nodes
            if isinstance(node, _TEACHING)
        )
        self._worklist.run(lambda rule: self._learn(*rule))
        self._final = {}

    def _meet(self, variable: bound.Variable, kind: str | None) -> None:
        known = self.variables.get(variable)
        self.variables[variable] = joined = join(known, kind)
        if joined != known:
            self._worklist.changed(variable)

    def _learn(self, number: int, node: Any) -> None:
        """Learn from a node of a function."""
        if isinstance(node, bound.Declare):
            self._meet(node.variable, self._declared_kind(node))
            if node.early:
                self._meet(node.variable, "N")
        elif isinstance(node, bound.AssignVariable):
            self._meet(node.variable, self.kind(node.value))
        elif isinstance(node, bound.DeclareFunction):
            self._meet(node.variable, "A")
        elif isinstance(node, bound.ForIn | bound.CallGlobal):
            self._learn_items(node)
        elif isinstance(node, bound.Try):
            for variable in declared_by(node):
                self._meet(variable, "A" if variable is node.error_type else "E")
        elif isinstance(node, bound.CallValue):
            self._learn_call(node)
        else:
            self._learn_result(number, node)

    def _declared_kind(self, node: bound.Declare) -> str | None:
        if node.variable in self.counted_down:
            return "C"
        return "N" if node.value is None else self.kind(node.value)

    def _learn_items(self, node: bound.ForIn | bound.CallGlobal) -> None:
        """Learn what a loop binds, or a library function passes to the lambda in its call."""
        if isinstance(node, bound.ForIn):
            self._meet(node.value, self._item_kind(node.collection))
            if node.key is not None:
                self._meet(node.key, self._key_kind(node.collection))
            return
        function = lambda_argument(node, self.host_names)
        if function is not None and function.parameters:
            index = LAMBDA_PARAMETER[node.name]
            if index < len(function.parameters):
                self._meet(function.parameters[index], self._item_kind(node.arguments[1]))

    def _key_kind(self, node: Any) -> str | None:
        """The kind of the keys of a collection; those of arrays are counted from 0."""
        literal = self._literal(node)
        if _has_text_keys(literal):
            return "S"
        kind = self.kind(node)
        return None if kind is None else ("C" if kind == "L" else "A")

    def _item_kind(self, node: Any) -> str | None:
        """The kind of the items of a collection."""
        if isinstance(node, bound.ReadVariable) and node.variable in self.sources:
            node = self.sources[node.variable]
        if isinstance(node, bound.CallGlobal) and node.name not in self.host_names:
            return self._returned_item_kind(node)
        literal = self._literal(node)
        if isinstance(literal, bound.MakeArray) and all(map(_is_text, literal.items)):
            return "S"
        if isinstance(literal, bound.MakeObject) and all(
            _is_text(item) for _, item in literal.items
        ):
            return "S"
        return "A"

    def _returned_item_kind(self, node: bound.CallGlobal) -> str | None:
        """The kind of the items that a library function returns."""
        match node:
            case bound.CallGlobal(name="splitByString"):
                return "S"
            case bound.CallGlobal(name="range", arguments=(_,)):
                return "C"  # from 0, no further than its memory allows
            case bound.CallGlobal(name="range", arguments=(first, _)):
                kind = self.kind(first)
                return None if kind is None else ("C" if kind in "ZC" else "A")
            case bound.CallGlobal(name="arrayFilter", arguments=(_, items)):
                return self._item_kind(items)
            case _:
                return "A"

    def is_literal(self, node: Any, *, pairs: bool) -> bool:
        """Whether a variable is an array, or an object of ``pairs``, that never changes."""
        literal = self._literal(node)
        if literal is node:
            return False
        return _has_text_keys(literal) if pairs else isinstance(literal, bound.MakeArray)

    def texts(self, node: Any) -> list[str] | None:
        """The strings of a short array or tuple of strings that never changes, else None."""
        literal = self._literal(node)
        if not isinstance(literal, bound.MakeArray | bound.MakeTuple):
            return None
        values = [item.value for item in literal.items if isinstance(item, bound.Constant)]
        texts = [value for value in values if isinstance(value, str)]
        is_short = 0 < len(texts) <= _MOST_TEXTS
        return texts if is_short and len(texts) == len(literal.items) else None

    def _literal(self, node: Any) -> Any:
        """The array or object of literals that an expression returns; else the expression."""
        return self.literals.get(node.variable) if isinstance(node, bound.ReadVariable) else node

    def _learn_call(self, node: bound.CallValue) -> None:
        function = self.callee(node)
        if function is None or function.number not in self._closed:
            return
        for index, parameter in enumerate(function.parameters):
            given = index < len(node.arguments)
            self._meet(parameter, self.kind(node.arguments[index]) if given else "N")

    def _learn_result(self, number: int, node: bound.Return) -> None:
        known = self.results[number]
        joined = join(known, "N" if node.value is None else self.kind(node.value))
        if joined != known:
            self.results[number] = joined
            self._worklist.changed(number)

    def kind(self, node: Any) -> str | None:
        """The kind of an expression, None while nothing is known."""
        if self._final is None:
            return self._kind(node)
        if id(node) not in self._final:
            self._final[id(node)] = self._kind(node)
        return self._final[id(node)]

    def _kind(self, node: Any) -> str | None:  # noqa: C901, PLR0911 (one line a node)
        match node:
            case bound.Constant():
                return constant_kind(node.value)
            case bound.ReadVariable():
                self._worklist.read(node.variable)
                known = self.variables.get(node.variable)
                return "C" if known == "Z" else known
            case bound.Arithmetic():
                left, right = self.kind(node.left), self.kind(node.right)
                if left is None or right is None:
                    return None
                return arithmetic_kind(left, right, node, self.naturals)
            case bound.And() | bound.Or() | bound.Not() | bound.Compare() | bound.Between():
                return "B"
            case bound.Conditional():
                return join(self.kind(node.then), self.kind(node.otherwise))
            case bound.IfNull():
                value = self.kind(node.value)
                return join(None if value == "N" else value, self.kind(node.fallback))
            case bound.MakeArray():
                return "L"
            case bound.MakeObject():
                return "D"
            case bound.CallValue():
                return self._result_kind(node)
            case bound.CallGlobal():
                return self._library_kind(node)
            case _:
                return "A"

    def _result_kind(self, node: bound.CallValue) -> str | None:
        function = self.callee(node)
        if function is None:
            return "A"
        self._worklist.read(function.number)
        return self.results.get(function.number)

    def _library_kind(self, node: bound.CallGlobal) -> str | None:
        entry = STL.get(node.name)
        if entry is None or node.name in self.host_names:
            return "A"
        if node.name == "splitByString" and len(node.arguments) > 1:
            texts = self.kind(node.arguments[0]), self.kind(node.arguments[1])
            return None if None in texts else ("L" if texts == ("S", "S") else "A")
        if node.name == "length" and len(node.arguments) == 1:
            kind = self.kind(node.arguments[0])
            return None if kind is None else ("C" if kind in "SL" else "A")
        return entry.result_kind


_TEACHING: Final = (
    bound.CallGlobal,
    bound.Declare,
    bound.AssignVariable,
    bound.DeclareFunction,
    bound.ForIn,
    bound.Try,
    bound.CallValue,
    bound.Return,
)
