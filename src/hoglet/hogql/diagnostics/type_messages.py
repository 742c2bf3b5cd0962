"""Explains messages of the engine about types of arguments and conditions."""

import re
from typing import Any

from hoglet.hogql.ast_builders import walk
from hoglet.hogql.diagnostics.engine_terms import types_of_hogql, with_article
from hoglet.hogql.diagnostics.positions import (
    call_of,
    called,
    calls_in,
    is_whole,
    only_call,
)
from hoglet.hogql.diagnostics.read_messages import Kind
from hoglet.hogql.errors import ILLEGAL_TYPE, LIST_OF_PROPERTY, refused
from hoglet.hogql.functions import find_function
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_TO_NUMBERS = "use toFloat(...) for strings that contain numbers"


def _function_of(match: re.Match[str], query: Any) -> tuple[Any, str]:
    """The call that a message names, or the query's only call, and the function's name."""
    node = call_of(match["function"], query)
    if node is None:
        node = only_call(query)
        known = not is_whole(query) and find_function(match["function"]) is not None
        return node, match["function"] if known else getattr(node, "name", "")
    return node, getattr(node, "name", None) or match["function"]


def _no_condition(match: re.Match[str], code: str, query: Any) -> SourceError:
    """An operand of AND, OR or NOT is not a condition; points at the first suspect."""
    type_ = types_of_hogql(match["type"])
    operands = [
        operand
        for node in walk(query)
        for operand in _operands(node)
        if not isinstance(operand, tree.CompareOperation | tree.And | tree.Or | tree.Not)
    ]
    suspects = sorted(operands, key=lambda operand: not _may_be_no_condition(operand))
    node = suspects[0] if suspects else call_of(match["function"], query)
    message = f"Expected a condition, not {with_article(type_)}"
    return refused(message, node, code=code, hint="compare it: x = 'value'")


def _operands(node: tree.Node) -> tuple[Any, ...]:
    if isinstance(node, tree.And | tree.Or):
        return node.exprs
    if isinstance(node, tree.Not):
        return (node.expr,)
    if isinstance(node, tree.Call) and node.name.lower() in {"and", "or", "not"}:
        return node.args
    return ()


_NO_CONDITIONS = frozenset({"str", "date", "datetime", "uuid", "array", "strings", "tuple", "map"})


def _may_be_no_condition(node: Any) -> bool:
    if isinstance(node, tree.Call):
        function = find_function(node.name)
        return function is not None and function.returns.rstrip("?!") in _NO_CONDITIONS
    return isinstance(node, tree.Field) or (
        isinstance(node, tree.Constant) and not isinstance(node.value, bool | int)
    )


def _illegal_type(match: re.Match[str], code: str, query: Any) -> SourceError:
    node, name = _function_of(match, query)
    type_ = types_of_hogql(match["type"])
    has_strings = type_ == "String" or (type_.startswith("Variant(") and "String" in type_)
    hint = _TO_NUMBERS if has_strings and _wants_number(name) else None
    if name == "toStartOfInterval":
        hint = "write an interval: interval 5 minute"
    is_operator = getattr(node, "op", None) is not None
    if is_operator and node.op == "-" and type_.startswith("Date"):
        hint = "to sort the other way round, write x DESC"
    what = f"'{node.op}'" if is_operator else f"{name}()"
    what = what if name else "A function"
    return refused(f"{what} does not take {with_article(type_)}", node, code=code, hint=hint)


def _wants_number(name: str) -> bool:
    function = find_function(name)
    return function is not None and (function.returns.rstrip("?!") in {"float", "int", "same"})


def _illegal_types(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = call_of(match["function"], query)
    item, two = types_of_hogql(match["one"]), types_of_hogql(match["two"])
    written = getattr(node, "op", None) or getattr(node, "name", "a function")
    hint = None
    if "String" in {item, two} and match["function"] in _ARITHMETIC:
        hint = f"{_TO_NUMBERS}, || to concatenate strings"
    message = f"'{written}' does not work on {with_article(item)} and {with_article(two)}"
    return refused(message, node, code=code, hint=hint)


_ARITHMETIC = frozenset({"plus", "minus", "multiply", "divide", "modulo"})


def _no_common_type(match: re.Match[str], code: str, query: Any) -> SourceError:
    kinds = [types_of_hogql(part) for part in re.split(r",\s*(?![^()]*\))", match["types"])]
    listed = " and ".join(dict.fromkeys(kinds))
    return refused(
        f"Values of the types {listed} cannot be mixed in a column, list or comparison",
        called(match.string, query),
        code=code,
        hint="use toString(x) to convert both to strings",
    )


def _condition(match: re.Match[str], _code: str, query: Any) -> SourceError:
    clause = match["clause"].upper()
    node = next(
        (
            part
            for select in walk(query)
            if isinstance(select, tree.SelectQuery)
            and (part := getattr(select, clause.lower(), None)) is not None
        ),
        None,
    )
    message = f"{clause} needs a condition, not {with_article(types_of_hogql(match['type']))}"
    return refused(message, node, code=ILLEGAL_TYPE, hint="compare it: x = 'value'")


def _if_condition(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((node for node in calls_in(query) if node.name.lower() in {"if", "multiif"}), None)
    message = f"Expected a condition, not {with_article(types_of_hogql(match['type']))}"
    return refused(message, node, code=code, hint="compare it: x = 'value'")


def _suffix_condition(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next(
        (n for n in calls_in(query) if n.name.endswith("If") or getattr(n, "filter_expr", None)),
        None,
    )
    name = getattr(node, "name", "an aggregate with If")
    kind = with_article(types_of_hogql(match["type"]))
    message = f"The last argument of {name}() is a condition, not {kind}"
    return refused(message, node, code=code)


def _argument(match: re.Match[str], code: str, query: Any) -> SourceError:
    node, name = _function_of(match, query)
    expected, given = types_of_hogql(match["expected"]), types_of_hogql(match["given"])
    subject = f"Argument {int(match['place'])} of {name}()" if name else "An argument"
    message = f"{subject} must be {with_article(expected)}, not {with_article(given)}"
    return refused(message, node, code=code)


_PLACES = {"first": 1, "second": 2}
_EXPECTED = {
    "a string containing JSON or a JSON object": "a string of JSON",
    "integer": "an Integer",
    "integer or array of integers": "an Integer",
    "array of source values to transform from": "an array",
    "a function": "a lambda",
    "a function with 1 arguments": "a lambda with one argument",
}


def _ordinal_argument(match: re.Match[str], code: str, query: Any) -> SourceError:
    node, name = _function_of(match, query)
    expected, given = _EXPECTED.get(match["expected"], match["expected"]), match["given"]
    subject = f"Argument {_PLACES[match['place'].lower()]} of {name}()" if name else "An argument"
    message = f"{subject} must be {expected}"
    if given and "lambda" not in (type_ := types_of_hogql(given)):
        message += f", not {with_article(type_)}"
    return refused(message, node, code=code)


def _no_array(match: re.Match[str], code: str, query: Any) -> SourceError:
    node, name = _function_of(match, query)
    given = _GIVEN.search(match.string)
    type_ = types_of_hogql(given["type"]) if given else None
    what = f"{name}() takes an array" if name else "An argument must be an array"
    message = what if type_ is None else f"{what}, not {with_article(type_)}"
    hint = LIST_OF_PROPERTY if type_ in {None, "String"} else None
    if type_ is not None and "lambda" in type_:
        hint = f"the lambda comes first: {name or 'arrayMap'}(x -> ..., list)"
    return refused(message, node, code=code, hint=hint)


def _no_constant_parameter(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = call_of(match["function"], query)
    name = getattr(node, "name", None) or match["function"]
    message = f"The first brackets of {name}() take a constant, the second ones the values"
    return refused(message, node, code=code, hint="write quantile(0.9)(x), groupArray(10)(x)")


def _lambda_result(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = call_of(match["function"], query)
    name = getattr(node, "name", None) or match["function"]
    kind = with_article(types_of_hogql(match["type"]))
    message = f"The lambda of {name}() must return a condition, not {kind}"
    return refused(message, node, code=code, hint="compare it: x -> x = 'value'")


def _no_item_type(_match: re.Match[str], _code: str, query: Any) -> SourceError:
    """Items of a list without items: the engine has no value and no type for them."""
    node = next((part for part in walk(query) if _is_empty_list(part)), None)
    message = "The items of an empty list have no type"
    hint = "write emptyArrayString() for an empty list of strings"
    return refused(message, node, code=ILLEGAL_TYPE, hint=hint)


def _is_empty_list(node: Any) -> bool:
    if isinstance(node, tree.Call):
        return node.name.lower() == "array" and not node.args
    return isinstance(node, tree.Array) and not node.exprs


_T = r"(?:[^\s,()`']|\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\))+"

_GIVEN = re.compile(rf"(?:Found|Actual|got|has type) '?(?P<type>{_T}?)'?(?:\.| instead|$)")

TYPE_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"\b(?:with|on|Illegal) type Nothing\b"), _no_item_type),
    (
        re.compile(r"Parameter for function '(?P<function>\w+)' expected to have constant value"),
        _no_constant_parameter,
    ),
    (
        re.compile(
            rf"Illegal types \(?(?P<one>{_T})(?: and|,)? (?P<two>{_T})\)? of arguments "
            r"(?:of|for)(?: aggregate)? function (?P<function>\w+)"
        ),
        _illegal_types,
    ),
    (
        re.compile(
            r"Illegal types of arguments \(`(?P<one>[^`]+)`, `(?P<two>[^`]+)`\) of function "
            r"`(?P<function>\w+)`"
        ),
        _illegal_types,
    ),
    (
        re.compile(rf"Illegal type (?P<type>{_T}) of (?:first )?argument \(condition\)"),
        _if_condition,
    ),
    (
        re.compile(
            rf"Illegal type \(?(?P<type>{_T}?)\)? of (?:\w+ )?argument(?: \d+)?"
            r"(?: of)? function (?P<function>and|or|not)\b"
        ),
        _no_condition,
    ),
    (
        re.compile(rf"Illegal type (?P<type>{_T}) of the last argument of an aggregate function"),
        _suffix_condition,
    ),
    (
        re.compile(
            rf"Illegal type \(?(?P<type>{_T}?)\)? of (?:\w+ )?argument(?: \d+)?"
            r"(?: for aggregate| of)(?: aggregate)?(?: function)? (?P<function>\w+)"
        ),
        _illegal_type,
    ),
    (
        re.compile(
            r"illegal type was provided as (?P<place>\d+)\w\w argument '\w+' to function "
            r"'(?P<function>\w+)'\. Expected: (?P<expected>.+?), got: (?P<given>.+?)\.?$"
        ),
        _argument,
    ),
    (
        re.compile(r"function '?(?P<function>\w+)'? must be (?:an )?[aA]rray"),
        _no_array,
    ),
    (
        re.compile(
            r"(?P<place>[Ff]irst|[Ss]econd) argument (?:of|for)(?: function| this overload of)? "
            r"'?(?P<function>\w+)'?,? (?:must|should) be (?P<expected>(?:(?! but )[^.,])+)"
            r"(?:(?:[.,] (?:Actual|found|got|illegal type:)| but it has type) "
            r"'?(?P<given>.+?)'?(?: instead)?(?:\.?$|: ))?"
        ),
        _ordinal_argument,
    ),
    (re.compile(r"There is no supertype for types (?P<types>.+?)(?: because|$)"), _no_common_type),
    (
        re.compile(rf"Invalid type for filter in (?P<clause>\w+): (?P<type>{_T}?)\.?$"),
        _condition,
    ),
    (
        re.compile(
            rf"Expression for function (?P<function>\w+) must return .*found (?P<type>{_T})"
        ),
        _lambda_result,
    ),
)
