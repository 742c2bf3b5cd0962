"""``IN`` and ``NOT IN``: NULL matches only if the list contains one.

Source: docs/spec/data-and-queries.md#71-concatenation-and-comparisons-with-null.
"""

from collections.abc import Callable
from typing import Any, TypeGuard

from hoglet.hogql.errors import refused
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    Join,
    Name,
    Number,
    Relation,
    ScalarQuery,
    Select,
    TrustedSQL,
    Value,
    column_types,
)
from hoglet.hogql.resolve.operands.alignment import (
    ALWAYS,
    NEVER,
    aligned_items,
    is_null,
    may_hold_null,
    text_of,
)
from hoglet.hogql.types import BOOLEAN, NULL, UNKNOWN

type Equals = Callable[[Expr, Expr], Expr]
"""The null-safe equality of two expressions."""


def is_in(left: Expr, right: Expr, timezone: str, equals: Equals) -> Expr:
    """``left IN right``, never NULL.

    Args:
        left: the value.
        right: a list, an array, a query, or one value.
        timezone: the project's, for strings compared with timestamps.
        equals: equality for nullable items.
    """
    if isinstance(right, ScalarQuery):
        return _in_query(left, right.query)
    items = _items(right)
    if items is None:
        return _in_value(left, right)
    if is_tuple(left):
        # ((1, 2)) is a list of one tuple, and read as that tuple.
        return _tuple_in_list(left, items if any(map(is_tuple, items)) else (right,), equals)
    return _in_list(left, items, timezone, equals)


def refuse_other_width(left: Expr, right: Expr, node: Any) -> None:
    """Reject rows that are not as wide as the left side: the engine would match none, silently.

    Raises:
        SourceError: ``(a, b) IN (SELECT a ...)``, ``a IN (('x', 'y'), ('z', 'w'))``.
    """
    width = len(left.args) if is_tuple(left) else 1
    other = width
    if isinstance(right, ScalarQuery) and is_tuple(left):
        other = len(column_types(right.query))
    elif left.type.name == "String":
        tuples = [item for item in _items(right) or () if is_tuple(item)]
        other = len(tuples[0].args) if tuples else width
    if other != width:
        counts = f"{width} on the left, {other} on the right"
        raise refused(f"IN needs as many values on both sides: {counts}", node)


def is_in_plain(left: Expr, right: Expr, timezone: str) -> Expr:
    """``left IN right`` as in standard SQL, for ``JOIN ... ON``: NULL if unknown."""
    items = () if isinstance(right, ScalarQuery) else _items(right)
    if not items:
        return NEVER if items == () and not isinstance(right, ScalarQuery) else _in(left, right)
    known = [item for item in items if not is_null(item)]
    contained = _in_constants(left, known, timezone)
    if len(known) == len(items):
        return contained
    unknown = Number(text="NULL", type=NULL)
    return FunctionCall(function="or", args=(contained, unknown), type=BOOLEAN.or_null())


def is_tuple(expr: Expr) -> TypeGuard[FunctionCall]:
    """Whether an expression is a tuple literal."""
    return isinstance(expr, FunctionCall) and expr.function == "tuple"


def negated(condition: Expr) -> Expr:
    """``NOT IN``, as the engine's own function if there is one."""
    if condition in {ALWAYS, NEVER}:
        return NEVER if condition == ALWAYS else ALWAYS
    if isinstance(condition, FunctionCall) and condition.function == "in":
        return FunctionCall(function="notIn", args=condition.args, type=condition.type)
    return FunctionCall(function="not", args=(condition,), type=condition.type)


def _items(right: Expr) -> tuple[Expr, ...] | None:
    """The items of a literal list; None for a list known only to the engine."""
    if isinstance(right, FunctionCall) and right.function in {"array", "tuple"}:
        return right.args
    if right.type.name in {"Array", "Tuple"}:
        return None
    return (right,)


def _in(left: Expr, right: Expr) -> Expr:
    return FunctionCall(
        function="in", args=(left, right), type=BOOLEAN.or_null(may_hold_null(left))
    )


def _in_constants(left: Expr, items: list[Expr], timezone: str) -> Expr:
    listed = aligned_items(left, items, timezone)
    if left.type.name == "Boolean" and any(item.type.name == "String" for item in listed):
        left = text_of(left)
    return _in(left, _list(listed))


def _list(items: list[Expr]) -> Expr:
    """The right side of IN; an empty list matches nothing."""
    return FunctionCall(function="tuple", args=tuple(items) or (Number(text="NULL", type=NULL),))


def _or_false(condition: Expr) -> Expr:
    if not condition.type.nullable:
        return condition
    return TrustedSQL(parts=("ifNull(", condition, ", 0)"), type=BOOLEAN)


def _any(conditions: list[Expr]) -> Expr:
    if not conditions:
        return NEVER
    return (
        conditions[0]
        if len(conditions) == 1
        else FunctionCall(function="or", args=tuple(conditions), type=BOOLEAN)
    )


def _in_value(left: Expr, right: Expr) -> Expr:
    """An array or a tuple that is a column, a bound list or a function's result."""
    if isinstance(right, Value):
        return _or_false(_in(text_of(left), right))
    if isinstance(right, FunctionCall) and not may_hold_null(left):
        return _in(left, right)
    if right.type.name == "Tuple":
        return _or_false(_in(left, right))
    return FunctionCall(function="has", args=(right, left), type=BOOLEAN)


def _in_list(left: Expr, items: tuple[Expr, ...], timezone: str, equals: Equals) -> Expr:
    holds_null = any(is_null(item) for item in items)
    if is_null(left):
        return ALWAYS if holds_null else _any([equals(left, item) for item in items])
    constants = [item for item in items if not is_null(item) and not may_hold_null(item)]
    conditions: list[Expr] = []
    if constants:
        conditions.append(_or_false(_in_constants(left, constants, timezone)))
    conditions += [
        equals(left, item) for item in items if not is_null(item) and may_hold_null(item)
    ]
    if holds_null and may_hold_null(left):
        conditions.append(FunctionCall(function="isNull", args=(left,), type=BOOLEAN))
    return _any(conditions)


def _tuple_in_list(left: FunctionCall, items: tuple[Expr, ...], equals: Equals) -> Expr:
    """``(a, b) IN ((1, NULL), ...)``: item by item if NULL matters."""
    conditions: list[Expr] = []
    simple: list[Expr] = []
    for item in items:
        parts = item.args if is_tuple(item) else ()
        if len(parts) == len(left.args) and any(may_hold_null(part) for part in parts):
            pairs = zip(left.args, parts, strict=True)
            same = tuple([equals(first, second) for first, second in pairs])
            conditions.append(FunctionCall(function="and", args=same, type=BOOLEAN))
        else:
            simple.append(item)
    if simple:
        conditions.insert(0, _or_false(_in(left, _list(simple))))
    return _any(conditions)


def _in_query(left: Expr, query: Relation) -> Expr:
    columns = column_types(query)
    sides = left.args if isinstance(left, FunctionCall) and left.function == "tuple" else (left,)
    may_be_null = len(sides) == len(columns) and any(
        may_hold_null(side) and (type_.nullable or type_ == UNKNOWN)
        for side, (_, type_) in zip(sides, columns, strict=True)
    )
    if not may_be_null:
        return _or_false(_in(left, ScalarQuery(query=query)))
    # As pairs (is NULL, value), NULL is found like any other value.
    listed = [Name(source="listed", name=name, type=type_) for name, type_ in columns]
    pairs = [_parts(side, column) for side, column in zip(sides, listed, strict=True)]
    select = Select(
        columns=tuple(
            (f"part_{index}", part)
            for index, part in enumerate(part for _, parts in pairs for part in parts)
        ),
        joins=(Join(relation=query, alias="listed"),),
    )
    looked_for = tuple([part for parts, _ in pairs for part in parts])
    value = (
        looked_for[0] if len(looked_for) == 1 else FunctionCall(function="tuple", args=looked_for)
    )
    return FunctionCall(function="in", args=(value, ScalarQuery(query=select)), type=BOOLEAN)


def _parts(side: Expr, column: Expr) -> tuple[list[Expr], list[Expr]]:
    """For both sides, whether they are NULL and, if nullable, their value."""
    pair = (side, column)
    flags: list[Expr] = [FunctionCall(function="isNull", args=(each,)) for each in pair]
    if any(each.type.name == "Null" for each in pair):
        return flags[:1], flags[1:]
    item, two = (_or_default(each) for each in pair)
    return [flags[0], item], [flags[1], two]


def _or_default(value: Expr) -> Expr:
    default = ("defaultValueOfArgumentType(assumeNotNull(", value, "))")
    return TrustedSQL(parts=("ifNull(", value, ", ", *default, ")"), type=value.type.not_null())
