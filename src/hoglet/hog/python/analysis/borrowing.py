"""Escape analysis: which variables may hold the host's own data instead of a copy?

A program must not change the host's data, so reading a global returns a copy. Most programs only
read from it: ``let p := event.properties`` and then ``p.plan``. Such a variable *borrows*: it holds
the host's own object, and only the values read from it are imported.

A variable borrows when

- every value it is bound to is read from globals, or from other variables that borrow, or is a
  table of literals, which is made once for all runs;
- nothing is written through it, or only scalars, new objects and copies of the host's data into
  objects at constant paths; the variable then holds copies of just those objects, see
  :attr:`Borrowing.edited`, and other variables may be names of them;
- the program cannot distinguish a part from a copy of it: parts are stored or passed on only if no
  statement changes an object that could be such a part, and none compares objects by identity.

Variables are bound by ``let``, by ``for (k, v in x)``, and as parameters of functions that are only
called by name and of lambdas passed to ``arrayMap`` and similar functions. Those that are assigned
borrow if they walk through the data: ``current := current[part]``.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.aliases import Aliases, DistinguishedParts
from hoglet.hog.python.analysis.bindings import Bindings, walking
from hoglet.hog.python.analysis.edited_places import EditedPlaces
from hoglet.hog.python.analysis.executions import Executions
from hoglet.hog.python.analysis.gathering import Gathering
from hoglet.hog.python.analysis.library import HANDS_ON, LAMBDA_PARAMETER, lambda_argument
from hoglet.hog.python.analysis.paths import keys_in, may_be_at
from hoglet.hog.python.analysis.same_parts import SameParts
from hoglet.hog.python.analysis.scalars import Scalars
from hoglet.hog.python.analysis.stored_objects import StoredObjects
from hoglet.hog.python.analysis.tables import is_data, tables
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.unshared import Unshared
from hoglet.hog.python.analysis.visitor import parts
from hoglet.hog.python.analysis.worklist import Worklist
from hoglet.hog.python.analysis.writes import Writes
from hoglet.hog.python.analysis.written_values import WrittenValues

_TESTS: Final = (
    bound.Arithmetic, bound.And, bound.Or, bound.Not, bound.Between, bound.Compare, bound.If,
    bound.While, bound.For, bound.GetProperty, bound.ExpressionStatement,
)  # fmt: skip


_MAX_WRITES: Final = 64
"""Writes in a run that cannot make a value too large to be looked at."""

_CALLS: Final = (bound.CallGlobal, bound.CallValue)


class Borrowing:
    """The variables of one program that borrow.

    Attributes:
        variables: all of them.
        edited: for those that are written through, the paths of the objects they copy;
            ``{(), ("properties",)}`` for ``let e := event; e.properties.plan := 'free'``.
        same_origins: those whose parts are keys of objects or compared, see :meth:`origin`.
        writes_own_only: the program changes only objects that it created for that variable.
        writes_repeatedly: it may write to objects very often, in loops or functions.

    Args:
        facts: type facts about the program.
        loops: the loop around each node and variable, see ``loops_around``.
        host_names: names of host functions, which hide library functions.
        enabled: whether any variable may borrow.
    """

    def __init__(
        self,
        facts: TypeFacts,
        loops: dict[int, Any],
        host_names: frozenset[str],
        *,
        enabled: bool,
    ) -> None:
        self._facts = facts
        self._host_names = host_names
        self._nodes = [node for nodes in facts.own.values() for node in nodes]
        self._loops = loops
        self._copies = defaultdict[bound.Variable, set[int]](set)
        self._bindings = Bindings(facts, host_names, self._nodes)
        self._sources, self._elements = self._bindings.sources, self._bindings.elements
        self._origins: dict[bound.Variable, bound.Variable] = {}
        self._scalars = Scalars(facts, host_names, self._nodes)
        unshared = Unshared(self._scalars, host_names)
        self._written = WrittenValues(facts, self._scalars, unshared, self.is_raw)
        self._tables = tables(self._nodes, facts.literals) if enabled else {}
        writes = Writes(self._nodes, self._bindings, unshared.is_new)
        self.edited = writes.edited if enabled else {}
        self._other_names, self._in_place = writes.other_names, writes.in_place
        self._to_own_places = writes.to_own_places
        self._owns_copy = writes.owns_copy
        puts = writes.puts if enabled else []
        self._gathering = Gathering(
            writes.gathered, puts, self._sources, self._borrows, unshared.is_new
        )
        self._stored = StoredObjects(puts, self._is_put_as_copy, self._only_looks)
        self._results = {id(node) for node in facts.own[0] if isinstance(node, bound.Return)}
        written = [node for node in self._nodes if isinstance(node, bound.AssignProperty)]
        self.writes_own_only = all(map(writes.is_own, written))
        executions = Executions(facts, loops)
        self.writes_repeatedly = sum(map(executions.most, written)) > _MAX_WRITES
        self._distinguished = self._find_distinguished(writes) if enabled else None
        self.variables: set[bound.Variable] = {
            variable for variable in self._sources if enabled and not variable.assigned
        }
        if enabled:
            self.variables |= walking(self._nodes) & self._sources.keys() - self._elements
        self._settle()
        self.edited = {v: paths for v, paths in self.edited.items() if v in self.variables}
        self.writes_repeatedly |= bool(self.edited) and self._stored.exist()
        self.same_origins = {
            *filter(None, map(self.origin, keys_in(self._nodes))),
            *filter(None, map(self.compared_origin, self._nodes)),
        }

    def is_raw(self, node: Any) -> bool:
        """Whether an expression reads the host's data and nothing else."""
        if isinstance(node, bound.GetProperty):  # the target of a field is evaluated after its key
            return self.is_raw(node.target) and not isinstance(node.target, _CALLS)
        read = self._bindings.returned(node) or node
        if isinstance(read, bound.ReadVariable):
            return self._borrows(read.variable)
        if isinstance(node, bound.IfNull):
            return self.is_raw(node.value) and is_data(node.fallback)
        if isinstance(node, bound.CallGlobal):
            return self._is_raw_filter(node)
        if isinstance(node, bound.MakeObject) and self.is_gathered(node):
            return True
        return (isinstance(node, bound.ReadGlobal) and not node.library) or self.is_table(node)

    def is_table(self, node: Any) -> bool:
        """Whether an expression is the literal of a variable that borrows."""
        table = self._tables.get(id(node))
        return table is not None and self._borrows(table)

    def is_gathered(self, node: Any) -> bool:
        """Whether an expression is a new object in which host data is gathered, or reads it."""
        return self._gathering.is_gathered(node)

    def keeps_shape(self, node: bound.AssignProperty) -> bool:
        """Whether a write to a copy puts an object where it is already, or what it is a copy of."""
        return id(node) in self._in_place or id(node) in self._to_own_places

    def is_put_as_it_is(self, node: bound.AssignProperty) -> bool:
        """Whether a write to a copy puts host data there that is not imported."""
        if not self.is_edited(node.target) or not self.is_raw(node.value):
            return False
        if id(node) in self._in_place:
            return True
        is_own_copy = self._is_own_copy(node.value) and not self._holders_of_stored(node.value)
        may_be_put = is_own_copy or self._may_be_referred_to(node.value)
        return may_be_put and self._gathering.may_be_put(node.value)

    def _is_own_copy(self, node: Any) -> bool:
        """Whether a call returns a copy of a global to which nothing else refers."""
        read = self._bindings.returned(node)
        if read is None or not self._owns_copy(read.variable):
            return False
        variables = self._facts.functions[read.variable.function].variables
        return not any(variable.captured for variable in variables)

    def _may_be_referred_to(self, node: Any) -> bool:
        if isinstance(node, bound.ReadVariable | bound.GetProperty):
            root = self._root(node)
            is_own = root is None or root in self._tables.values()
            return not is_own and self.compared_origin(node) is None
        return False

    def _is_raw_filter(self, node: bound.CallGlobal) -> bool:
        """Whether a call returns a new array of those items of host data that pass a test."""
        function = self.lambda_of(node)
        if function is None or node.name != "arrayFilter" or not self.is_raw(node.arguments[1]):
            return False
        return len(function.parameters) > 0 and self._borrows(function.parameters[0])

    def returns_raw(self, node: bound.Return) -> bool:
        """Whether a function of the program returns host data that is not imported."""
        return id(node) in self._bindings.returns and self.is_raw(node.value)

    def is_edited(self, node: Any) -> bool:
        """Whether an expression reads a borrowing variable that is written through."""
        root = self._root(node)
        return root in self.edited or root in self._other_names

    def reads_edited(self, node: Any) -> bool:
        """Whether an expression may read a part of what the program writes to."""
        return len(self._places.of(node)) > 0

    def origin(self, node: Any) -> bound.Variable | None:
        """The variable whose copy of the host's data an expression reads a part of, if any."""
        root = self._root(node.value if isinstance(node, bound.IfNull) else node)
        return None if root is None else self._origin_of(root)

    def _origin_of(self, variable: bound.Variable) -> bound.Variable:
        seen = {variable: None}  # in order
        current = variable
        while current not in self._origins and len(sources := self._sources[current]) == 1:
            if current.assigned:
                break
            root = self._root(sources[0])
            if root is None or root in seen:
                break
            seen[root] = None
            current = root
        origin = self._origins.get(current, current)
        self._origins.update(dict.fromkeys(seen, origin))
        return origin

    def lambda_of(self, node: Any) -> bound.BoundFunction | None:
        """The lambda written as the argument of ``arrayMap`` or a similar function, else None."""
        return lambda_argument(node, self._host_names)

    # --- the largest set of variables that satisfies the rules

    def _settle(self) -> None:
        uses = [(node, below) for node in self._nodes if (below := parts(node))]
        self._worklist = Worklist([*self._sources, *uses] if self.variables else ())
        self._places = EditedPlaces(self._bindings, self.edited, self._root, self._is_raw_filter)
        self._same_parts = SameParts(self._sources, self._root)
        self._worklist.run(self._check)

    def _check(self, rule: bound.Variable | tuple[Any, list[Any]]) -> None:
        """Remove the variables that a binding or a use refuses."""
        if isinstance(rule, tuple):
            refused = self.variables.intersection(self._refused(*rule))
        else:
            refused = set() if self._is_bound_to_host(rule) else {rule} & self.variables
        self.variables -= refused
        for variable in refused:
            self._worklist.changed(variable)

    def _borrows(self, variable: bound.Variable) -> bool:
        if variable not in self.variables:
            return False
        self._worklist.read(variable)
        return True

    def _is_bound_to_host(self, variable: bound.Variable) -> bool:
        sources = self._sources[variable]
        return any(map(self.is_raw, sources)) and all(
            self.is_raw(node) or isinstance(node, bound.Constant) for node in sources
        )

    def _refused(self, node: Any, below: list[Any]) -> Iterable[bound.Variable]:
        """The variables whose use by this node, which has these parts, violates the rules."""
        raw = [part for part in below if self._root(part) is not None]
        if not raw:
            return
        if isinstance(node, bound.AssignProperty) and self._root(node.target) is not None:
            if isinstance(node.target, _CALLS) or not self.is_edited(node.target):
                yield self._root(node.target)
            raw = [part for part in raw if part is not node.target]
            is_copied = isinstance(node.value, bound.ReadVariable | bound.GetProperty)
            if (self.is_gathered(node.value) or not is_copied) and self.is_put_as_it_is(node):
                raw.remove(node.value)
        if self._compares_parts(node, raw):
            yield from map(self._root, raw)
        yield from filter(self._is_walking, map(self._root, keys_in([node])))
        for part in raw:
            if self.edited and not (
                id(node) in self._results or self._stored.only_tests(node, part)
            ):
                yield from self._holders_of_stored(part)
            if not self._only_looks(node, part):
                yield from self._handed_on(node, part)

    def _holders_of_stored(self, part: Any) -> set[bound.Variable]:
        """The copies from which a part may be an object that the program has put there."""
        places = self._places.of(part)
        return {variable for variable, path in places if self._stored.may_be_at(variable, path)}

    def _is_put_as_copy(self, value: Any) -> bool:
        """Whether what is put into a copy is a scalar, or an object that nothing else refers to."""
        return self._written.may_be_put(value) and not self.is_gathered(value)

    def _is_walking(self, root: bound.Variable | None) -> bool:
        """Whether parts of a variable's value may be parts of different copies."""
        return root is not None and self._origin_of(root).assigned

    def _find_distinguished(self, writes: Writes) -> DistinguishedParts | None:
        written = [
            node.target
            for node in self._nodes
            if isinstance(node, bound.AssignProperty)
            and not (writes.is_own(node) or writes.is_edit(node))
        ]
        compared = [
            pair for node in self._nodes if (pair := self._scalars.compared_by_identity(node))
        ]
        if not written and not compared:
            return None
        return DistinguishedParts(
            Aliases(self._facts, self._host_names, self.lambda_of, self._tables), written, compared
        )

    def _distinguishes(self, root: bound.Variable) -> bool:
        """Whether the program can distinguish parts of a variable's value from copies of them."""
        parts = self._distinguished
        if parts is None or not (parts.has_written(root) or parts.has_compared(root)):
            return False
        return parts.has_written(root) or self._copied_once(root) is None

    def _copied_once(self, variable: bound.Variable) -> bound.Variable | None:
        """The :meth:`origin` of a variable's value if it is bound once in a run, else None.

        Parts of that copy are always imported as the same objects.
        """
        origin = self._origin_of(variable)
        if origin.captured or origin.assigned or origin in self.edited:
            return None
        if len(self._sources[origin]) != 1:
            return None
        loop = self._loops.get(id(origin))
        if isinstance(loop, bound.ForIn) and loop.value is origin:
            loop = self._loops.get(id(loop))
        return origin if loop is self._facts.functions[0] else None

    def compared_origin(self, node: Any) -> bound.Variable | None:
        """The origin of a raw expression of which the program compares parts, if there is one."""
        root, parts = self._root(node), self._distinguished
        if root is None or parts is None or not parts.has_compared(root):
            return None
        return self._copied_once(root)

    def _handed_on(self, node: Any, part: Any) -> Iterable[bound.Variable]:
        """The variables that cannot borrow because a part escapes."""
        root = self._root(part)
        if id(node) not in self._results:  # a later write would not reach the copy
            if self._distinguishes(root):
                yield root
            if not self._is_own_copy(part):
                yield from {
                    variable
                    for variable, path in self._places.of(part)
                    if may_be_at(path, self.edited[variable])
                }
        while isinstance(part, bound.IfNull):
            part = part.value
        if isinstance(part, bound.ReadVariable):
            is_copied = not (isinstance(node, bound.AssignProperty) and self.is_put_as_it_is(node))
            if is_copied and self._is_copied_often(node, part):
                yield part.variable
            if part.variable in self._tables.values():  # making it is faster than copying it
                yield part.variable

    def _is_copied_often(self, node: Any, part: bound.ReadVariable) -> bool:
        """Whether a variable that is handed on here is copied again elsewhere or later."""
        variable, copies = part.variable, self._copies[part.variable]
        copies.add(id(part))
        if variable.assigned and isinstance(node, bound.Return):
            return False
        return len(copies) > 1 or variable.captured or self._is_repeated(node, variable)

    def _root(self, node: Any) -> Any:
        """The borrowing variable at the root of an expression, else None."""
        kind = type(node)
        if kind is bound.ReadVariable:
            return node.variable if self._borrows(node.variable) else None
        if kind is bound.GetProperty:
            return None if isinstance(node.target, _CALLS) else self._root(node.target)
        if kind is bound.IfNull and is_data(node.fallback):
            return self._root(node.value)
        if kind is bound.CallGlobal and self._is_raw_filter(node):
            return self._root(node.arguments[1])
        if kind is bound.CallValue and (read := self._bindings.returned(node)) is not None:
            return self._root(read)
        return None

    def _compares_parts(self, node: Any, raw: list[Any]) -> bool:
        """Whether a node compares two parts that may be the same object."""
        if len(raw) < 2 or self._scalars.compared_by_identity(node) is None:
            return False
        if all(self._copied_once(root) for root in map(self._root, raw)):
            return False
        return not self._same_parts.are_apart(raw[0], raw[1])

    def _only_looks(self, node: Any, part: Any) -> bool:  # noqa: PLR0911 (one line a node)
        """Whether a use only reads the part: it neither stores nor passes on the part itself."""
        if isinstance(node, _TESTS):
            return not (isinstance(node, bound.GetProperty) and isinstance(part, _CALLS))
        if isinstance(node, bound.IfNull):
            return self.is_raw(node)
        if isinstance(node, bound.Conditional):
            return part is node.condition
        if isinstance(node, bound.AssignProperty):
            return part is node.key
        if isinstance(node, bound.Declare | bound.AssignVariable):
            return self._borrows(node.variable)
        if isinstance(node, bound.ForIn):
            return self._borrows(node.value) or not self._distinguishes(self._root(part))
        if isinstance(node, bound.CallGlobal):
            return self._is_looked_at(node, part)
        if isinstance(node, bound.Return):
            return id(node) in self._bindings.returns
        return isinstance(node, bound.CallValue) and self._is_passed(node, part)

    def _is_passed(self, node: bound.CallValue, part: Any) -> bool:
        """Whether a call passes the part to a parameter that borrows."""
        function = self._facts.callee(node)
        if function is None or part is node.callee:
            return False
        index = [argument is part for argument in node.arguments].index(True)
        return index < len(function.parameters) and self._borrows(function.parameters[index])

    def _is_looked_at(self, node: bound.CallGlobal, part: Any) -> bool:
        if node.name in self._host_names:
            return True  # the host gets a copy
        function = self.lambda_of(node)
        if function is not None and part is node.arguments[1]:
            index = LAMBDA_PARAMETER[node.name]
            return index < len(function.parameters) and self._borrows(function.parameters[index])
        return function is None and node.name not in HANDS_ON

    def _is_repeated(self, node: Any, variable: bound.Variable) -> bool:
        """Whether a use may be repeated while the variable is bound to the same value."""
        return self._loops.get(id(node)) is not self._loops.get(id(variable))
