"""The parts of a filter with their paths in its JSON, in the order in which it is compiled. Pure.

Mirrors ``filters.build``: an outline assigns each part of a stored condition to the entry of the
filters that it was compiled from.
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from hoglet.functions.json_types import FunctionFilters
from hoglet.syntax import tree

type Kind = Literal[
    "source",
    "bytecode_error",
    "filters",
    "test_accounts",
    "properties",
    "entries",
    "events",
    "actions",
    "data_warehouse",
]
type Operator = Literal["all", "any"]

_ENTRIES: tuple[Kind, ...] = ("events", "actions", "data_warehouse")


class Outline(msgspec.Struct, frozen=True):
    """One part of a filter.

    Attributes:
        kind: what it is compiled from.
        path: the path of the entry, e.g. ``filters.events[0].properties[1]``.
        operator: how ``parts`` are combined; None for a part that is not divided.
        parts: in the order of the compiled condition.
    """

    kind: Kind
    path: str
    operator: Operator | None = None
    parts: tuple["Outline", ...] = ()


def outline_of(filters: FunctionFilters, test_accounts: list[str], path: str) -> Outline:
    """The outline of a filter.

    Args:
        filters: as stored.
        test_accounts: paths of the project's test account filters.
        path: the path of the filters themselves.
    """
    parts: list[Outline] = []
    if filters.get("filter_test_accounts"):
        parts += [Outline("test_accounts", each) for each in test_accounts]
    parts += _properties(filters.get("properties"), path)
    entries = tuple(_entries(filters, path))
    if entries:
        parts.append(Outline("entries", path, "any", entries))
    return Outline("filters", path, "all", tuple(parts))


def split(
    condition: "tree.Expression", operator: Operator, number: int
) -> tuple["tree.Expression", ...] | None:
    """The ``number`` operands of a compiled condition; None if it has another form."""
    if number == 1:
        return (condition,)
    joined = tree.And if operator == "all" else tree.Or
    if isinstance(condition, joined) and len(condition.exprs) == number:
        return condition.exprs
    return None


def _entries(filters: FunctionFilters, path: str) -> Iterator[Outline]:
    for kind in _ENTRIES:
        for index, entry in enumerate(filters.get(kind) or []):
            entry_path = f"{path}.{kind}[{index}]"
            parts = _properties(entry.get("properties"), entry_path)
            if kind == "actions" or (kind == "events" and entry.get("type")):
                parts.insert(0, Outline(kind, f"{entry_path}.id"))
            yield Outline(kind, entry_path, "all", tuple(parts))


def _properties(properties: Any, path: str) -> list[Outline]:
    if not properties:
        return []
    if isinstance(properties, dict):
        return [Outline("properties", f"{path}.properties")]
    return [
        Outline("properties", f"{path}.properties[{index}]") for index in range(len(properties))
    ]
