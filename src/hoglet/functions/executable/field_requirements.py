"""What a condition requires of one field, so that an index can skip the condition. Pure.

``properties.plan = 'pro' and …`` cannot be true of an event whose plan is ``'free'``. A condition
is skipped only if its evaluation has no observable effect: no part of it can fail. A regular
expression can fail only on a long text, so conditions with one are not skipped for long texts.

Source: docs/spec/hog-functions.md#53-run-time-truth-and-nulls (equality unifies types; every
operand is evaluated unless skipping one cannot be noticed).
"""

import re
from collections.abc import Container
from typing import Any, Final, Literal, NamedTuple

from hoglet.functions.filters.roots import FILTER_ROOTS
from hoglet.functions.json_types import ConditionTree
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.numbers import LARGEST_INTEGER, text_to_number
from hoglet.hog.runtime.regex import compile_pattern
from hoglet.hog.stdlib.table import STL

type Test = Literal["equal", "less", "less_equal", "greater", "greater_equal", "like", "ilike"]
"""``like`` and ``ilike`` search the operand anywhere in the field's text."""

_LISTS: Final = frozenset({"Tuple", "Array"})
_ORDERS: Final[dict[str, Test]] = {
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip
_SEARCHES: Final[dict[str, Test]] = {"like": "like", "ilike": "ilike"}
SHORT_BYTES: Final = 700
"""Texts up to this size are not too large for any regular expression."""
# The most selective test of a conjunction is used.
_SELECTIVITY: Final = ("equal", "ilike", "like", "greater", "greater_equal", "less", "less_equal")
_REGEX_OPERATORS: Final = frozenset({"=~", "!~", "=~*", "!~*"})
_MAX_PATTERN_CHARACTERS: Final = 1000
# Tokens of a pattern: literal characters (``char``) and others; patterns with groups are not read.
_PATTERN_TOKEN: Final = re.compile(
    r"(?P<char>[A-Za-z0-9 /:@_=&%#~,;<>!'\"-]|\\[./:?&=+_-])|(?P<set>\[\^?\]?[^\]\\]*\])"
    r"|(?P<end>[.^$]|\\[dDwWsSbB])|(?P<optional>[?*]|\{)|(?P<repeated>\+)"
)
# More alternatives than this would cost more in the index than they save.
_MAX_ALTERNATIVES: Final = 100


class Requirement(NamedTuple):
    """A test that one field has to pass.

    Attributes:
        chain: the field, ``("properties", "plan")``.
        test: see :data:`Test`; ``present``: the field is not null; ``long``: it is neither null
            nor a text of at most :data:`SHORT_BYTES` ASCII characters.
        operand: a scalar; a number for orders, ASCII text for searches; None for ``present``.
        as_text: null is searched as the text ``null``.
    """

    chain: tuple[str, ...]
    test: Test | Literal["present", "long"]
    operand: Any = None
    as_text: bool = False


def requirements(
    condition: ConditionTree | None, event_name: str | None = None
) -> list[Requirement] | None:
    """Tests; whenever the condition holds, at least one of them passes.

    Args:
        condition: JSON of ``hoglet.syntax.tree``.
        event_name: the name of the event, if it is known.

    Returns:
        An empty list if the condition never holds; None if no requirement is known.

    Example:
        ``event = 'order' and properties.plan in ('pro', 'team')`` gives two requirements of
        ``("properties", "plan")``, equal to ``pro`` and equal to ``team``.
    """
    searched: set[tuple[str, ...]] = set()
    if condition is None or not cannot_fail(condition, FILTER_ROOTS, searched):
        return None
    needed = _requirements(condition, event_name)
    if needed is None:
        return None
    return needed + [Requirement(chain, "long") for chain in sorted(searched)]


def _requirements(node: ConditionTree, event_name: str | None) -> list[Requirement] | None:
    match node["node"]:
        case "And":
            members = [_requirements(item, event_name) for item in node["exprs"]]
            known = [member for member in members if member is not None]
            return min(known, key=_cost, default=None)
        case "Or":
            return _alternatives(node["exprs"], event_name)
        case "CompareOperation":
            return _comparison(node, event_name)
        case "Call":
            return _regex_call(node)
        case _:
            return None


def _cost(alternatives: list[Requirement]) -> tuple[int, int]:
    worst = max((_rank(item) for item in alternatives), default=-1)
    return worst, len(alternatives)


def _rank(requirement: Requirement) -> int:
    test = requirement.test
    return len(_SELECTIVITY) if test == "present" else _SELECTIVITY.index(test)


def _alternatives(
    branches: list[ConditionTree], event_name: str | None
) -> list[Requirement] | None:
    alternatives: list[Requirement] = []
    for branch in branches:
        needed = _requirements(branch, event_name)
        if needed is None or len(alternatives) + len(needed) > _MAX_ALTERNATIVES:
            return None
        alternatives += needed
    return alternatives


def _comparison(node: ConditionTree, event_name: str | None) -> list[Requirement] | None:
    left, operator, right = node["left"], node["op"], node["right"]
    if left["node"] == "Call":
        return _text_search(left, operator, right)
    chain = _chain(left)
    if chain is None:
        return None
    if operator in {"==", "in"}:
        constants = [right] if operator == "==" else right["exprs"]
        return _equalities(chain, constants, event_name)
    return _literal_test(chain, operator, right) if right["node"] == "Constant" else None


def _literal_test(
    chain: tuple[str, ...], operator: str, right: ConditionTree
) -> list[Requirement] | None:
    value = right["value"]
    if operator == "!=" and value is None:
        return [Requirement(chain, "present")]
    if operator in _ORDERS and (threshold := _number(value)) is not None:
        return [Requirement(chain, _ORDERS[operator], threshold)]
    if operator == "=~" and (needle := _needle(value)):
        return [Requirement(chain, "like", needle)]
    return _search(chain, operator, right)


def _equalities(
    chain: tuple[str, ...], constants: list[ConditionTree], event_name: str | None
) -> list[Requirement] | None:
    if len(constants) > _MAX_ALTERNATIVES:
        return None
    if not all(item["node"] == "Constant" and _is_indexable(item["value"]) for item in constants):
        return None
    values = [item["value"] for item in constants]
    if chain == ("event",) and event_name is not None:
        return None if event_name in values else []
    return [Requirement(chain, "equal", value) for value in values]


def _is_indexable(value: Any) -> bool:
    if type(value) is int or type(value) is float:
        return _number(value) is not None
    return type(value) is str or type(value) is bool


def _text_search(
    call: ConditionTree, operator: str, right: ConditionTree
) -> list[Requirement] | None:
    """``toString(field) ilike …``, ``multiSearchAnyCaseInsensitive(toString(field), […]) > 0``."""
    if call["name"] == "multiSearchAnyCaseInsensitive" and operator == ">":
        subject, needles = call["args"]
        is_test = right["node"] == "Constant" and right["value"] == 0
        if not is_test or needles["node"] not in _LISTS or subject["node"] != "Call":
            return None
        alternatives: list[Requirement] = []
        for needle in needles["exprs"]:
            needed = _text_search(subject, "ilike", needle)
            if needed is None or not _is_plain(needle["value"]):
                return None
            alternatives += needed
        return alternatives
    if call["name"] != "toString" or len(call["args"]) != 1:
        return None
    chain = _chain(call["args"][0])
    return None if chain is None else _search(chain, operator, right, as_text=True)


def _regex_call(call: ConditionTree) -> list[Requirement] | None:
    """``match(toString(field), 'pattern')``, including inside ``ifNull``."""
    if call["name"] == "ifNull" and call["args"][0]["node"] == "Call":
        fallback = call["args"][1]
        is_false = fallback["node"] == "Constant" and not fallback["value"]
        return _regex_call(call["args"][0]) if is_false else None
    if call["name"] != "match" or call["params"] is not None:
        return None
    subject, pattern = call["args"]
    as_text = subject["node"] == "Call"
    chain = _searched_chain(subject)
    needle = _needle(pattern["value"]) if pattern["node"] == "Constant" else ""
    return [Requirement(chain, "like", needle, as_text)] if chain and needle else None


def _searched_chain(subject: ConditionTree) -> tuple[str, ...] | None:
    """The field of ``field`` or ``toString(field)``."""
    if subject["node"] == "Call":
        if subject["name"] != "toString" or len(subject["args"]) != 1:
            return None
        subject = subject["args"][0]
    return _chain(subject)


def _needle(pattern: Any) -> str:
    """Text that every match of a pattern contains; empty if none is known."""
    if type(pattern) is not str or "|" in pattern or "(" in pattern or "[[" in pattern:
        return ""
    runs, at = [""], 0
    while at < len(pattern):
        token = _PATTERN_TOKEN.match(pattern, at)
        if token is None:
            return ""
        at = token.end()
        if token["char"]:
            runs[-1] += token["char"][-1]
            continue
        if token["optional"]:
            runs[-1] = runs[-1][:-1]
            at = pattern.find("}", at) + 1 if token["optional"] == "{" else at
            if not at:
                return ""
        runs.append("")
    return max(runs, key=len)


def _search(
    chain: tuple[str, ...], operator: str, right: ConditionTree, *, as_text: bool = False
) -> list[Requirement] | None:
    test = _SEARCHES.get(operator)
    if test is None or right["node"] != "Constant" or type(right["value"]) is not str:
        return None
    needle = right["value"].strip("%")
    if not _is_plain(needle):
        return None
    return [Requirement(chain, test, needle.lower() if test == "ilike" else needle, as_text)]


def _is_plain(needle: Any) -> bool:
    """Whether a text is searched literally, without wildcards."""
    return type(needle) is str and needle.isascii() and "%" not in needle and "_" not in needle


def _chain(node: ConditionTree) -> tuple[str, ...] | None:
    if node["node"] != "Field" or not all(type(name) is str for name in node["chain"]):
        return None
    return tuple(node["chain"])


def _number(value: Any) -> float | None:
    """The numeric value of a literal in comparisons with numbers; None if it has none."""
    if type(value) is str:
        value = text_to_number(value)
    if type(value) is not int and type(value) is not float:
        return None
    return value if -LARGEST_INTEGER <= value <= LARGEST_INTEGER else None


def cannot_fail(  # noqa: PLR0911 (one case a node)
    node: ConditionTree, roots: Container[str], searched: set[tuple[str, ...]] | None = None
) -> bool:
    """Whether an expression has no effects and cannot fail, regardless of the values.

    Like ``hoglet.hog.python.analysis.purity``, but on the syntax tree.

    Args:
        node: JSON of ``hoglet.syntax.tree``.
        roots: globals that always exist, such as ``event``.
        searched: collects the fields in which regular expressions search; these can fail if the
            field is long. None: any regular expression can fail.
    """
    match node["node"]:
        case "Constant":
            return node["value_type"] is None
        case "Field":
            return node["chain"][0] in roots and 0 not in node["chain"]
        case "ArrayAccess":
            is_named = type(node["property"].get("value")) is str
            return is_named and cannot_fail(node["array"], roots, searched)
        case "And" | "Or" | "Tuple" | "Array":
            return all(cannot_fail(item, roots, searched) for item in node["exprs"])
        case "Not":
            return cannot_fail(node["expr"], roots, searched)
        case "CompareOperation":
            return _cannot_fail_to_compare(node, roots, searched)
        case "Call":
            if searched is not None and _searches(node["name"], node["args"], searched):
                return cannot_fail(node["args"][0], roots, searched)
            return _is_total(node) and all(
                cannot_fail(item, roots, searched) for item in node["args"]
            )
        case _:
            return False


def _cannot_fail_to_compare(
    node: ConditionTree, roots: Container[str], searched: set[tuple[str, ...]] | None
) -> bool:
    operator, left, right = node["op"], node["left"], node["right"]
    if operator in _REGEX_OPERATORS and searched is not None:
        return _searches("match", [left, right], searched) and cannot_fail(left, roots, searched)
    if "~" in operator or (operator in {"in", "not in"} and right["node"] not in _LISTS):
        return False
    return cannot_fail(left, roots, searched) and cannot_fail(right, roots, searched)


def _searches(name: str, arguments: list[ConditionTree], searched: set[tuple[str, ...]]) -> bool:
    """Whether a call searches a field with a valid pattern."""
    if name != "match" or len(arguments) != 2 or arguments[1]["node"] != "Constant":
        return False
    chain, pattern = _searched_chain(arguments[0]), arguments[1]["value"]
    if chain is None or type(pattern) is not str or len(pattern) > _MAX_PATTERN_CHARACTERS:
        return False
    try:
        compile_pattern(pattern, False)
    except EngineError:
        return False
    searched.add(chain)
    return True


def _is_total(call: ConditionTree) -> bool:
    entry = STL.get(call["name"])
    if entry is None or not entry.total or not entry.pure or call["params"] is not None:
        return False
    return entry.arity_fault(len(call["args"])) is None
