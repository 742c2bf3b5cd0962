"""ARRAY JOIN: its arrays, their aliases and its kind."""

from typing import Any

from hoglet.hogql.errors import (
    ILLEGAL_TYPE,
    LIST_OF_PROPERTY,
    refused,
)
from hoglet.hogql.plan import (
    Expr,
    Name,
)
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.types import UNKNOWN
from hoglet.syntax import tree


def resolve_array_join(
    resolver: Resolver, node: tree.SelectQuery, scope: Scope
) -> tuple[tuple[str, Expr], ...]:
    """The arrays of ARRAY JOIN, by the alias of their items.

    They can use aliases of SELECT, which can use the items, but not circularly.
    """
    items = [_aliased(item) for item in node.array_join_list or ()]
    borrowed = _borrow_aliases(node, scope) if items else []
    scope.unresolved = {item.alias for item in items}
    arrays = [(item.alias, _array(resolver, item.expr, scope)) for item in items]
    scope.unresolved = set()
    for name in borrowed:
        del scope.macros[name]
    for alias, expr in arrays:
        scope.aliases[alias] = Name(name=alias, type=expr.type.item or UNKNOWN)
    return tuple(arrays)


def _array(resolver: Resolver, node: tree.Expression, scope: Scope) -> Expr:
    """What ARRAY JOIN unfolds; the engine names no position if it is a string."""
    resolved = resolver.expression(node, scope)
    if resolved.type.name == "String":
        message = "ARRAY JOIN takes an array, not a String"
        raise refused(message, node, code=ILLEGAL_TYPE, hint=LIST_OF_PROPERTY)
    return resolved


def _aliased(item: Any) -> tree.Alias:
    """An array and the name of its elements, by default the column's name."""
    if isinstance(item, tree.Alias):
        return item
    if isinstance(item, tree.Field):
        return tree.Alias(expr=item, alias=str(item.chain[-1]), start=item.start, end=item.end)
    raise refused("ARRAY JOIN needs an alias for each array: ARRAY JOIN f(x) AS y", item)


def _borrow_aliases(node: tree.SelectQuery, scope: Scope) -> list[str]:
    """Make expressions of SELECT available to ARRAY JOIN; columns take precedence."""
    borrowed: list[str] = []
    for item in node.select:
        if isinstance(item, tree.Alias) and item.alias not in scope.macros:
            if any(source.knows(item.alias) for source in scope.sources.values()):
                continue
            scope.macros[item.alias] = tree.CTE(
                name=item.alias, expr=item.expr, cte_type="column", start=item.start, end=item.end
            )
            borrowed.append(item.alias)
    return borrowed


def array_join_kind(node: tree.SelectQuery) -> str:
    """``ARRAY JOIN`` or ``LEFT ARRAY JOIN``; empty without one."""
    if not node.array_join_list:
        return ""
    kind = (node.array_join_op or "ARRAY JOIN").upper()
    if kind not in {"ARRAY JOIN", "LEFT ARRAY JOIN", "INNER ARRAY JOIN"}:
        raise refused(f"{kind} is not supported", node)
    return kind.removeprefix("INNER ")
