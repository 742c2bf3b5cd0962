"""Which response statuses a program handles itself. Pure.

A program that never checks the status would succeed whatever the receiver responds. So a status
counts as handled if one of the program's tests distinguishes it from 200: ``response.status ==
404`` handles 404 only, ``response.status >= 400`` handles all, ``print(response.status)`` none.
The Hog engine evaluates each test with the status in place of what the program reads, so tests such
as ``toString(r.status) like '4%'`` and ``floor(r.status / 100) == 4`` work, too. A status that an
equality names also counts as handled: ``status >= 400 and status != 409`` tolerates 409.

Source: docs/adr/0015-handled-statuses.md.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from hoglet.functions.filters.roots import nodes_of
from hoglet.functions.runtime.status_reads import STATUS, StatusReads
from hoglet.hog.bind.tree import BoundExpression
from hoglet.hog.compile import bind_expression
from hoglet.hog.python.predicate import PredicateFailed, compile_predicate
from hoglet.hog.stdlib.table import STL
from hoglet.kit.errors import SourceError
from hoglet.kit.json import is_tuple
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_program

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
