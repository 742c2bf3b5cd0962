"""Texts of properties in a query that groups by the property's typed value.

``SELECT properties.size FROM events GROUP BY properties.size ORDER BY toString(properties.size)``:
after grouping there is one value per key and no text of a single event, so the text of the key is
used. Aggregates still read the text of every event.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    LambdaExpr,
    Name,
    Number,
    Ordering,
    Over,
    Select,
    TrustedSQL,
    Window,
)
from hoglet.hogql.resolve.operands.alignment import text_of
from hoglet.hogql.resolve.scope import Scope


def with_grouped_texts(selected: Select, scope: Scope) -> Select:
    """The query with the text of group keys where the text of single events is not available."""
    keys = set(_keys(selected, scope))
    texts = {
        text: text_of(key)
        for key in keys
        for source in scope.sources.values()
        if (text := source.known_text(key)) is not None and text not in keys
    }
    if not texts:
        return selected
    read = _Grouped(keys, texts)
    return msgspec.structs.replace(
        selected,
        columns=tuple([(name, read.expr(expr)) for name, expr in selected.columns]),
        having=None if selected.having is None else read.expr(selected.having),
        qualify=None if selected.qualify is None else read.expr(selected.qualify),
        windows=tuple([(name, read.window(window)) for name, window in selected.windows]),
        order_by=tuple(map(read.ordering, selected.order_by)),
        limit_by=None if selected.limit_by is None else _limit_by(selected.limit_by, read),
    )


def _keys(selected: Select, scope: Scope) -> Iterator[Expr]:
    """The GROUP BY expressions, behind aliases and positions."""
    for key in selected.group_by:
        parts = key.args if isinstance(key, FunctionCall) and key.function == "tuple" else (key,)
        for part in parts:
            yield part
            if isinstance(part, Name) and part.source is None and part.name in scope.aliases:
                yield scope.aliases[part.name]
            elif isinstance(part, Number) and part.text.isdecimal():
                position = int(part.text)
                if 1 <= position <= len(selected.columns):
                    yield selected.columns[position - 1][1]


class _Grouped:
    def __init__(self, keys: set[Expr], texts: Mapping[Expr, Expr]) -> None:
        self._keys = keys
        self._texts = texts

    def expr(self, node: Expr) -> Expr:  # noqa: PLR0911 (one return a kind)
        if node in self._keys:
            return node
        text = self._texts.get(node)
        if text is not None:
            return text
        if isinstance(node, FunctionCall):
            return node if node.aggregate else self._replaced(node, args=self._all(node.args))
        if isinstance(node, TrustedSQL):
            parts = [self.expr(part) if isinstance(part, Expr) else part for part in node.parts]
            return self._replaced(node, parts=tuple(parts))
        if isinstance(node, LambdaExpr):
            return self._replaced(node, body=self.expr(node.body))
        if isinstance(node, Over):
            call = msgspec.structs.replace(node.call, args=self._all(node.call.args))
            window = None if node.window is None else self.window(node.window)
            return self._replaced(node, call=call, window=window)
        return node

    def window(self, window: Window) -> Window:
        return msgspec.structs.replace(
            window,
            partition_by=self._all(window.partition_by),
            order_by=tuple(map(self.ordering, window.order_by)),
        )

    def ordering(self, ordering: Ordering) -> Ordering:
        return msgspec.structs.replace(ordering, expr=self.expr(ordering.expr))

    def _all(self, nodes: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(map(self.expr, nodes))

    def _replaced(self, node: Expr, **changed: Any) -> Expr:
        return msgspec.structs.replace(node, **changed)


def _limit_by(limit_by: tuple[Expr, Expr | None, tuple[Expr, ...]], read: _Grouped) -> Any:
    count, offset, exprs = limit_by
    return (count, offset, tuple(map(read.expr, exprs)))
