"""Predicates on variables: extracted from WHERE, rejected anywhere else.

Source: docs/spec/query-endpoints.md#72-what-can-be-materialized and
docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import Expression, changed, compare, every, same, walk
from hoglet.hogql.comparison_operators import COMPARISONS
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.functions import find_function
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree

EQUALITY = frozenset({"=="})
RANGE = frozenset({">", ">=", "<", "<="})
PATTERN = frozenset({"like", "ilike", "not like", "not ilike"})
MEMBERSHIP = frozenset({"in", "not in"})  # in a list variable (ADR 13)
_SUPPORTED = "=, >, >=, <, <=, LIKE, ILIKE, NOT LIKE, NOT ILIKE, IN, NOT IN"
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "=="}
_OPERATORS = {function.lower(): operator for operator, function in COMPARISONS.items()}


TEXT_HINT = (
    "strings are compared with the property's text, numbers with its value: compare "
    "toString(property) or toFloat(property) instead"
)


def text_name(column: str) -> str:
    """The table column for the text of a property that is also stored by its type."""
    return f"{column}__text"


class Predicate(msgspec.Struct, frozen=True):
    """``column operator value``, e.g. ``toDate(timestamp) >= toDate({variables.start})``.

    ``code`` is the column in the table: the first variable of ``value``. ``text`` is set for a
    property that is read by its type: with a string the run compares its text instead.
    """

    code: str
    operator: str
    column: Expression
    value: Expression
    text: Expression | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """Every variable of the value."""
        return tuple(dict.fromkeys(variables_in(self.value)))

    @property
    def is_exact(self) -> bool:
        """Whether the predicate matches a single value of the stored column."""
        return self.operator in EQUALITY and self.text is None


def variable_name(node: Any) -> str | None:
    """The code name of ``{variables.code}``, else None.

    Raises:
        Refusal: a variables placeholder in another form.
    """
    if not isinstance(node, tree.Placeholder):
        return None
    chain = node.expr.chain if isinstance(node.expr, tree.Field) else ()
    if len(chain) == 2 and chain[0] == "variables":
        return str(chain[1])
    if not chain or chain[0] == "variables":
        raise Refusal(f"The placeholder {print_expression(node)} is not supported")
    return None


def variables_in(node: Any) -> list[str]:
    """Code names of every variable inside a node, in order."""
    return [name for each in walk(node) if (name := variable_name(each)) is not None]


def take_predicates(select: tree.SelectQuery) -> tuple[tree.SelectQuery, list[Predicate]]:
    """Extract the predicates on variables from a select.

    Raises:
        Refusal: a variable is used in another way.
    """
    others: list[Expression] = []
    predicates: list[Predicate] = []
    for part in _conjuncts(select.where):
        names = variables_in(part)
        if names:
            predicates.append(_predicate(part, names[0]))
        else:
            others.append(part)
    _refuse_several_columns(predicates)
    rest = changed(select, where=every(others) if others else None)
    _refuse_elsewhere(rest)
    return rest, predicates


def _conjuncts(node: Any) -> Iterator[Expression]:
    if node is None:
        return
    if isinstance(node, tree.And):
        for part in node.exprs:
            yield from _conjuncts(part)
    elif isinstance(node, tree.BetweenExpr) and not node.negated and variables_in(node):
        yield compare(">=", node.expr, node.low)
        yield compare("<=", node.expr, node.high)
    else:
        yield _as_operator(node) if variables_in(node) else node


def _as_operator(node: Any) -> Expression:
    """``equals(a, b)`` as ``a = b``; ``IS NOT DISTINCT FROM`` is equivalent here."""
    if isinstance(node, tree.Call) and len(node.args) == 2 and node.name.lower() in _OPERATORS:
        return compare(_OPERATORS[node.name.lower()], *node.args)
    if isinstance(node, tree.IsDistinctFrom):
        return compare("==" if node.negated else "!=", node.left, node.right)
    return node


def _predicate(part: Expression, name: str) -> Predicate:
    if isinstance(part, tree.Or | tree.Not) and any(isinstance(n, tree.Or) for n in walk(part)):
        raise Refusal(f"Variable '{name}' is used inside OR")
    if not isinstance(part, tree.CompareOperation):
        raise _misused(name)
    left, right = variables_in(part.left), variables_in(part.right)
    if left and right:
        raise _misused(name)
    column, value = (part.left, part.right) if right else (part.right, part.left)
    operator = part.op if right else _TURNED.get(part.op, "")
    if operator not in EQUALITY | RANGE | PATTERN | MEMBERSHIP:
        raise Refusal(f"Operator '{part.op}' is not supported with variables; use {_SUPPORTED}")
    _check_value(value, name)
    _check_column(column, name)
    return Predicate(name, operator, column, value)


def _misused(name: str) -> Refusal:
    return Refusal(
        f"Variable '{name}' must be used as: column operator variable, such as "
        f"toDate(timestamp) >= toDate({{variables.{name}}})"
    )


_VALUES = (
    tree.Constant
    | tree.Call
    | tree.ArrayAccess
    | tree.TupleAccess
    | tree.ArithmeticOperation
    | tree.CompareOperation
    | tree.IsDistinctFrom
    | tree.And
    | tree.Or
    | tree.Not
    | tree.Array
    | tree.Tuple
    | tree.TypeCast
    | tree.TryCast
)
"""Nodes that are deterministic."""


def _check_value(node: Any, name: str, bound: frozenset[str] = frozenset()) -> None:
    """The variable's side: functions of variables and constants, evaluated by each run."""
    if isinstance(node, tree.Lambda):
        _check_value(node.expr, name, bound | set(node.args))
    elif isinstance(node, tree.Field | tree.Placeholder):
        if variable_name(node) is None and getattr(node, "chain", ("",))[0] not in bound:
            raise _misused(name)
    else:
        _check_value_node(node, name)
        for part in _parts(node):
            _check_value(part, name, bound)


def _check_value_node(node: Any, name: str) -> None:
    if isinstance(node, tree.Node) and not isinstance(node, _VALUES):
        raise _misused(name)
    if isinstance(node, tree.Call) and not _is_scalar(node):
        raise Refusal(f"Variable '{name}' is used in {node.name}(), which is not supported")


def _parts(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        yield from node
    elif isinstance(node, tree.Node):
        fields = (part for part in node.__struct_fields__ if part not in {"start", "end"})
        yield from (getattr(node, part) for part in fields)


def _check_column(column: Expression, name: str) -> None:
    nodes = list(walk(column))
    plain = all(isinstance(n, tree.Field | _VALUES) for n in nodes)
    steady = all(_is_steady(node) for node in nodes if isinstance(node, tree.Call))
    if not plain or not steady or not any(isinstance(node, tree.Field) for node in nodes):
        raise Refusal(f"Variable '{name}' must be compared with a column")


_OF_THE_MOMENT = frozenset({"now", "now64", "today", "yesterday"})
_OF_A_ROW = frozenset({"generateuuidv4", "arrayjoin"})


def _is_scalar(call: tree.Call) -> bool:
    """Whether a call is a scalar function with the same result for every row of a run."""
    function = find_function(call.name)
    name = call.name.lower()
    changes = name in _OF_A_ROW or name.startswith("rand")
    return function is not None and not function.aggregate and not changes


def _is_steady(call: tree.Call) -> bool:
    return _is_scalar(call) and call.name.lower() not in _OF_THE_MOMENT


def _refuse_several_columns(predicates: list[Predicate]) -> None:
    for item in predicates:
        for other in predicates:
            shared = [code for code in item.codes if code in other.codes]
            if shared and not same(item.column, other.column):
                raise Refusal(f"Variable '{shared[0]}' is compared against several columns")


def _refuse_elsewhere(select: tree.SelectQuery) -> None:
    if names := variables_in(select.having):
        raise Refusal(f"Variable '{names[0]}' is used in HAVING")
    ctes_apart = changed(select, ctes=None)
    if names := variables_in(ctes_apart):
        raise Refusal(f"Variable '{names[0]}' is not used in WHERE as: column operator variable")


def compares_text(predicate: Predicate, select: tree.SelectQuery) -> bool:
    """Whether a string is compared with the text of a property.

    Source: docs/spec/data-and-queries.md#24-what-the-type-does-to-queries.
    """
    if predicate.operator in RANGE or not isinstance(predicate.column, tree.Field):
        return False
    chain = predicate.column.chain
    aliased = next(
        (i.expr for i in select.select if isinstance(i, tree.Alias) and chain == (i.alias,)), None
    )
    if isinstance(aliased, tree.Field):
        chain = aliased.chain
    return "properties" in chain[:-1]
