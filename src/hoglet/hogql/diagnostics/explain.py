"""Explains errors of the engine: what to change in the query, and where.

The engine reports neither the position nor the original text. Its message contains a function,
column or constant; the first such call, field or constant in the text is the position.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation row 13;
docs/spec/data-and-queries.md#18-for-editors.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import walk
from hoglet.hogql.diagnostics.reads import READ_KINDS
from hoglet.hogql.diagnostics.words import plain, shows_inside, types_of_hogql
from hoglet.hogql.errors import ILLEGAL_TYPE, NOT_AGGREGATE, refused
from hoglet.hogql.functions import find_function
from hoglet.hogql.functions.units import UNITS
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree


class Diagnostic(msgspec.Struct, frozen=True):
    """An entry of ``HogQLMetadata`` for characters ``[start, end)`` of the query."""

    message: str
    start: int
    end: int


def problem_of(error: SourceError, source: str) -> Diagnostic:
    """An error for editors; without a position it spans the whole query."""
    message = error.message if not error.hint else f"{error.message.rstrip('.')}. {error.hint}"
    if error.end <= error.start:
        return Diagnostic(message, 0, len(source))
    return Diagnostic(message, error.start, error.end)


def explain(message: str, code: str, query: Any) -> SourceError:
    """Translate an error of the engine to an error of the query.

    Args:
        message: the engine's message.
        code: one of the codes of runs, unchanged.
        query: the parsed query, or a tuple of a query and the expressions of its filters.
    """
    for pattern, build in READ_KINDS + _KINDS:
        found = pattern.search(message)
        if found is not None:
            return build(found, code, query)
    node = _called(message, query)
    text = _in_their_words(plain(message), node)
    if shows_inside(text):
        name = getattr(node, "name", "")
        about = f" by {name}()" if name else ""
        text = f"A value or an argument does not have the required form{about}."
    return refused(text, node, code=code)


def _in_their_words(text: str, node: Any) -> str:
    """The function by the name used in the query."""
    written = getattr(node, "name", None)
    if written is None:
        return text
    for name in sorted(_names_of(written) - {written}, key=len, reverse=True):
        text = re.sub(rf"(?<![\w']){re.escape(name)}\b", written, text)
    return text


# --- positions


def _calls(query: Any) -> Iterator[Any]:
    for node in walk(query):
        if isinstance(node, tree.Call | tree.WindowFunction):
            yield node


_OPERATORS = {
    "plus": "+",
    "minus": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "equals": "==",
    "notEquals": "!=",
    "less": "<",
    "lessOrEquals": "<=",
    "greater": ">",
    "greaterOrEquals": ">=",
    "like": "like",
    "ilike": "ilike",
    "match": "=~",
    "in": "in",
}


def _called(message: str, query: Any) -> Any:
    """The first call of the function in the message, or the only call in the query."""
    words = re.findall(r"\w+", message)
    calls = list(_calls(query))
    for node in calls:
        if not _names_of(node.name).isdisjoint(words):
            return node
    for name in words:
        node = _operation(name, query)
        if node is not None:
            return node
    return _only_call(query)


def _is_whole(query: Any) -> bool:
    """Whether all calls are known; those that an insight generates are not."""
    return any(isinstance(node, tree.SelectQuery) for node in walk(query))


def _only_call(query: Any) -> Any:
    calls = list(_calls(query)) if _is_whole(query) else []
    return calls[0] if len(calls) == 1 else None


_ENDINGS = ("If", "OrNull", "OrDefault", "Distinct", "Array", "ForEach", "ArgMin", "ArgMax")
_TO_TYPES = {"toInt": "toInt64", "toFloat": "toFloat64", "toDecimal": "toDecimal64"}


def _names_of(name: str) -> set[str]:
    """Names of a call in messages: those of the query and the engine."""
    function = find_function(name)
    inner = name if function is None else function.clickhouse
    names = {name, inner, f"array{inner}", f"array{inner[:1].upper()}{inner[1:]}", f"{inner}OrNull"}
    for ending in _ENDINGS:
        if inner.endswith(ending) and function is not None and function.aggregate:
            inner = inner.removesuffix(ending)
            names.add(inner)
    if inner.startswith("median"):
        names.add(f"quantile{inner.removeprefix('median')}")
    return names | {_TO_TYPES.get(name, name)}


def _call_of(name: str, query: Any) -> Any:
    for node in _calls(query):
        if name in _names_of(node.name):
            return node
    return _operation(name, query)


def _operation(name: str, query: Any) -> Any:
    """The operator of the query that is this function in the engine."""
    operator = _OPERATORS.get(name)
    written = _WRITTEN.get(name, ())
    for node in walk(query):
        if operator is not None and getattr(node, "op", None) == operator:
            return node
        if name == "negate" and getattr(node, "op", None) == "-":
            return node
        if isinstance(node, written) and node.start is not None:
            return node
    return None


_WRITTEN: dict[str, tuple[type, ...]] = {
    "not": (tree.Not,),
    "and": (tree.And,),
    "or": (tree.Or,),
    "arrayElement": (tree.ArrayAccess,),
    "tupleElement": (tree.TupleAccess,),
    "array": (tree.Array,),
}


def _constant(value: str, query: Any) -> Any:
    """The string constant with that value, else None."""
    for node in walk(query):
        if isinstance(node, tree.Constant) and node.value == value and node.start is not None:
            return node
    return None


def _ungrouped(name: str, query: Any) -> Any:
    """The column outside of aggregates and GROUP BY."""
    grouped = {
        id(part)
        for node in walk(query)
        if isinstance(node, tree.SelectQuery)
        for part in walk(node.group_by or ())
    }
    inside = {
        id(part)
        for node in _calls(query)
        if (function := find_function(node.name)) is not None and function.aggregate
        for part in walk(node.args)
    }
    first = None
    for node in walk(query):
        if isinstance(node, tree.Field) and str(node.chain[-1]) in {name, "*"}:
            first = first or node
            if id(node) not in grouped | inside:
                return node
    return first


# --- kinds of messages

type Kind = Callable[[re.Match[str], str, Any], SourceError]


def _not_grouped(found: re.Match[str], _code: str, query: Any) -> SourceError:
    name = re.split(r"__|\.", found["column"])[-1].strip("`")
    node = _ungrouped(name, query)
    visible = name
    if node is not None and node.chain[-1] != "*":
        visible = ".".join(map(str, node.chain))
    message = f"'{visible}' must stand in GROUP BY or in an aggregate"
    return refused(message, node, code=NOT_AGGREGATE, hint=f"write any({visible}) for one of them")


_TO_NUMBERS = "use toFloat(...) for strings that contain numbers"


def _function_of(found: re.Match[str], query: Any) -> tuple[Any, str]:
    """The call in the message with its name; the only call if the names differ."""
    node = _call_of(found["function"], query)
    if node is None:
        node = _only_call(query)
        known = not _is_whole(query) and find_function(found["function"]) is not None
        return node, found["function"] if known else getattr(node, "name", "")
    return node, getattr(node, "name", None) or found["function"]


def _no_condition(found: re.Match[str], code: str, query: Any) -> SourceError:
    """An operand of AND, OR or NOT that is no condition: the first that could be of that type."""
    type_ = types_of_hogql(found["type"])
    operands = [
        operand
        for node in walk(query)
        for operand in _operands(node)
        if not isinstance(operand, tree.CompareOperation | tree.And | tree.Or | tree.Not)
    ]
    suspects = sorted(operands, key=lambda operand: not _may_be_no_condition(operand))
    node = suspects[0] if suspects else _call_of(found["function"], query)
    message = f"A condition is needed, not {_a(type_)}"
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


def _illegal_type(found: re.Match[str], code: str, query: Any) -> SourceError:
    node, name = _function_of(found, query)
    type_ = types_of_hogql(found["type"])
    hint = _TO_NUMBERS if type_ == "String" and _wants_number(name) else None
    if name == "toStartOfInterval":
        hint = "write an interval: interval 5 minute"
    is_operator = getattr(node, "op", None) is not None
    what = f"'{node.op}'" if is_operator else f"{name}()"
    what = what if name else "A function"
    return refused(f"{what} does not take {_a(type_)}", node, code=code, hint=hint)


def _wants_number(name: str) -> bool:
    function = find_function(name)
    return function is not None and (function.returns.rstrip("?!") in {"float", "int", "same"})


def _illegal_types(found: re.Match[str], code: str, query: Any) -> SourceError:
    node = _call_of(found["function"], query)
    item, two = types_of_hogql(found["one"]), types_of_hogql(found["two"])
    written = getattr(node, "op", None) or getattr(node, "name", "a function")
    hint = None
    if "String" in {item, two} and found["function"] in _ARITHMETIC:
        hint = f"{_TO_NUMBERS}, || to concatenate strings"
    message = f"'{written}' does not work on {_a(item)} and {_a(two)}"
    return refused(message, node, code=code, hint=hint)


_ARITHMETIC = frozenset({"plus", "minus", "multiply", "divide", "modulo"})


def _a(type_: str) -> str:
    if type_.lower().startswith(("a ", "an ", "const ")):
        return type_[:1].lower() + type_[1:]
    return f"{'an' if type_[:1] in 'AEIO' else 'a'} {type_}"


def _no_common_type(found: re.Match[str], code: str, query: Any) -> SourceError:
    kinds = [types_of_hogql(part) for part in re.split(r",\s*(?![^()]*\))", found["types"])]
    listed = " and ".join(dict.fromkeys(kinds))
    return refused(
        f"Values of the types {listed} do not fit into one column, list or comparison",
        _called(found.string, query),
        code=code,
        hint="use toString(x) to convert both to strings",
    )


def _bad_regex(found: re.Match[str], code: str, query: Any) -> SourceError:
    pattern = found["pattern"].removeprefix("(?i)")
    reason = found["reason"].strip().rstrip(".:")
    message = f"'{pattern}' is not a regular expression: {reason}"
    return refused(message, _constant(pattern, query) or _called(found.string, query), code=code)


def _bad_uuid(found: re.Match[str], code: str, query: Any) -> SourceError:
    value = found["value"].rstrip(".")
    return refused(f"'{value}' is not a UUID", _constant(value, query), code=code)


def _bad_zone(found: re.Match[str], code: str, query: Any) -> SourceError:
    return refused(
        f"'{found['zone']}' is not a time zone",
        _constant(found["zone"], query),
        code=code,
        hint="write a name such as 'Europe/Berlin'",
    )


def _bad_time(found: re.Match[str], code: str, query: Any) -> SourceError:
    texts = [  # those of comparisons were looked at when the query was compiled
        argument
        for node in walk(query)
        if isinstance(node, tree.Call | tree.ArithmeticOperation)
        for argument in _arguments(node)
        if isinstance(argument, tree.Constant) and isinstance(argument.value, str)
        if argument.start
    ]
    wrong = [
        node
        for node in texts
        if not any(map(str.isdigit, str(node.value))) and str(node.value) not in UNITS
    ]
    node = (wrong or [*texts[:1]] if len(texts) == 1 else wrong)[:1]
    visible = f"'{node[0].value}'" if node else "A string used as a timestamp"
    return refused(
        f"{visible} cannot be parsed as a timestamp",
        node[0] if node else _called(found.string, query),
        code=code,
        hint="use toDateTime(x), which returns NULL instead of failing",
    )


def _arguments(node: tree.Call | tree.ArithmeticOperation) -> tuple[Any, ...]:
    return node.args if isinstance(node, tree.Call) else (node.left, node.right)


def _bad_number(found: re.Match[str], code: str, query: Any) -> SourceError:
    kind = types_of_hogql(found["type"])
    hint = "use toInt(x) or toFloat(x), which return NULL instead of failing"
    message = f"'{found['value']}' is not a number ({kind})"
    return refused(message, _constant(found["value"], query), code=code, hint=hint)


def _condition(found: re.Match[str], _code: str, query: Any) -> SourceError:
    clause = found["clause"].upper()
    node = next(
        (
            part
            for select in walk(query)
            if isinstance(select, tree.SelectQuery)
            and (part := getattr(select, clause.lower(), None)) is not None
        ),
        None,
    )
    message = f"{clause} needs a condition, not {_a(types_of_hogql(found['type']))}"
    return refused(message, node, code=ILLEGAL_TYPE, hint="compare it: x = 'value'")


def _endless(found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next(
        (each for each in walk(query) if isinstance(each, tree.CTE) and each.recursive), None
    )
    text = f"The recursion does not end within {found['steps']} steps"
    return refused(text, node, code=code, hint="limit it with WHERE in the query after UNION ALL")


def _if_condition(found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((node for node in _calls(query) if node.name.lower() in {"if", "multiif"}), None)
    message = f"A condition is needed, not {_a(types_of_hogql(found['type']))}"
    return refused(message, node, code=code, hint="compare it: x = 'value'")


def _suffix_condition(found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next(
        (n for n in _calls(query) if n.name.endswith("If") or getattr(n, "filter_expr", None)), None
    )
    name = getattr(node, "name", "an aggregate with If")
    kind = _a(types_of_hogql(found["type"]))
    message = f"The last argument of {name}() is a condition, not {kind}"
    return refused(message, node, code=code)


def _join_keys(_found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in walk(query) if isinstance(part, tree.JoinConstraint)), None)
    message = "JOIN ON needs an equality between a column of each table"
    return refused(message, node, code=code, hint="put other conditions into WHERE")


def _position(found: re.Match[str], code: str, query: Any) -> SourceError:
    number, last = int(found["number"]), found["last"]
    node = next(
        (
            part
            for select in walk(query)
            if isinstance(select, tree.SelectQuery)
            for part in walk((*(select.group_by or ()), *(select.order_by or ())))
            if isinstance(part, tree.Constant) and part.value == number
        ),
        None,
    )
    return refused(
        f"There is no column {number} to order or group by: 1 to {last}", node, code=code
    )


def _aggregate_found(found: re.Match[str], code: str, query: Any) -> SourceError:
    node = _call_of(found["function"], query)
    name = getattr(node, "name", found["function"])
    message = f"{name}() cannot be used in {found['where'].strip().rstrip('.')}"
    return refused(message, node, code=code)


def _argument(found: re.Match[str], code: str, query: Any) -> SourceError:
    node, name = _function_of(found, query)
    expected, given = types_of_hogql(found["expected"]), types_of_hogql(found["given"])
    place = f"Argument {int(found['place'])} of {name}()" if name else "An argument"
    message = f"{place} must be {_a(expected)}, not {_a(given)}"
    return refused(message, node, code=code)


def _many_rows(_found: re.Match[str], code: str, query: Any) -> SourceError:
    inner = [
        node
        for node in walk(query)
        if isinstance(node, tree.SelectQuery) and node.start is not None
    ]
    inner = inner[1:] if _is_whole(query) else inner
    message = "A scalar subquery returned more than one row"
    return refused(message, inner[0] if inner else None, code=code, hint="add LIMIT 1")


def _division(_found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next(
        (n for n in walk(query) if getattr(n, "op", None) in {"/", "%"}),
        None,
    ) or next((n for n in _calls(query) if n.name.lower() in {"modulo", "intdiv", "mod"}), None)
    hint = "use intDivOrZero(a, b) or moduloOrZero(a, b), which give 0"
    return refused("Division by zero", node, code=code, hint=hint)


def _lambda_result(found: re.Match[str], code: str, query: Any) -> SourceError:
    node = _call_of(found["function"], query)
    name = getattr(node, "name", None) or found["function"]
    kind = _a(types_of_hogql(found["type"]))
    message = f"The lambda of {name}() must return a condition, not {kind}"
    return refused(message, node, code=code, hint="compare it: x -> x = 'value'")


def _frame(found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in walk(query) if isinstance(part, tree.WindowExpr)), None)
    return refused(plain(found.string), node, code=code)


def _state(_found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in _calls(query) if part.name.endswith("State")), None)
    name = getattr(node, "name", "an aggregate with -State")
    message = f"{name}() returns the state of an aggregate, which cannot be a result"
    return refused(message, node, code=code, hint="finish it with the -Merge form")


def _nothing_distinct(_found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in _calls(query) if getattr(part, "distinct", False)), None)
    return refused("DISTINCT needs an expression: count(distinct x)", node, code=code)


def _lambda(_found: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((part for part in walk(query) if isinstance(part, tree.Lambda)), None)
    message = "A lambda can only be an argument, as in arrayMap(x -> x + 1, list)"
    return refused(message, node, code=code)


_T = r"(?:[^\s,()`']|\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\))+"
_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (
        re.compile(r"Column '(?P<column>[^']+)' is not under aggregate function"),
        _not_grouped,
    ),
    (
        re.compile(
            rf"Illegal types (?P<one>{_T}) and (?P<two>{_T}) of arguments of function "
            r"(?P<function>\w+)"
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
        re.compile(r"Maximum recursive CTE evaluation depth \((?P<steps>\d+)\) exceeded"),
        _endless,
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
    (re.compile(r"There is no supertype for types (?P<types>.+?)(?: because|$)"), _no_common_type),
    (
        re.compile(
            r"cannot compile re2: (?P<pattern>.*?), error: (?P<reason>.*?)"
            r"(?:\. Look at|: [^:]*$|$)",
            re.DOTALL,
        ),
        _bad_regex,
    ),
    (
        re.compile(r"not a valid re2 pattern: (?P<reason>[^:]+): (?P<pattern>.*?)(?:: while|$)"),
        _bad_regex,
    ),
    (re.compile(r"Cannot parse uuid (?P<value>[^:]*)", re.IGNORECASE), _bad_uuid),
    (re.compile(r"Cannot load time zone (?P<zone>[^.\s]+)"), _bad_zone),
    (re.compile(r"Cannot (?:read|parse) (?:DateTime|date)"), _bad_time),
    (
        re.compile(r"Cannot parse string '(?P<value>[^']*)' as (?P<type>\w+)"),
        _bad_number,
    ),
    (
        re.compile(rf"Invalid type for filter in (?P<clause>\w+): (?P<type>{_T}?)\.?$"),
        _condition,
    ),
    (re.compile(r"Cannot determine join keys|join expression expected function"), _join_keys),
    (
        re.compile(
            r"Positional argument number (?P<number>-?\d+) is out of bounds\. "
            r"Expected in range \[1, (?P<last>\d+)\]"
        ),
        _position,
    ),
    (
        re.compile(
            r"(?:Aggregate|Window) function (?P<function>\w+).*? is found (?:in|inside) "
            r"(?P<where>.*?)(?: in query)?\.?$"
        ),
        _aggregate_found,
    ),
    (re.compile(r"Scalar subquery returned more than one row"), _many_rows),
    (re.compile(r"Division by zero"), _division),
    (
        re.compile(
            rf"Expression for function (?P<function>\w+) must return .*found (?P<type>{_T})"
        ),
        _lambda_result,
    ),
    (re.compile(r"^Frame (?:start|end) offset"), _frame),
    (re.compile(r"^A column cannot be returned: .*AggregateFunction"), _state),
    (re.compile(r"function identifier `DISTINCT`"), _nothing_distinct),
    (re.compile(r"Lambda .* is not allowed in expression context"), _lambda),
)
