"""Restores syntax that the parser drops, in the innermost node around its position in the text.

``WITH ROLLUP``, ``NULLS FIRST``, ``FILTER (WHERE x)`` before ``OVER``, and ``DISTINCT ON (a)``,
which becomes ``LIMIT 1 BY a``: both keep the first row of each ``a`` in the order of ORDER BY.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from hoglet.hogql.errors import SYNTAX, refused
from hoglet.hogql.frontend.unsupported import closing_bracket, without_constants
from hoglet.syntax import tree

_ANY = re.IGNORECASE
DISTINCT_ON = re.compile(r"\bdistinct\s+(?P<word>on)\s*\(", _ANY)
_MODE = re.compile(r"\bwith\s+(?P<mode>rollup|cube)\b", _ANY)
_NULLS = re.compile(r"\bnulls\s+first\b", _ANY)
_FILTER = re.compile(r"\bfilter\s*\(\s*where\b", _ANY)
_OVER = re.compile(r"\s*over\b", _ANY)

type Reader = Callable[[str], tree.Expression]


class _Dropped(NamedTuple):
    """One kind of dropped syntax: sorted positions, values by position, type of its node."""

    places: list[int]
    values: dict[int, Any]
    node: type[tree.Node]


def restored(parsed: tree.Query, source: str, read: Reader) -> tree.Query:
    """The query with the dropped syntax of its text.

    Args:
        parsed: the tree, with positions in ``source``.
        source: the text as written.
        read: parses an expression from the source with all text before it blanked out.

    Raises:
        SourceError: an expression in FILTER or DISTINCT ON does not parse.
    """
    blank = without_constants(source)
    dropped = {
        "mode": _dropped(_modes(blank), tree.SelectQuery),
        "nulls": _dropped(_marks(_NULLS, blank), tree.OrderExpr),
        "filter": _dropped(_filters(source, blank, read), tree.WindowFunction),
        "distinct": _dropped(_distinct_on(source, blank, read), tree.SelectQuery),
    }
    return (
        _Restorer(dropped).put(parsed) if any(each.places for each in dropped.values()) else parsed
    )


def _dropped(positions: Iterator[tuple[int, Any]], node: type[tree.Node]) -> _Dropped:
    values = dict(positions)
    return _Dropped(sorted(values), values, node)


def _marks(pattern: re.Pattern[str], blank: str) -> Iterator[tuple[int, bool]]:
    for match in pattern.finditer(blank):
        yield match.start(), True


def _modes(blank: str) -> Iterator[tuple[int, str]]:
    for match in _MODE.finditer(blank):
        yield match.start(), match["mode"].lower()


def _filters(source: str, blank: str, read: Reader) -> Iterator[tuple[int, tree.Expression]]:
    for match in _FILTER.finditer(blank):
        end = closing_bracket(blank, match.end())
        if _OVER.match(blank, end):
            yield match.start(), read(_only(source, match.end(), end - 1))


def _distinct_on(
    source: str, blank: str, read: Reader
) -> Iterator[tuple[int, tuple[tree.Expression, ...]]]:
    for match in DISTINCT_ON.finditer(blank):
        start, end = match.end() - 1, closing_bracket(blank, match.end())
        keys = read(_only(source, start, end))
        yield match.start(), keys.exprs if isinstance(keys, tree.Tuple) else (keys,)


def _only(source: str, start: int, end: int) -> str:
    """The source up to ``end``, blanked out before ``start`` to preserve positions."""
    return re.sub(r"[^\n]", " ", source[:start]) + source[start:end]


class _Restorer:
    """Puts each piece of dropped syntax into one node, inner nodes first."""

    def __init__(self, dropped: dict[str, _Dropped]) -> None:
        self._dropped = dropped

    def put(self, value: Any) -> Any:
        """The tree with its dropped syntax restored."""
        if isinstance(value, tuple):
            return tuple([self.put(item) for item in value])
        if isinstance(value, dict):
            return {key: self.put(item) for key, item in value.items()}
        if not isinstance(value, tree.Node):
            return value
        changes = {name: self.put(getattr(value, name)) for name in value.__struct_fields__}
        if (mode := self._taken("mode", value)) is not None:
            changes["group_by_mode"] = mode
        if self._taken("nulls", value):
            changes["nulls_first"] = True
        if (condition := self._taken("filter", value)) is not None:
            changes |= _filtered(changes, condition)
        if (keys := self._taken("distinct", value)) is not None:
            changes |= _first_by(value, keys)
        return msgspec.structs.replace(value, **changes)

    def _taken(self, kind: str, node: tree.Node) -> Any:
        """Remove and return the first syntax dropped inside the node, if the node can hold it."""
        places, values, taker = self._dropped[kind]
        if not isinstance(node, taker) or node.start is None or node.end is None:
            return None
        index = bisect_left(places, node.start.offset)
        if index < len(places) and places[index] < node.end.offset:
            return values[places.pop(index)]
        return None


def _filtered(function: dict[str, Any], condition: tree.Expression) -> dict[str, Any]:
    """``sum(x) FILTER (WHERE y) OVER`` as ``sumIf(x, y) OVER``."""
    key = "args" if function["args"] else "exprs"
    given = [each for each in function[key] or () if not _is_star(each)]
    return {"name": f"{function['name']}If", key: (*given, condition)}


def _is_star(node: Any) -> bool:
    return isinstance(node, tree.Field) and node.chain == ("*",)


def _first_by(query: Any, keys: tuple[tree.Expression, ...]) -> dict[str, Any]:
    """``DISTINCT ON (keys)`` as ``LIMIT 1 BY keys``."""
    if query.limit_by is not None:
        raise refused("DISTINCT ON cannot be combined with LIMIT BY", query, code=SYNTAX)
    return {
        "distinct": None,
        "limit_by": tree.LimitByExpr(n=tree.Constant(value=1), exprs=keys),
    }
