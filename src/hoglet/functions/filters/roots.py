"""Globals that a tree reads, and whether it contains a query.

Source: docs/spec/hog-functions.md#42-value-validation (transformation inputs) and
docs/spec/hog-functions.md#54-globals-seen-by-filters.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from hoglet.functions.errors import FilterRefused
from hoglet.kit.json import is_tuple
from hoglet.syntax import tree

FILTER_ROOTS = frozenset(
    {
        "event",
        "uuid",
        "timestamp",
        "distinct_id",
        "properties",
        "elements_chain",
        "elements_chain_href",
        "elements_chain_texts",
        "elements_chain_ids",
        "elements_chain_elements",
        "person",
        "pdi",
        "variables",
        *(f"$group_{index}" for index in range(5)),
        *(f"group_{index}" for index in range(5)),
    }
)


def global_paths(root: Any) -> Iterator[tuple[str | int, ...]]:
    """Every path of globals that a tree reads, in source order.

    Without lambda parameters and declared names; in programs, a name declared anywhere counts as
    declared everywhere.

    Example:
        ``x -> x + event.uuid`` yields ``("event", "uuid")``.
    """
    yield from _paths(root, frozenset())


def check_filter_tree(root: "tree.Expression") -> None:
    """Reject subqueries, cohorts and globals that filters do not have.

    Raises:
        FilterRefused: with the reason.
    """
    for node in nodes_of(root):
        if isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
            raise FilterRefused("Queries cannot be used in function filters")
        if isinstance(node, tree.CompareOperation) and "cohort" in node.op:
            raise FilterRefused(
                "Cohorts cannot be used in function filters. Use person property filters"
            )
    for path in global_paths(root):
        if path[0] not in FILTER_ROOTS:
            raise FilterRefused(f'Filters cannot read "{path[0]}": there is no such global')


def nodes_of(value: Any) -> Iterator[tree.Node]:
    """The nodes of a tree in source order, starting with itself."""
    if isinstance(value, tree.Node):
        yield value
        for name in value.__struct_fields__:
            yield from nodes_of(getattr(value, name))
    elif is_tuple(value):
        for item in value:
            yield from nodes_of(item)


def _paths(value: Any, bound: frozenset[str]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, tree.Field):
        if value.chain and value.chain[0] not in bound:
            yield value.chain
    elif isinstance(value, tree.Lambda):
        yield from _paths(value.expr, bound | frozenset(value.args))
    elif isinstance(value, tree.Block | tree.Program):
        declared = frozenset(_declared(value))
        yield from _paths(value.declarations, bound | declared)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _paths(getattr(value, name), bound)
    elif is_tuple(value):
        for item in value:
            yield from _paths(item, bound)


def _declared(value: Any) -> Iterator[str]:
    for node in nodes_of(value):
        if isinstance(node, tree.VariableDeclaration):
            yield node.name
        elif isinstance(node, tree.Function):
            yield node.name
            yield from node.params
        elif isinstance(node, tree.ForInStatement):
            yield from (name for name in (node.keyVar, node.valueVar) if name)
        elif isinstance(node, tree.TryCatchStatement):
            yield from (clause[0] or "e" for clause in node.catches)
