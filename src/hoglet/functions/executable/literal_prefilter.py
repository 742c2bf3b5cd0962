"""Finds strings that a condition requires of a field, so that an index can skip it. Pure.

``properties.plan = 'pro' and …`` cannot be true of an event whose plan is ``'free'``. A condition
is skipped only if its evaluation has no observable effect: no part of it can fail.

Source: docs/spec/hog-functions.md#53-run-time-truth-and-nulls (equality unifies types; every
operand is evaluated
unless skipping one cannot be noticed).
"""

from collections.abc import Container
from typing import Any, NamedTuple

from hoglet.functions.filters.roots import FILTER_ROOTS
from hoglet.hog.stdlib.table import STL

_UNIFIED = frozenset({"true", "false"})  # equal to booleans
_LISTS = frozenset({"Tuple", "Array"})


class RequiredLiterals(NamedTuple):
    """``chain`` is ``("properties", "plan")``, ``texts`` are ``{"pro", "team"}``."""

    chain: tuple[str, ...]
    texts: frozenset[str]


def required_literals(condition: dict[str, Any] | None) -> RequiredLiterals | None:
    """The required values of one field for a condition to hold; None without such a field.

    Args:
        condition: JSON of ``hoglet.syntax.tree``.

    Example:
        ``event = 'order' and properties.plan = 'pro'`` gives ``(("properties", "plan"), {"pro"})``.
    """
    if condition is None:
        return None
    members = condition["exprs"] if condition["node"] == "And" else [condition]
    for member in members:
        needed = _needed(member)
        if needed is not None and all(cannot_fail(item, FILTER_ROOTS) for item in members):
            return needed
    return None


def field_value(values: dict[str, Any], chain: tuple[str, ...]) -> Any:
    """The value of a field, None if missing; UNKNOWN for values other than strings and scalars."""
    found: Any = values.get(chain[0])
    for name in chain[1:]:
        if found.__class__ is not dict:
            return found
        found = found.get(name)
    return found


def _needed(member: dict[str, Any]) -> RequiredLiterals | None:
    if member["node"] != "CompareOperation" or member["left"]["node"] != "Field":
        return None
    chain = member["left"]["chain"]
    # The index has already tested the event's name.
    if len(chain) < 2 or not all(type(name) is str for name in chain):
        return None
    right, operator = member["right"], member["op"]
    texts: list[Any] = []
    if operator == "==" and right["node"] == "Constant":
        texts = [right["value"]] if _is_only_text(right["value"]) else []
    elif operator == "in" and right["node"] in _LISTS:
        texts = [item.get("value") for item in right["exprs"]]
    if not texts or not all(type(text) is str for text in texts):
        return None
    return RequiredLiterals(tuple(chain), frozenset(texts))


def _is_only_text(value: Any) -> bool:
    """A string that equals no number and no boolean."""
    if type(value) is not str or value.strip().lower() in _UNIFIED:
        return False
    return value.strip()[:1].isalpha() and value.strip().lower()[:3] not in {"inf", "nan"}


def cannot_fail(node: dict[str, Any], roots: Container[str]) -> bool:  # noqa: PLR0911 (one case a node)
    """Whether an expression has no effects and cannot fail, whatever the values are.

    Like ``hoglet.hog.python.codegen.purity``, but on the syntax tree.

    Args:
        node: JSON of ``hoglet.syntax.tree``.
        roots: globals that always exist, such as ``event``.
    """
    match node["node"]:
        case "Constant":
            return node["value_type"] is None
        case "Field":
            return node["chain"][0] in roots and 0 not in node["chain"]
        case "ArrayAccess":
            is_named = type(node["property"].get("value")) is str
            return is_named and cannot_fail(node["array"], roots)
        case "And" | "Or" | "Tuple" | "Array":
            return all(cannot_fail(item, roots) for item in node["exprs"])
        case "Not":
            return cannot_fail(node["expr"], roots)
        case "CompareOperation":
            if "~" in node["op"] or (
                node["op"] in {"in", "not in"} and node["right"]["node"] not in _LISTS
            ):
                return False
            return cannot_fail(node["left"], roots) and cannot_fail(node["right"], roots)
        case "Call":
            return _is_total(node) and all(cannot_fail(item, roots) for item in node["args"])
        case _:
            return False


def _is_total(call: dict[str, Any]) -> bool:
    entry = STL.get(call["name"])
    if entry is None or not entry.total or not entry.pure or call["params"] is not None:
        return False
    return entry.arity_fault(len(call["args"])) is None
