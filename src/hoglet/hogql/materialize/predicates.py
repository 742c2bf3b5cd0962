"""Predicates on variables: found in WHERE, taken out of it, refused anywhere else.

Source: docs/spec/query-endpoints.md#72-what-can-be-materialized and
docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.frontend.trees import Expression, changed, every, same, walk
from hoglet.hogql.functions import find_function
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree

EQUALITY = frozenset({"=="})
RANGE = frozenset({">", ">=", "<", "<="})
PATTERN = frozenset({"like", "ilike", "not like", "not ilike"})
MEMBERSHIP = frozenset({"in", "not in"})  # of a list (ADR 13)
_SUPPORTED = "=, >, >=, <, <=, LIKE, ILIKE, NOT LIKE, NOT ILIKE, IN, NOT IN"
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "=="}


class Predicate(msgspec.Struct, frozen=True):
    """``column operator {variables.code}``, e.g. ``timestamp >= {variables.start}``."""

    code: str
    operator: str
    column: Expression


def variable_name(node: Any) -> str | None:
    """The code name of ``{variables.code}``, else None.

    Raises:
        Refusal: a placeholder about variables in another form.
    """
    if not isinstance(node, tree.Placeholder):
        return None
    chain = node.expr.chain if isinstance(node.expr, tree.Field) else ()
    if len(chain) == 2 and chain[0] == "variables":
        return str(chain[1])
    if not chain or chain[0] == "variables":
        raise Refusal(f"The placeholder {print_expression(node)} is not understood")
    return None


def variables_in(node: Any) -> list[str]:
    """Code names of every variable inside a node, in order."""
    return [name for each in walk(node) if (name := variable_name(each)) is not None]


def take_predicates(select: tree.SelectQuery) -> tuple[tree.SelectQuery, list[Predicate]]:
    """A select without its predicates on variables, and those predicates.

    Raises:
        Refusal: a variable is used in another way.
    """
    kept: list[Expression] = []
    found: list[Predicate] = []
    for part in _conjuncts(select.where):
        names = variables_in(part)
        if names:
            found.append(_predicate(part, names[0]))
        else:
            kept.append(part)
    _refuse_several_columns(found)
    rest = changed(select, where=every(kept) if kept else None)
    _refuse_elsewhere(rest)
    return rest, found


def _conjuncts(node: Any) -> Iterator[Expression]:
    if node is None:
        return
    if isinstance(node, tree.And):
        for part in node.exprs:
            yield from _conjuncts(part)
    else:
        yield node


def _predicate(part: Expression, name: str) -> Predicate:
    if isinstance(part, tree.Or) or any(isinstance(node, tree.Or) for node in walk(part)):
        raise Refusal(f"Variable '{name}' is used inside OR")
    if not isinstance(part, tree.CompareOperation):
        raise Refusal(f"Variable '{name}' must be used as: column operator variable")
    left, right = variable_name(part.left), variable_name(part.right)
    column, operator = (part.left, part.op) if right else (part.right, _TURNED.get(part.op, ""))
    if (left is None) == (right is None) or variables_in(column):
        raise Refusal(f"Variable '{name}' must be used as: column operator variable")
    if operator not in EQUALITY | RANGE | PATTERN | MEMBERSHIP:
        raise Refusal(f"Operator '{part.op}' is not supported with variables; use {_SUPPORTED}")
    _check_column(column, name)
    return Predicate(name, operator, column)


def _check_column(column: Expression, name: str) -> None:
    nodes = list(walk(column))
    plain = all(
        isinstance(n, tree.Field | tree.Constant | tree.Call | tree.ArrayAccess) for n in nodes
    )
    calls = [node for node in nodes if isinstance(node, tree.Call)]
    steady = all(_is_steady(call) for call in calls)
    if not plain or not steady or not any(isinstance(node, tree.Field) for node in nodes):
        raise Refusal(f"Variable '{name}' must be compared with a column")


_CHANGING = frozenset({"now", "now64", "today", "yesterday", "rand", "generateuuidv4", "arrayjoin"})


def _is_steady(call: tree.Call) -> bool:
    function = find_function(call.name)
    changes = call.name.lower() in _CHANGING or call.name.lower().startswith("rand")
    return function is not None and not function.aggregate and not changes


def _refuse_several_columns(found: list[Predicate]) -> None:
    for one in found:
        for other in found:
            if one.code == other.code and not same(one.column, other.column):
                raise Refusal(f"Variable '{one.code}' is compared against several columns")


def _refuse_elsewhere(select: tree.SelectQuery) -> None:
    if names := variables_in(select.having):
        raise Refusal(f"Variable '{names[0]}' is used in HAVING")
    ctes_apart = changed(select, ctes=None)
    if names := variables_in(ctes_apart):
        raise Refusal(f"Variable '{names[0]}' is not used in WHERE as: column operator variable")
