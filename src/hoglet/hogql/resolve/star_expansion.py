"""Expands ``*``, ``alias.*`` and ``columns(...)``."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import re2

from hoglet.hogql.errors import refused, unknown_field
from hoglet.hogql.resolve.scope import Scope
from hoglet.syntax import tree


def expand_columns(items: Sequence[Any], scope: Scope) -> Iterator[Any]:
    """The items of SELECT with stars expanded."""
    for item in items:
        if isinstance(item, tree.Field) and item.chain[-1] == "*":
            yield from _star(item, scope)
        elif isinstance(item, tree.ColumnsExpr):
            yield from _columns(item, scope)
        else:
            yield item


def _star(item: tree.Field, scope: Scope) -> list[Any]:
    if len(item.chain) > 2:
        raise refused("'*' can follow only a table name", item)
    table = str(item.chain[0]) if len(item.chain) == 2 else None
    if table is not None and table not in scope.sources:
        raise unknown_field(f"{table}.*", item, scope.sources, "no such table in FROM")
    columns = _fields(item, scope, table)
    if not columns:
        raise refused("'*' needs a table in FROM", item)
    return columns


def _fields(item: Any, scope: Scope, table: str | None = None) -> list[Any]:
    several = len(scope.sources) > 1
    columns: list[Any] = []
    for alias, source in scope.sources.items():
        if table in {None, alias}:
            for name in source.star():
                field = tree.Field(
                    chain=(alias, name) if several else (name,), start=item.start, end=item.end
                )
                named = several or not name.isidentifier()  # count() keeps its name unquoted
                columns.append(tree.Alias(expr=field, alias=name) if named else field)
    return columns


def _columns(item: tree.ColumnsExpr, scope: Scope) -> list[Any]:
    if item.columns:
        return list(item.columns)
    columns = _fields(item, scope)
    if item.regex is not None:
        try:
            pattern = re2.compile(item.regex)
        except re2.error:
            raise refused("columns(...) needs a valid regular expression", item) from None
        columns = [each for each in columns if pattern.search(_name(each))]
    excluded, replaced = set(item.exclude or ()), item.replace or {}
    remaining = [each for each in columns if _name(each) not in excluded]
    _require_known(excluded, columns, "EXCLUDE", item)
    _require_known(replaced, remaining, "REPLACE", item)
    if not remaining:
        raise refused("columns(...) matches no column", item)
    return [
        tree.Alias(expr=replaced[_name(each)], alias=_name(each))
        if _name(each) in replaced
        else each
        for each in remaining
    ]


def _require_known(names: Iterable[str], columns: list[Any], word: str, item: Any) -> None:
    unknown = set(names) - {_name(each) for each in columns}
    if unknown:
        raise refused(f"{word} names no column: {', '.join(sorted(unknown))}", item)


def _name(item: Any) -> str:
    return item.alias if isinstance(item, tree.Alias) else str(item.chain[-1])
