"""Which response statuses a program handles itself. Pure.

A program that never checks the status would succeed regardless of the response. So a status
counts as handled if one of the program's tests distinguishes it from 200: ``response.status ==
404`` handles 404 only, ``response.status >= 400`` handles all, ``print(response.status)`` none.
The Hog engine evaluates each test with the status in place of what the program reads, so tests such
as ``toString(r.status) like '4%'`` and ``floor(r.status / 100) == 4`` work, too. A status that an
equality names also counts as handled: ``status >= 400 and status != 409`` tolerates 409.

Names are not scoped: a variable or parameter declared anywhere counts everywhere.

Source: docs/adr/0015-handled-statuses.md.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from hoglet.functions.filters.roots import nodes_of
from hoglet.hog.bind.tree import BoundExpression
from hoglet.hog.compile import bind_expression
from hoglet.hog.python.predicate import PredicateFailed, compile_predicate
from hoglet.hog.stdlib.table import STL
from hoglet.kit.errors import SourceError
from hoglet.kit.json import is_tuple
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_program

STATUS: Final = "__status"
_STATUS_FIELD = tree.Field(chain=(STATUS,))
_MAX_DEFINITION_NODES = 40  # nodes; `s` in `let s := toString(r.status)` stands for its definition
_PASSES = 4  # let a := r.status; let b := a; let c := b

_NOT_RESPONSES = frozenset({"event", "person", "groups", "inputs", "project", "source", "request"})


class StatusReads:
    """The reads of one program.

    Args:
        nodes: all nodes of the program.
    """

    def __init__(self, nodes: Sequence[tree.Node]) -> None:
        self._bodies: set[str] = set()
        self._definitions: dict[str, Any] = {}
        for _ in range(_PASSES):
            for node in nodes:
                self._note(node, nodes)

    def rewritten(self, node: Any) -> Any:
        """The tree with ``STATUS`` in place of each read of a status or of a variable with one."""
        if isinstance(node, tree.Field) and len(node.chain) == 1:
            return self._definitions.get(str(node.chain[0]), node)
        if self._is_status(node):
            return _STATUS_FIELD
        if isinstance(node, msgspec.Struct):
            fields = {name: getattr(node, name) for name in node.__struct_fields__}
            changed = {
                name: new
                for name, value in fields.items()
                if isinstance(value, msgspec.Struct | tuple)
                and (new := self.rewritten(value)) is not value
            }
            return msgspec.structs.replace(node, **changed) if changed else node
        if is_tuple(node):
            items = tuple(self.rewritten(item) for item in node)
            same = all(new is old for new, old in zip(items, node, strict=True))
            return node if same else items
        return node

    def reads_status(self, rewritten: Any) -> bool:
        """Whether a rewritten tree has a read of a status."""
        return any(node is _STATUS_FIELD for node in nodes_of(rewritten))

    def _note(self, node: tree.Node, nodes: Sequence[tree.Node]) -> None:
        if isinstance(node, tree.VariableDeclaration):
            self._define(node.name, node.expr)
        elif isinstance(node, tree.VariableAssignment) and isinstance(node.left, tree.Field):
            if len(node.left.chain) == 1:
                self._define(str(node.left.chain[0]), node.right)
        elif isinstance(node, tree.Call):
            for name, argument in zip(_parameters(node.name, nodes), node.args, strict=False):
                self._define(name, argument)

    def _define(self, name: str, value: Any) -> None:
        """Note what a variable or parameter stands for, if it holds a status or a body."""
        if name in self._definitions or value is None:
            return
        if self._is_of_body(value):
            self._bodies.add(name)
        rewritten = self.rewritten(value)
        nodes = list(nodes_of(rewritten))
        if len(nodes) <= _MAX_DEFINITION_NODES and any(each is _STATUS_FIELD for each in nodes):
            self._definitions[name] = rewritten

    def _is_status(self, node: Any) -> bool:
        """``response.status`` and ``response['status']``, not those of events and bodies."""
        if isinstance(node, tree.Field):
            has_name = len(node.chain) > 1 and node.chain[-1] == "status"
            return has_name and not self._is_of_body(node)
        if isinstance(node, tree.ArrayAccess) and isinstance(node.property, tree.Constant):
            return node.property.value == "status" and not self._is_of_body(node.array)
        return False

    def _is_of_body(self, value: Any) -> bool:
        """Whether a value is part of a response's body, or of the function's globals."""
        if isinstance(value, tree.Field):
            known = value.chain[0] in _NOT_RESPONSES or value.chain[0] in self._bodies
            return known or "body" in value.chain
        if isinstance(value, tree.ArrayAccess):
            is_body = isinstance(value.property, tree.Constant) and value.property.value == "body"
            return is_body or self._is_of_body(value.array)
        if isinstance(value, tree.TupleAccess):
            return self._is_of_body(value.tuple)
        if isinstance(value, tree.Call) and value.name != "fetch":
            return any(self._is_of_body(argument) for argument in value.args)
        return False


def _parameters(name: str, nodes: Sequence[tree.Node]) -> tuple[str, ...]:
    """The parameters of a function or lambda of the program by its name."""
    for node in nodes:
        if isinstance(node, tree.Function) and node.name == name:
            return node.params
        if isinstance(node, tree.VariableDeclaration) and node.name == name:
            return node.expr.args if isinstance(node.expr, tree.Lambda) else ()
    return ()


_SUCCESS: Final = 200
_UNNAMED: Final = -1  # a status that no program names
_LOGICAL = tree.And | tree.Or | tree.Not
_CACHED = 4096
_EQUALITY_CALLS: Final = frozenset({"equals", "notEquals", "in", "notIn", "has"})
_TEST_CALLS: Final = _EQUALITY_CALLS | frozenset(
    {
        *(
            "less",
            "lessOrEquals",
            "greater",
            "greaterOrEquals",
            "like",
            "ilike",
            "notLike",
            "notILike",
            "match",
        ),
        *("startsWith", "endsWith", "arrayExists"),
    }
)
"""Library functions that are comparisons. Others count as part of one: ``indexOf(a, s) > 0``."""

_GLOBALS: Final = frozenset({STATUS})

type _Test = Callable[[int], bool | None]
type _Tests = Iterator[tuple[_Test, int]]


def is_handled(source: str, status: int) -> bool:
    """Whether a program treats a response with this status differently from a success.

    Example:
        >>> is_handled("let r := fetch('https://a'); if (r.status == 404) { return }", 404)
        True
        >>> is_handled("let r := fetch('https://a'); print(r.status)", 404)
        False
    """
    return any(test(status) != test(other) for test, other in _tests(source))


@lru_cache(maxsize=_CACHED)
def _tests(source: str) -> tuple[tuple[_Test, int], ...]:
    """The program's tests of statuses, each with the status that others are compared with."""
    try:
        program = parse_program(source)
    except SourceError:
        return ()
    reads = StatusReads(list(nodes_of(program)))
    return tuple(_tests_in(program, reads))


def _tests_in(value: Any, reads: StatusReads, *, inside: bool = False) -> _Tests:
    """The largest conditions that depend on a status alone, and the equalities inside.

    So ``r.status >= 400 and r.status < 500`` does not handle 500, as its first half would.
    """
    if isinstance(value, tree.Node):
        expression = _bound_condition(value, reads)
        is_closed = expression is not None and _is_closed(expression)
        if expression is not None and is_closed:
            test = _evaluated(expression)
            yield from [(test, _SUCCESS)] * (not inside)
            yield from [(test, _UNNAMED)] * _is_equality(value)
        elif expression is not None and not inside and not isinstance(value, _LOGICAL):
            # Compares with a value of the run (`r.status == inputs.expected`): handles any status.
            yield (lambda status: status == _SUCCESS), _SUCCESS
        for name in value.__struct_fields__:
            yield from _tests_in(getattr(value, name), reads, inside=inside or is_closed)
    elif is_tuple(value):
        for item in value:
            yield from _tests_in(item, reads, inside=inside)


def _bound_condition(node: tree.Node, reads: StatusReads) -> BoundExpression | None:
    if not _is_condition(node):
        return None
    condition = reads.rewritten(node)
    return _bound(condition) if reads.reads_status(condition) else None


def _is_condition(node: tree.Node) -> bool:
    if isinstance(node, tree.Call):
        return node.name in _TEST_CALLS
    return isinstance(node, tree.CompareOperation | tree.BetweenExpr | _LOGICAL)


def _is_equality(node: tree.Node) -> bool:
    """Whether a condition is an equality, which names statuses."""
    if isinstance(node, tree.Call):
        return node.name in _EQUALITY_CALLS
    return isinstance(node, tree.CompareOperation) and node.op in {"==", "!=", "in", "not in"}


def _bound(condition: Any) -> BoundExpression | None:
    try:
        return bind_expression(condition, known_globals=_GLOBALS)
    except SourceError:
        return None


def _is_closed(expression: BoundExpression) -> bool:
    """Whether an expression depends on the status alone."""
    return not (expression.global_reads - _GLOBALS or expression.global_calls - STL.keys())


def _evaluated(expression: BoundExpression) -> _Test:
    predicate = compile_predicate(expression, known_globals=_GLOBALS)

    def test(status: int) -> bool | None:
        try:
            return bool(predicate({STATUS: status}))
        except PredicateFailed:
            return None

    return test
