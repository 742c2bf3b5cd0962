"""Semantic versions in SQL: compared as ``[major, minor, patch]``; pre-release tags are ignored.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index
(operators ``semver_*``).
"""

import re
from typing import Any

from hoglet.hogql.errors import refused
from hoglet.hogql.frontend.trees import (
    Expression,
    call,
    compare,
    constant,
    every,
    field,
)
from hoglet.syntax import tree

_VERSION = re.compile(r"v?(\d+)(?:\.(\d+|\*))?(?:\.(\d+|\*))?(?:[-+].*)?\Z")
_OPERATORS = {"eq": "==", "neq": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}

type Version = tuple[int, int, int]


def semver_condition(target: Expression, operator: str, value: Any) -> Expression:
    """``target`` compared with a version; ``operator`` is ``eq``, ``tilde``, ``caret`` ..."""
    text = str(value[0] if isinstance(value, list) and value else value).strip()
    found = _VERSION.match(text)
    if found is None:
        raise refused(f"Not a semantic version: {text}")
    parts = [int(part) for part in found.groups() if part not in {None, "*"}]
    low: Version = (*parts, 0, 0, 0)[:3]  # pyright: ignore[reportAssignmentType] (three ints)
    key = _key(target)
    if operator in _OPERATORS:
        return compare(_OPERATORS[operator], key, _literal(low))
    high = _ceiling(operator, low, len(parts))
    return every([compare(">=", key, _literal(low)), compare("<", key, _literal(high))])


def _ceiling(operator: str, low: Version, given: int) -> Version:
    major, minor, patch = low
    if operator == "tilde":
        return (major, minor + 1, 0) if given > 1 else (major + 1, 0, 0)
    if operator == "wildcard":
        ceilings = {1: (major + 1, 0, 0), 2: (major, minor + 1, 0), 3: (major, minor, patch + 1)}
        return ceilings[given]
    if operator == "caret":
        if major:
            return (major + 1, 0, 0)
        return (0, minor + 1, 0) if minor else (0, 0, patch + 1)
    raise refused(f"Unknown property filter operator 'semver_{operator}'")


def _literal(version: Version) -> tree.Array:
    return tree.Array(exprs=tuple(constant(part) for part in version))


def _key(target: Expression) -> Expression:
    """``arrayMap(p -> toInt64OrZero(p), extractGroups(x, '^v?(..)...'))``; ``[]`` if no version."""
    text = call("ifNull", call("toString", target), constant(""))
    pattern = constant(r"^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?")
    mapper = tree.Lambda(args=("part",), expr=call("toInt64OrZero", field("part")))
    return call("arrayMap", mapper, call("extractGroups", text, pattern))
