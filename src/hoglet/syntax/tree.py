"""The syntax tree of Hog and HogQL: frozen structs decoded from the parser's JSON.

Shape: ``{"node": "Constant", "value": 1, "start": {...}, "end": {...}}`` becomes
``Constant(value=1, start=Position(1, 0, 0), end=Position(1, 1, 1))``.

Unknown nodes and fields are rejected while decoding, so unknown syntax can never reach a printer. A
synthetic node (the 0 of ``-x``) has ``start is None``. Nodes compare by value, positions included.

Source: docs/spec/hog-language.md#13-parser.
"""

from typing import Any

import msgspec


class Position(msgspec.Struct, frozen=True):
    """A position in the source: line from 1, column and offset from 0, in characters."""

    line: int
    column: int
    offset: int


class Node(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="node",
    tag=True,
    forbid_unknown_fields=True,
):
    """Base of all nodes. ``source[start.offset:end.offset]`` is the text of a node."""

    start: Position | None = None
    end: Position | None = None


# --- expressions


class Constant(Node, frozen=True, kw_only=True):
    """A literal; numbers beyond JSON are strings with ``value_type == "number"``."""

    value: Any = None
    value_type: str | None = None


class Field(Node, frozen=True, kw_only=True):
    """A name or a dotted path: ``a.b.c`` is ``["a", "b", "c"]``; ``*`` is a name too."""

    chain: tuple[str | int, ...]


class ArrayAccess(Node, frozen=True, kw_only=True):
    """``array[property]``; ``nullish`` for ``?.``."""

    array: "Expression"
    property: "Expression"
    nullish: bool = False


class ArraySlice(Node, frozen=True, kw_only=True):
    """``array[1:2]``, queries only."""

    array: "Expression"
    start_expr: "Expression | None" = None
    end_expr: "Expression | None" = None


class TupleAccess(Node, frozen=True, kw_only=True):
    """``tuple.1``."""

    tuple: "Expression"
    index: int
    nullish: bool = False


class Call(Node, frozen=True, kw_only=True):
    """``name(args)``; ``name(params)(args)`` has both. ``params is None`` without a first list."""

    name: str
    args: tuple["Expression", ...] = ()
    params: tuple["Expression", ...] | None = None
    distinct: bool = False
    order_by: tuple["OrderExpr", ...] | None = None
    within_group: tuple["OrderExpr", ...] | None = None
    filter_expr: "Expression | None" = None


class ExprCall(Node, frozen=True, kw_only=True):
    """A call of a value: ``(f)(1)``, ``o.m(1)``."""

    expr: "Expression"
    args: tuple["Expression", ...] = ()


class And(Node, frozen=True, kw_only=True):
    """A chain of ``and``."""

    exprs: tuple["Expression", ...]


class Or(Node, frozen=True, kw_only=True):
    """A chain of ``or``."""

    exprs: tuple["Expression", ...]


class Not(Node, frozen=True, kw_only=True):
    """``not expr``."""

    expr: "Expression"


class CompareOperation(Node, frozen=True, kw_only=True):
    """``left op right``; op is ``== != < <= > >= like in =~ ...`` or ``not like``."""

    left: "Expression"
    right: "Expression"
    op: str
    is_null_comparison_style: bool = False


class BetweenExpr(Node, frozen=True, kw_only=True):
    """``expr between low and high``."""

    expr: "Expression"
    low: "Expression"
    high: "Expression"
    negated: bool = False


class IsDistinctFrom(Node, frozen=True, kw_only=True):
    """``left is [not] distinct from right``, queries only."""

    left: "Expression"
    right: "Expression"
    negated: bool = False


class ArithmeticOperation(Node, frozen=True, kw_only=True):
    """``left op right`` with op of ``+ - * / %``."""

    left: "Expression"
    right: "Expression"
    op: str


class Lambda(Node, frozen=True, kw_only=True):
    """``(a, b) -> expr``; the body is an expression, a block, or a placeholder ``{x}``."""

    args: tuple[str, ...] = ()
    expr: "Expression | Block"


class Array(Node, frozen=True, kw_only=True):
    """``[a, b]``."""

    exprs: tuple["Expression", ...] = ()


class Tuple(Node, frozen=True, kw_only=True):
    """``(a, b)``."""

    exprs: tuple["Expression", ...] = ()


class Dict(Node, frozen=True, kw_only=True):
    """``{'k': v}`` as pairs, in source order."""

    items: tuple[tuple["Expression", "Expression"], ...] = ()


class Placeholder(Node, frozen=True, kw_only=True):
    """``{expr}``."""

    expr: "Expression"


class NamedArgument(Node, frozen=True, kw_only=True):
    """``name := value`` inside an argument list or braces."""

    name: str
    value: "Expression"


class HogQLXAttribute(Node, frozen=True, kw_only=True):
    """``name='x'`` or ``name={x}``; children arrive as a list under ``children``."""

    name: str
    value: "Expression | tuple[Expression, ...]"


class HogQLXTag(Node, frozen=True, kw_only=True):
    """``<kind name='x'>...</kind>``."""

    kind: str
    attributes: tuple[HogQLXAttribute, ...] = ()


class Alias(Node, frozen=True, kw_only=True):
    """``expr as alias``, queries only."""

    expr: "Expression"
    alias: str


class TypeCast(Node, frozen=True, kw_only=True):
    """``cast(expr as type_name)``, queries only; the type name arrives in lower case."""

    expr: "Expression"
    type_name: str


class TryCast(Node, frozen=True, kw_only=True):
    """``try_cast(expr as type_name)``, queries only."""

    expr: "Expression"
    type_name: str


class ColumnsExpr(Node, frozen=True, kw_only=True):
    """``columns('regex')``, ``columns(a, b)``, ``* exclude (a)``, ``(* replace (f(a) as a))``."""

    regex: str | None = None
    columns: tuple["Expression", ...] | None = None
    all_columns: bool = False
    exclude: tuple[str, ...] | None = None
    replace: dict[str, "Expression"] | None = None


class WindowFrameExpr(Node, frozen=True, kw_only=True):
    """One end of a window frame; ``frame_value is None`` with PRECEDING means unbounded.

    The value is a number, or an expression such as ``toIntervalDay(1)``.
    """

    frame_type: str
    frame_value: "int | Expression | None" = None


class WindowExpr(Node, frozen=True, kw_only=True):
    """``partition by ... order by ... rows between ... and ...``."""

    partition_by: tuple["Expression", ...] | None = None
    order_by: tuple["OrderExpr", ...] | None = None
    frame_method: str | None = None
    frame_start: WindowFrameExpr | None = None
    frame_end: WindowFrameExpr | None = None


class WindowFunction(Node, frozen=True, kw_only=True):
    """``name(exprs)(args) over (...)`` or ``over w``; the arguments are ``exprs``."""

    name: str
    args: tuple["Expression", ...] = ()
    exprs: tuple["Expression", ...] | None = None
    over_expr: WindowExpr | None = None
    over_identifier: str | None = None


# --- queries


class WithFillExpr(Node, frozen=True, kw_only=True):
    """``with fill from .. to .. step ..``."""

    from_value: "Expression | None" = None
    to_value: "Expression | None" = None
    step_value: "Expression | None" = None


class OrderExpr(Node, frozen=True, kw_only=True):
    """One item of ``order by``; order is ``ASC`` or ``DESC``.

    The parser drops ``nulls first``; it is restored from the text.
    """

    expr: "Expression"
    order: str = "ASC"
    nulls_first: bool = False
    with_fill: WithFillExpr | None = None


class InterpolateExpr(Node, frozen=True, kw_only=True):
    """One item of ``interpolate (...)``."""

    expr: "Expression"


class GroupingSet(Node, frozen=True, kw_only=True):
    """One set of ``group by grouping sets (...)``."""

    exprs: tuple["Expression", ...] = ()


class LimitByExpr(Node, frozen=True, kw_only=True):
    """``limit n offset m by exprs``."""

    n: "Expression"
    exprs: tuple["Expression", ...] = ()
    offset_value: "Expression | None" = None


class RatioExpr(Node, frozen=True, kw_only=True):
    """``left/right`` of a sample clause."""

    left: Constant
    right: Constant | None = None


class SampleExpr(Node, frozen=True, kw_only=True):
    """``sample 1/10 offset 2/10``."""

    sample_value: RatioExpr
    offset_value: RatioExpr | None = None


class JoinConstraint(Node, frozen=True, kw_only=True):
    """``on expr`` or ``using (a, b)``."""

    expr: "Expression"
    constraint_type: str


class JoinExpr(Node, frozen=True, kw_only=True):
    """A table in FROM and its joins, as a linked list by ``next_join``."""

    table: "Expression | None" = None
    alias: str | None = None
    column_aliases: tuple[str, ...] | None = None
    table_args: tuple["Expression", ...] | None = None
    table_final: bool | None = None
    join_type: str | None = None
    constraint: JoinConstraint | None = None
    sample: SampleExpr | None = None
    next_join: "JoinExpr | None" = None


class CTE(Node, frozen=True, kw_only=True):
    """``name as (select ...)`` (cte_type ``subquery``) or ``expr as name`` (``column``)."""

    name: str
    expr: "Expression"
    cte_type: str
    columns: tuple[str, ...] | None = None
    materialized: bool | None = None
    recursive: bool = False
    using_key: tuple[str, ...] | None = None


class SelectQuery(Node, frozen=True, kw_only=True):
    """One SELECT."""

    select: tuple["Expression", ...] = ()
    ctes: tuple[CTE, ...] | None = None
    distinct: bool | None = None
    select_from: JoinExpr | None = None
    array_join_op: str | None = None
    array_join_list: tuple["Expression", ...] | None = None
    prewhere: "Expression | None" = None
    where: "Expression | None" = None
    group_by: tuple["Expression | GroupingSet", ...] | None = None
    group_by_mode: str | None = None
    having: "Expression | None" = None
    qualify: "Expression | None" = None
    window_exprs: dict[str, WindowExpr] | None = None
    order_by: tuple[OrderExpr, ...] | None = None
    interpolate: tuple[InterpolateExpr, ...] | None = None
    limit_by: LimitByExpr | None = None
    limit: "Expression | None" = None
    limit_with_ties: bool | None = None
    limit_percent: bool | None = None
    offset: "Expression | None" = None


class SelectSetNode(Node, frozen=True, kw_only=True):
    """The right side of a set operation; set_operator is ``UNION ALL``, ``EXCEPT`` ..."""

    select_query: "SelectQuery | SelectSetQuery | Placeholder"
    set_operator: str


class SelectSetQuery(Node, frozen=True, kw_only=True):
    """``a union all b except c``; an ORDER BY or LIMIT after it arrives on the last select.

    ``limit`` and ``offset`` are those after the brackets: ``(a union all b) limit 1``.
    """

    initial_select_query: "SelectQuery | SelectSetQuery | Placeholder"
    subsequent_select_queries: tuple[SelectSetNode, ...] = ()
    limit: "Expression | None" = None
    offset: "Expression | None" = None


# --- programs


class VariableDeclaration(Node, frozen=True, kw_only=True):
    """``let name := expr``."""

    name: str
    expr: "Expression | None" = None


class VariableAssignment(Node, frozen=True, kw_only=True):
    """``left := right``."""

    left: "Expression"
    right: "Expression"


class ExprStatement(Node, frozen=True, kw_only=True):
    """An expression used as a statement."""

    expr: "Expression | None" = None


class ReturnStatement(Node, frozen=True, kw_only=True):
    """``return expr``."""

    expr: "Expression | None" = None


class ThrowStatement(Node, frozen=True, kw_only=True):
    """``throw expr``."""

    expr: "Expression"


class IfStatement(Node, frozen=True, kw_only=True):
    """``if (expr) then else else_``."""

    expr: "Expression"
    then: "Statement"
    else_: "Statement | None" = None


class WhileStatement(Node, frozen=True, kw_only=True):
    """``while (expr) body``."""

    expr: "Expression"
    body: "Statement | None" = None


class ForStatement(Node, frozen=True, kw_only=True):
    """``for (initializer; condition; increment) body``; every part may be missing."""

    initializer: "Statement | Expression | None" = None
    condition: "Expression | None" = None
    increment: "Statement | Expression | None" = None
    body: "Statement | None" = None


class ForInStatement(Node, frozen=True, kw_only=True):
    """``for (let keyVar, valueVar in expr) body``."""

    valueVar: str  # noqa: N815 (the parser's own spelling)
    expr: "Expression"
    keyVar: str | None = None  # noqa: N815 (the parser's own spelling)
    body: "Statement | None" = None


class TryCatchStatement(Node, frozen=True, kw_only=True):
    """``try {} catch (variable: type) {}`` with catches as ``(variable, type, block)``."""

    try_stmt: "Statement"
    catches: tuple[tuple[str | None, str | None, "Statement"], ...] = ()
    finally_stmt: "Statement | None" = None


class Function(Node, frozen=True, kw_only=True):
    """``fun name(params) body``."""

    name: str
    params: tuple[str, ...] = ()
    body: "Statement | None" = None


class Block(Node, frozen=True, kw_only=True):
    """``{ a; b }``."""

    declarations: tuple["Statement", ...] = ()


class Program(Node, frozen=True, kw_only=True):
    """A whole program."""

    declarations: tuple["Statement", ...] = ()


type Statement = (
    VariableDeclaration
    | VariableAssignment
    | ExprStatement
    | ReturnStatement
    | ThrowStatement
    | IfStatement
    | WhileStatement
    | ForStatement
    | ForInStatement
    | TryCatchStatement
    | Function
    | Block
)

type Expression = (
    Constant
    | Field
    | ArrayAccess
    | ArraySlice
    | TupleAccess
    | Call
    | ExprCall
    | And
    | Or
    | Not
    | CompareOperation
    | BetweenExpr
    | IsDistinctFrom
    | ArithmeticOperation
    | Lambda
    | Array
    | Tuple
    | Dict
    | Placeholder
    | NamedArgument
    | HogQLXTag
    | Alias
    | TypeCast
    | TryCast
    | ColumnsExpr
    | WindowFunction
    | SelectQuery
    | SelectSetQuery
)

type Query = SelectQuery | SelectSetQuery | Placeholder
