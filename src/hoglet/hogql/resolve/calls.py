"""Function calls: allow-list, argument counts, types; window functions and FILTER."""

from typing import Any

from hoglet.hogql.errors import (
    ARITY,
    ILLEGAL_TYPE,
    NOT_AGGREGATE,
    refused,
    unknown_function,
)
from hoglet.hogql.functions import FunctionEntry, find_function, function_names
from hoglet.hogql.functions.by_name import check_named, with_wide_types
from hoglet.hogql.functions.datetime_zone import as_time, narrow
from hoglet.hogql.functions.special import SPECIAL
from hoglet.hogql.functions.times import TIME_PLACES, ZONED
from hoglet.hogql.functions.units import checked_unit
from hoglet.hogql.plan import Expr, FunctionCall, LambdaExpr, Ordering, TrustedSQL
from hoglet.hogql.resolve.aggregation import (
    COLLECTED,
    ORDERED,
    collected,
    hidden_columns,
    refuse_nested,
)
from hoglet.hogql.resolve.compare import compare_resolved
from hoglet.hogql.resolve.operands.conditions import conditional_arguments
from hoglet.hogql.resolve.operands.patterns import check_pattern_argument
from hoglet.hogql.resolve.property_text import text_arguments
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.resolve.special_forms import SPECIAL_FORMS
from hoglet.hogql.resolve.tuples import lambda_items, type_with_names
from hoglet.hogql.types import STRING
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_COMPARISONS = {
    "equals": "==",
    "notEquals": "!=",
    "isDistinctFrom": "!=",
    "less": "<",
    "greater": ">",
    "lessOrEquals": "<=",
    "greaterOrEquals": ">=",
    "in": "in",
    "notIn": "not in",
    "like": "like",
    "ilike": "ilike",
    "notLike": "not like",
    "notILike": "not ilike",
    "match": "=~",
}


def resolve_call(resolver: Resolver, node: tree.Call, scope: Scope) -> Expr:
    """``name(params)(args)``."""
    form = SPECIAL_FORMS.get(node.name.lower())
    if form is not None and (resolved := form(resolver, node, scope)) is not None:
        return resolved
    name = node.name if node.filter_expr is None else f"{node.name}If"
    function = find_function(name)
    if function is None:
        raise unknown_function(name, node, function_names())
    if function.window:
        raise refused(f"{node.name} is a window function: add OVER (...)", node)
    _refuse_extras(node, function)
    hidden = hidden_columns(scope) if function.aggregate and scope.aliases else ()
    with scope.without_aliases(hidden):
        args = _arguments(resolver, node, function, scope)
    _refuse_single_variables(node, function, args)
    check_pattern_argument(function.clickhouse, args, node.args)
    if function.name in _COMPARISONS and len(args) == 2:
        operator = _COMPARISONS[function.name]
        return compare_resolved(resolver, operator, args[0], args[1], scope, node)
    args = conditional_arguments(function, text_arguments(function, args, scope))
    return build_call(resolver, node, function, args, scope)


def build_call(
    resolver: Resolver, node: Any, function: FunctionEntry, args: tuple[Expr, ...], scope: Scope
) -> Expr:
    """The plan of a call whose arguments are resolved."""
    if len(args) == ZONED.get(function.name):
        args = (_in_zone(args[0], args[-1], resolver), *args[1:-1])
    check_count(function, len(args), node)
    args = checked_unit(function.clickhouse, args, node)
    params = _parameters(resolver, node, function, scope)
    args = _adapted(function, args, resolver)
    type_ = function.type_of(tuple([arg.type for arg in args]))
    type_ = type_with_names(function.name, getattr(node, "args", ()), args, type_)
    check_named(function.name, args, node)
    args = with_wide_types(function.name, args)
    if function.aggregate:
        refuse_nested(args, scope.aliases, node)
    distinct = bool(getattr(node, "distinct", False))
    ordered = getattr(node, "order_by", None)
    if function.name in COLLECTED or (ordered and function.name in ORDERED):
        order_by = tuple(_ordering(resolver, item, scope) for item in ordered or ())
        return collected(function.name, args, distinct=distinct, order_by=order_by, node=node)
    special = SPECIAL.get(function.name)
    if special is not None and not params:
        try:
            return special(args, type_, resolver.context)
        except SourceError as error:  # builders have no positions
            raise refused(error.message, node, code=error.error_code, hint=error.hint) from None
    return FunctionCall(
        function=function.clickhouse,
        args=args,
        params=params,
        distinct=distinct,
        aggregate=function.aggregate,
        type=type_,
    )


def _adapted(
    function: FunctionEntry, args: tuple[Expr, ...], resolver: Resolver
) -> tuple[Expr, ...]:
    """The arguments in the precision and nullability that the function of ClickHouse expects."""
    if function.clickhouse.removesuffix("If") in _WHOLE_SECONDS:
        args = (_whole_seconds(args[0]), *args[1:])
    if function.name in _NARROW and args[0].type.name == "DateTime":
        args = (narrow(args[0]), *args[1:])
    if function.returns in _LISTS and not function.aggregate and function.name not in _KEEP_NULL:
        args = tuple([_not_null_text(arg) for arg in args])
    return _times(function, args, resolver)


def _in_zone(time: Expr, zone: Expr, resolver: Resolver) -> Expr:
    time = as_time(time, resolver.context)
    if time.type.name != "DateTime":
        return time
    return TrustedSQL(parts=("toTimeZone(", time, ", ", zone, ")"), type=time.type)


def _times(function: FunctionEntry, args: tuple[Expr, ...], resolver: Resolver) -> tuple[Expr, ...]:
    """Arguments with strings parsed as timestamps where the function expects them."""
    index = TIME_PLACES.get(function.name)
    if index is None or index >= len(args):
        return args
    return (*args[:index], as_time(args[index], resolver.context), *args[index + 1 :])


# The engine accepts neither fractions of a second here nor times outside 1970 to 2106.
_WHOLE_SECONDS = frozenset({"windowFunnel", "sequenceMatch", "sequenceCount"})


def _whole_seconds(time: Expr) -> Expr:
    """A timestamp, or a number of seconds, as a number without a sign."""
    if time.type.name not in {"DateTime", "Integer"}:
        return time
    parts = ("toUInt64(toInt64(", time, f") + {_SECONDS_OF_YEARS})")
    return TrustedSQL(parts=parts, type=time.type)


_NARROW = frozenset({"sequenceMatchEvents", "dateTimeToUUIDv7"})
"""The engine accepts only ``DateTime`` here."""
_SECONDS_OF_YEARS = 62_167_219_200
"""From the year 0 to 1970."""


_LISTS = frozenset({"strings", "array", "unknown", "tuple"})
_KEEP_NULL = frozenset(
    {"tuple", "if", "multiIf", "caseWithExpression", "_caseWithExpression", "transform"}
)
"""Functions that return one of their arguments: NULL stays NULL, also inside a list."""


def _not_null_text(arg: Expr) -> Expr:
    """NULL as an empty string, for functions whose result cannot be NULL (a list)."""
    if isinstance(arg, LambdaExpr) or not arg.type.nullable:
        return arg
    if arg.type.name not in {"String", "JSON"}:
        return arg
    return TrustedSQL(parts=("ifNull(", arg, ", '')"), type=STRING)


_CONSTANTS_FIRST = "constants come first, in brackets of their own: quantile(0.9)(x)"


def check_count(function: FunctionEntry, count: int, node: Any) -> None:
    """Reject a call with too few or too many arguments.

    Raises:
        SourceError: code ``number_of_arguments_doesnt_match``.
    """
    if count < function.low or (function.high is not None and count > function.high):
        has_constants = function.params is not None and count > function.low
        hint = _CONSTANTS_FIRST if has_constants else None
        raise refused(_arity_message(function, count), node, code=ARITY, hint=hint)


def _arity_message(function: FunctionEntry, count: int) -> str:
    if function.high is None:
        expected = f"at least {function.low}"
    elif function.low == function.high:
        expected = str(function.low)
    else:
        expected = f"{function.low} to {function.high}"
    noun = "argument" if expected in {"1", "at least 1"} else "arguments"
    return f"Function '{function.name}' expects {expected} {noun}, found {count}"


def _arguments(
    resolver: Resolver, node: tree.Call, function: FunctionEntry, scope: Scope
) -> tuple[Expr, ...]:
    args = node.args
    if function.clickhouse == "position" and len(args) == 1:
        args = _haystack_first(args[0])
    if function.clickhouse.startswith("count") and args and is_star(args[0]):
        args = args[1:]
    if function.clickhouse in _TAKE_UNITS and args:
        args = (_unit(args[0]), *args[1:])
    if node.filter_expr is not None:
        args = (*args, node.filter_expr)
    if any(isinstance(arg, tree.Lambda) for arg in args):
        return _with_lambda(resolver, function, args, scope)
    return resolver.expressions(args, scope)


def _with_lambda(
    resolver: Resolver, function: FunctionEntry, nodes: tuple[Any, ...], scope: Scope
) -> tuple[Expr, ...]:
    """Arguments; the lists come first, because the lambda reads their items."""
    lists = [
        None if isinstance(node, tree.Lambda) else resolver.expression(node, scope)
        for node in nodes
    ]
    items = lambda_items(function.name, lists)
    args: list[Expr] = []
    for node, given in zip(nodes, lists, strict=True):
        scope.lambda_items = items
        args.append(resolver.expression(node, scope) if given is None else given)
    scope.lambda_items = ()
    return tuple(args)


def _haystack_first(arg: Any) -> tuple[Any, ...]:
    """``position('b' IN 'abc')`` has the needle first."""
    if isinstance(arg, tree.CompareOperation) and arg.op == "in":
        return (arg.right, arg.left)
    return (arg,)


_TAKE_LISTS = {
    **dict.fromkeys(("has", "indexOf", "arrayElement", "arrayJoin", "countEqual"), (0,)),
    **dict.fromkeys(("hasAll", "hasAny", "hasSubstr"), (0, 1)),
}
"""Engine functions and the indexes of arguments that must be lists."""
_SINGLE = frozenset({"String", "Integer", "Float", "Boolean"})


def _refuse_single_variables(
    node: tree.Call, function: FunctionEntry, args: tuple[Expr, ...]
) -> None:
    """Reject a single-value variable where a list is expected."""
    for index in _TAKE_LISTS.get(function.clickhouse, ()):
        given = node.args[index] if index < len(node.args) else None
        if not isinstance(given, tree.Placeholder) or args[index].type.name not in _SINGLE:
            continue
        chain = given.expr.chain if isinstance(given.expr, tree.Field) else ()
        name = ".".join(map(str, chain))
        message = f"{{{name}}} is a single value, but {node.name}() needs a list"
        hint = "make it a variable of type List with is_multi"
        raise refused(message, given, code=ILLEGAL_TYPE, hint=hint)


_TAKE_UNITS = frozenset(
    {
        "dateDiff", "dateTrunc", "date_part", "dateAdd", "dateSub", "age", "dateName",
        "timestampAdd", "timestampSub",
    }
)  # fmt: skip
_UNITS = frozenset(
    {"year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"}
)


def _unit(node: Any) -> Any:
    """``day`` in ``dateDiff(day, a, b)`` is a unit, not a column."""
    if isinstance(node, tree.Field) and len(node.chain) == 1:
        word = str(node.chain[0]).lower()
        if word in _UNITS:
            return tree.Constant(value=word, start=node.start, end=node.end)
    return node


def is_star(node: Any) -> bool:
    """Whether an argument is ``*``, as in ``count(*)``."""
    return isinstance(node, tree.Field) and node.chain == ("*",)


def _refuse_extras(node: tree.Call, function: FunctionEntry) -> None:
    if node.distinct and not function.aggregate:
        raise refused(f"DISTINCT: '{node.name}' is not an aggregate", node, code=NOT_AGGREGATE)
    if node.within_group or (node.order_by and function.name not in ORDERED):
        raise refused(f"ORDER BY inside '{node.name}(...)' is not supported", node)


def _parameters(
    resolver: Resolver, node: Any, function: FunctionEntry, scope: Scope
) -> tuple[Expr, ...] | None:
    given = getattr(node, "params", None)
    if given is None:
        return None
    if function.params is None:
        raise refused(f"Function '{function.name}' takes no parameters", node, code=ARITY)
    low, high = function.params
    if len(given) < low or (high is not None and len(given) > high):
        raise refused(f"Function '{function.name}': wrong number of parameters", node, code=ARITY)
    return resolver.expressions(given, scope)


def _ordering(resolver: Resolver, item: tree.OrderExpr, scope: Scope) -> Ordering:
    """ORDER BY inside an aggregate call."""
    expr = resolver.expression(item.expr, scope)
    return Ordering(expr, item.order == "DESC", item.nulls_first)
