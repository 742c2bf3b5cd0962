"""Finds what an engine message refers to in a query: the first such call, field or constant."""

import re
from collections.abc import Iterator
from typing import Any

from hoglet.hogql.ast_builders import walk
from hoglet.hogql.functions import find_function
from hoglet.syntax import tree


def calls_in(query: Any) -> Iterator[Any]:
    """All calls of a query, in the order of its text."""
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


def called(message: str, query: Any) -> Any:
    """The first call of the function in the message, or the only call in the query."""
    words = re.findall(r"\w+", message)
    calls = list(calls_in(query))
    for node in calls:
        if not names_of(node.name).isdisjoint(words):
            return node
    for name in words:
        node = _operation(name, query)
        if node is not None:
            return node
    return only_call(query)


def is_whole(query: Any) -> bool:
    """Whether all calls of the query are known; calls generated for an insight are not."""
    return any(isinstance(node, tree.SelectQuery) for node in walk(query))


def only_call(query: Any) -> Any:
    """The only call of a query, None if there are several or not all are known."""
    calls = list(calls_in(query)) if is_whole(query) else []
    return calls[0] if len(calls) == 1 else None


_ENDINGS = ("If", "OrNull", "OrDefault", "Distinct", "Array", "ForEach", "ArgMin", "ArgMax")
_TO_TYPES = {"toInt": "toInt64", "toFloat": "toFloat64", "toDecimal": "toDecimal64"}


def names_of(name: str) -> set[str]:
    """Names of a function in messages: its HogQL name and its names in the engine."""
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


def call_of(name: str, query: Any) -> Any:
    """The first call or operator that messages refer to by this name, else None."""
    for node in calls_in(query):
        if name in names_of(node.name):
            return node
    return _operation(name, query)


def _operation(name: str, query: Any) -> Any:
    """The first operator of the query that is this function in the engine, else None."""
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


def constant(value: str, query: Any) -> Any:
    """The string constant with that value, else None."""
    for node in walk(query):
        if isinstance(node, tree.Constant) and node.value == value and node.start is not None:
            return node
    return None


def ungrouped(name: str, query: Any) -> Any:
    """The first use of the column outside of aggregates and GROUP BY."""
    grouped = {
        id(part)
        for node in walk(query)
        if isinstance(node, tree.SelectQuery)
        for part in walk(node.group_by or ())
    }
    inside = {
        id(part)
        for node in calls_in(query)
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
