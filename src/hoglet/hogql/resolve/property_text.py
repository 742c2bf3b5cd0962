"""Decides where a property is read as the text that was sent, regardless of its type.

A single value can determine a type or fail to convert to it; comparisons with strings and string
functions still work for every value, because they use the property's text.

Source: docs/spec/data-and-queries.md#24-what-the-type-does-to-queries
"""

from collections.abc import Callable
from functools import cache

from hoglet.hogql.comparison_operators import COMPARISONS
from hoglet.hogql.functions import FunctionEntry, is_text_function
from hoglet.hogql.plan import Expr, FunctionCall, Name, Number, Value
from hoglet.hogql.resolve.operands.alignment import is_null
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.types import STRING
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_expression

_ORDER = frozenset({"<", "<=", ">", ">="})
_PATTERNS = frozenset({"like", "ilike", "not like", "not ilike", "=~", "!~", "=~*", "!~*"})
_MEMBERSHIP = frozenset({"in", "not in", "global in", "global not in"})
COMPARED_AS_TEXT = (frozenset(COMPARISONS) - _ORDER) | _PATTERNS | _MEMBERSHIP

_OF_ANYTHING = frozenset({"toString", "toText"})

_CHOICES: dict[str, Callable[[int, int], bool]] = {
    "ifNull": lambda _index, _count: True,
    "nvl": lambda _index, _count: True,
    "coalesce": lambda _index, _count: True,
    "nullIf": lambda _index, _count: True,
    "firstNonDefault": lambda _index, _count: True,
    "transform": lambda index, _count: index != 2,
    "caseWithExpression": lambda index, count: index == 0 or (index % 2 == 1 and index < count - 1),
    "_caseWithExpression": lambda index, count: (
        index == 0 or (index % 2 == 1 and index < count - 1)
    ),
    "has": lambda _index, _count: True,
    "hasAny": lambda _index, _count: True,
    "indexOf": lambda _index, _count: True,
    "if": lambda index, _count: index > 0,
    "multiIf": lambda index, count: index % 2 == 1 or index == count - 1,
}
"""Functions whose arguments need a common type: which ones, by index and count."""


def property_text(expr: Expr, scope: Scope) -> Expr | None:
    """The text of a property that is read by its type; None for anything else."""
    if expr.type.name == "String":
        return None
    if isinstance(expr, Name) and expr in scope.property_texts:
        return scope.property_texts[expr]
    if isinstance(expr, Name) and expr.source is None:
        alias = scope.aliases.get(expr.name) if scope.lambda_argument(expr.name) is None else None
        return None if alias is None else property_text(alias, scope)
    for source in scope.sources.values():
        text = source.text_of(expr)
        if text is not None and (not isinstance(expr, Name) or expr.source == source.alias):
            return text
    return None


def is_text_constant(expr: Expr) -> bool:
    """Whether an expression is a string, a list of strings, or a function of these only."""
    if isinstance(expr, Value):
        return expr.bind in {"String", "Array(String)"}
    if isinstance(expr, FunctionCall) and expr.args and not expr.aggregate:
        is_list = expr.function in {"array", "tuple"}
        return (is_list or expr.type.name == "String") and all(map(is_text_constant, expr.args))
    return False


def compared(operator: str, left: Expr, right: Expr, scope: Scope) -> tuple[Expr, Expr]:
    """Both sides of a comparison: a property compared with a constant string is its text."""
    if operator not in COMPARED_AS_TEXT:
        return left, right
    if operator not in _ORDER | _PATTERNS:
        left, right = _large_as_text(left, right, scope), _large_as_text(right, left, scope)
    if operator in _PATTERNS:
        return property_text(left, scope) or left, property_text(right, scope) or right
    if is_text_constant(right):
        left = property_text(left, scope) or left
    elif is_text_constant(left):
        right = property_text(right, scope) or right
    return left, right


_EXACT = 2**53
"""Larger integers are no floats: properties that hold them are compared with their text."""


def _large_as_text(expr: Expr, other: Expr, scope: Scope) -> Expr:
    """A large integer as the text with which a property or a string is compared."""
    if not isinstance(expr, Number) or not expr.text.lstrip("-").isdecimal():
        return expr
    if abs(int(expr.text)) <= _EXACT:
        return expr
    if other.type.name != "String" and property_text(other, scope) is None:
        return expr
    return Value(value=expr.text, bind="String", type=STRING)


def split_list(left: Expr, right: Expr, scope: Scope) -> list[tuple[Expr, Expr]] | None:
    """A property in a mixed list: its text for strings and NULL, its value for the others.

    None if the list is not mixed.
    """
    if not isinstance(right, FunctionCall) or right.function not in {"array", "tuple"}:
        return None
    items = tuple([_large_as_text(item, left, scope) for item in right.args])
    texts = tuple([item for item in items if is_text_constant(item) or is_null(item)])
    others = tuple([item for item in items if item not in texts])
    is_mixed = len(texts) < len(items) or any(map(is_null, texts)) or items != right.args
    text = property_text(left, scope) if is_mixed and any(map(is_text_constant, texts)) else None
    if text is None:
        return None
    return [
        (side, FunctionCall(function="tuple", args=part, type=right.type))
        for side, part in ((text, texts), (left, others))
        if part
    ]


def text_arguments(
    function: FunctionEntry, args: tuple[Expr, ...], scope: Scope
) -> tuple[Expr, ...]:
    """The arguments of a call, with the text of properties where strings are expected."""
    if function.name in _CHOICES:
        return _chosen(_CHOICES[function.name], args, scope)
    if function.aggregate or not is_text_function(function.name):
        return args
    texts = [property_text(arg, scope) for arg in args]
    if not any(texts):
        return args
    places = _text_places(function)
    return tuple(
        [
            text if text is not None and places[min(index, len(places) - 1)] else arg
            for index, (arg, text) in enumerate(zip(args, texts, strict=True))
        ]
    )


def _chosen(
    counts: Callable[[int, int], bool], args: tuple[Expr, ...], scope: Scope
) -> tuple[Expr, ...]:
    """All as text if one of them is a constant string."""
    chosen = [counts(index, len(args)) for index in range(len(args))]
    if not any(is_text_constant(arg) for arg, is_one in zip(args, chosen, strict=True) if is_one):
        return args
    return tuple(
        [
            property_text(arg, scope) or arg if is_one else arg
            for arg, is_one in zip(args, chosen, strict=True)
        ]
    )


@cache
def _text_places(function: FunctionEntry) -> tuple[bool, ...]:
    """Which arguments are strings, according to the function's example."""
    if function.name in _OF_ANYTHING:
        return (True,)
    call = parse_expression(function.example.partition(" = ")[0])
    while isinstance(call, tree.Call) and call.name != function.name and call.args:
        call = call.args[0]
    args = call.args if isinstance(call, tree.Call) else ()
    return tuple(_is_text(arg) for arg in args) or (True,)


def _is_text(node: object) -> bool:
    return not isinstance(node, tree.Constant) or isinstance(node.value, str)
