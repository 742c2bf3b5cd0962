"""Points-to analysis: which objects and arrays may an expression of a program be?

Objects are named by the expressions that create them. Reading a global creates a copy of host data;
its name stands for the copy and all of its parts. The order of statements is ignored, so the
answers hold at any time; fields with constant names are kept apart.

Source: docs/spec/hog-language.md#4-values (objects and arrays are references).
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import HANDS_ON, LAMBDA_PARAMETER
from hoglet.hog.python.analysis.paths import ANY_KEY
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.visitor import declared_by, parts

type Objects = set[int]
"""Names of objects: the identities of the nodes that create them."""

_MAX_NODES: Final = 4000
_MAX_PASSES: Final = 30  # real programs need two to five
_MAX_HELD: Final = 5000
_STRETCH: Final = 256  # nodes between two looks at the size
_DEEP: Final = frozenset({"JSONExtract", "JSONExtractArrayRaw"})  # return parts of parts
_KEYS: Final = object()  # the field that stands for the keys of an object
_NEW: Final = (bound.MakeObject, bound.MakeArray, bound.MakeTuple, bound.SqlNode)


class Aliases:
    """The objects that the expressions of one program may be.

    Attributes:
        is_known: false if the program is very large or entangled, or calls functions that are
            values; then :meth:`of` says nothing.

    Args:
        facts: type facts about the program.
        host_names: names of host functions, which hide library functions.
        lambda_of: returns the lambda that a call of ``arrayMap`` or a similar function is given.
        tables: identities of literals that are named like copies of host data.
    """

    def __init__(
        self,
        facts: TypeFacts,
        host_names: frozenset[str],
        lambda_of: Callable[[Any], bound.BoundFunction | None],
        tables: Collection[int] = (),
    ) -> None:
        self._tables = tables
        self._facts = facts
        self._host_names = host_names
        self._lambda_of = lambda_of
        self._variables = defaultdict[bound.Variable, Objects](set)
        self._results = defaultdict[int, Objects](set)
        self._fields = defaultdict[int, dict[Any, Objects]](dict)
        self._copies: Objects = set()
        self._thrown: Objects = set()
        is_small = sum(map(len, facts.own.values())) <= _MAX_NODES
        self.is_known = is_small and self._calls_are_known() and self._solve()

    def of(self, node: Any) -> Objects:  # noqa: PLR0911 (one line a node)
        """The objects and arrays that an expression may be; empty if it is always a scalar."""
        match node:
            case bound.ReadVariable():
                return self._variables[node.variable]
            case bound.ReadGlobal():
                return {id(node)}
            case bound.GetProperty():
                key = node.key.value if isinstance(node.key, bound.Constant) else ANY_KEY
                return self._read(self.of(node.target), key)
            case bound.Conditional():
                return self.of(node.then) | self.of(node.otherwise)
            case bound.IfNull():
                return self.of(node.value) | self.of(node.fallback)
            case bound.CallGlobal():
                return self._called(node)
            case bound.CallValue():
                function = self._facts.callee(node)
                return set() if function is None else self._results[function.number]
            case _:
                return {id(node)} if isinstance(node, _NEW) else set()

    def of_variable(self, variable: bound.Variable) -> Objects:
        """:meth:`of` a read of the variable."""
        return self._variables[variable]

    def within(self, objects: Objects) -> Objects:
        """The objects that are items or values of fields of these."""
        return self._read(objects, ANY_KEY)

    # --- calls

    def _calls_are_known(self) -> bool:
        """Whether each call of a value reaches a known function, and each function known calls."""
        known = {0, *(function.number for function in self._facts.direct.values())}
        for nodes in self._facts.own.values():
            for node in nodes:
                if isinstance(node, bound.CallValue):
                    function = self._facts.callee(node)
                    if function is None:
                        return False
                    if isinstance(node.callee, bound.MakeFunction):
                        known.add(function.number)
                elif isinstance(node, bound.CallGlobal) and node.name not in self._host_names:
                    function = self._lambda_of(node)
                    if function is not None:
                        known.add(function.number)
                    elif node.name in LAMBDA_PARAMETER or node.name in _DEEP:
                        return False
        return known.issuperset(self._facts.functions)

    def _called(self, node: bound.CallGlobal) -> Objects:
        function = self._lambda_of(node)
        if function is not None and node.name == "arrayReduce":
            return self._all(node.arguments[2:]) | self._results[function.number]
        if node.name in HANDS_ON and node.name not in self._host_names:
            return {id(node)} | self._handed_on(node)
        return {id(node)}

    def _handed_on(self, node: bound.CallGlobal) -> Objects:
        given = self._all(node.arguments)
        return given | self.within(given)

    def _all(self, nodes: Iterable[Any]) -> Objects:
        return set[int]().union(*map(self.of, nodes))

    # --- fields

    def _read(self, objects: Objects, key: Any) -> Objects:
        result = objects & self._copies
        for name in objects:
            fields = self._fields[name]
            if type(key) is str:
                result = result | fields.get(key, set()) | fields.get(ANY_KEY, set())
            else:
                result = result.union(
                    *(held for field, held in fields.items() if field is not _KEYS)
                )
        return result

    def _put(self, objects: Iterable[int], key: Any, added: Objects) -> None:
        for name in objects:
            self._fields[name].setdefault(key, set()).update(added)

    def _put_at(self, objects: Iterable[int], key: Any, value: Any) -> None:
        """Put a value at a key that is an expression."""
        objects = set(objects)
        is_text = isinstance(key, bound.Constant) and type(key.value) is str
        self._put(objects, key.value if is_text else ANY_KEY, self.of(value))
        self._put(objects, _KEYS, self.of(key))

    # --- the smallest solution

    def _solve(self) -> bool:
        """Whether the solution was found within the limits."""
        nodes = [(number, node) for number, own in self._facts.own.items() for node in own]
        self._copies = {id(node) for _, node in nodes if self._is_copy(node)}
        stretches = [nodes[start : start + _STRETCH] for start in range(0, len(nodes), _STRETCH)]
        size = -1
        for _ in range(_MAX_PASSES):
            before = size
            for stretch in stretches:
                for number, node in stretch:
                    self._flow(number, node)
                size = self._count()
                if size > _MAX_HELD:
                    return False
            if size == before:
                return True
        return False

    def _is_copy(self, node: Any) -> bool:
        """Whether a node creates an object of which all parts have its name."""
        if isinstance(node, bound.CallGlobal):
            is_own = self._lambda_of(node) is not None or node.name in HANDS_ON | {"keys"}
            return node.name in self._host_names or not is_own
        return isinstance(node, bound.ReadGlobal) or id(node) in self._tables

    def _count(self) -> int:
        held = [*self._variables.values(), *self._results.values(), self._thrown]
        held += [objects for fields in self._fields.values() for objects in fields.values()]
        return sum(map(len, held))

    def _flow(self, number: int, node: Any) -> None:
        """Add what a node of a function assigns, passes and returns."""
        match node:
            case bound.Declare() | bound.AssignVariable():
                self._variables[node.variable] |= self.of(node.value)
            case bound.ForIn():
                objects = self.of(node.collection)
                self._variables[node.value] |= self.within(objects)
                if node.key is not None:
                    self._variables[node.key] |= self._keys_of(objects)
            case bound.CallGlobal():
                self._flow_call(node)
            case bound.CallValue():
                self._pass(self._facts.callee(node), [self.of(item) for item in node.arguments])
            case bound.Return():
                self._results[number] |= self.of(node.value)
            case bound.Throw():
                self._thrown |= self.of(node.value)
            case bound.Try():
                for variable in declared_by(node):
                    self._variables[variable] |= self._thrown
            case _:
                self._flow_into_fields(node)

    def _flow_into_fields(self, node: Any) -> None:
        match node:
            case bound.AssignProperty():
                self._put_at(self.of(node.target), node.key, node.value)
            case bound.MakeObject():
                for key, value in node.items:
                    self._put_at({id(node)}, key, value)
            case bound.MakeArray() | bound.MakeTuple():
                self._put({id(node)}, ANY_KEY, self._all(node.items))
            case bound.SqlNode():
                self._put({id(node)}, ANY_KEY, self._spliced(node))
            case _:
                pass

    def _flow_call(self, node: bound.CallGlobal) -> None:
        function = self._lambda_of(node)
        if function is not None:
            items, results = self.within(self.of(node.arguments[1])), self._results[function.number]
            start = self._all(node.arguments[2:]) | results
            self._pass(function, [start, items] if node.name == "arrayReduce" else [items])
            if node.name in {"arrayMap", "arrayFilter"}:
                self._put({id(node)}, ANY_KEY, results if node.name == "arrayMap" else items)
        elif node.name == "keys":
            self._put({id(node)}, ANY_KEY, self._keys_of(self._all(node.arguments)))
        elif node.name in HANDS_ON:
            self._put({id(node)}, ANY_KEY, self._handed_on(node))

    def _pass(self, function: bound.BoundFunction | None, given: list[Objects]) -> None:
        if function is not None:
            for parameter, objects in zip(function.parameters, given, strict=False):
                self._variables[parameter] |= objects

    def _keys_of(self, objects: Objects) -> Objects:
        return set[int]().union(*(self._fields[name].get(_KEYS, set()) for name in objects))

    def _spliced(self, node: Any) -> Objects:
        """The objects that an SQL tree contains."""
        result = set[int]()
        for part in parts(node):
            inner = self._spliced(part) if isinstance(part, _SQL) else self.of(part)
            result |= inner
        return result


_SQL: Final = (bound.SqlNode, bound.SqlList, bound.SqlMap, bound.SqlScalar)


class DistinguishedParts:
    """The variables of which a program can distinguish parts from copies of them.

    It can if it writes to such a part, or compares two values that may be the same part.

    Args:
        aliases: which objects expressions may be.
        written: targets of writes.
        compared: pairs of values that are compared, or searched for each other, by identity.
    """

    def __init__(
        self, aliases: Aliases, written: Iterable[Any], compared: Iterable[tuple[Any, Any]]
    ) -> None:
        self._aliases = aliases
        self._written = set[int]()
        self._compared = set[int]()
        if aliases.is_known:
            self._written.update(*map(aliases.of, written))
            for left, right in compared:
                first, second = aliases.of(left), aliases.of(right)
                same = (aliases.within(first) & second) | (first & aliases.within(second))
                self._compared |= same | (first & second)

    def has_written(self, variable: bound.Variable) -> bool:
        """Whether the program may write to a part of the variable's value."""
        return self._meets(variable, self._written)

    def has_compared(self, variable: bound.Variable) -> bool:
        """Whether the program may compare parts of the variable's value."""
        return self._meets(variable, self._compared)

    def _meets(self, variable: bound.Variable, objects: Objects) -> bool:
        if not self._aliases.is_known:
            return True
        own = self._aliases.of_variable(variable)  # of a filtered array, the items are parts
        return not objects.isdisjoint(own | self._aliases.within(own))
