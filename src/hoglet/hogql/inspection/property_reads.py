"""Properties that a query reads, with position and type."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.syntax import tree

_BAG = "properties"
_GROUP = re.compile(r"(?:group|goe)_([0-4])")
_TABLES = {"events": "event", "persons": "person", "groups": "group"}


class PropertyRead(msgspec.Struct, frozen=True):
    """A property at ``start`` to ``end``; ``type`` is None without a defined type."""

    kind: str
    name: str
    type: str | None
    start: int
    end: int


def property_reads(query: Any, context: QueryContext) -> tuple[PropertyRead, ...]:
    """Every property in a query, in text order."""
    reads = list(_reads(query, {}, {}, context))
    return tuple(sorted(dict.fromkeys(reads), key=lambda read: (read.start, read.end)))


type _Tables = Mapping[str, str]


def _reads(
    node: Any, sources: _Tables, outer: _Tables, context: QueryContext
) -> Iterator[PropertyRead]:
    """Reads below a node; ``outer`` are the tables of the enclosing selects, by alias."""
    if isinstance(node, tuple):
        for item in node:
            yield from _reads(item, sources, outer, context)
        return
    if isinstance(node, dict):
        yield from _reads(tuple(node.values()), sources, outer, context)
        return
    if not isinstance(node, tree.Node):
        return
    if isinstance(node, tree.SelectQuery):
        outer = {**outer, **sources}
        sources = _sources(node.select_from)
    named = _named(node)
    if named is not None:
        chain, name = named
        kind = _kind(chain, sources, outer, context)
        if kind is not None and node.start is not None and node.end is not None:
            type_ = context.property_type(kind, name)
            yield PropertyRead(kind, name, type_, node.start.offset, node.end.offset)
            return
    for field in node.__struct_fields__:
        if field not in {"start", "end"}:
            yield from _reads(getattr(node, field), sources, outer, context)


def _named(node: tree.Node) -> tuple[tuple[str | int, ...], str] | None:
    """The path before ``properties`` and the name after it, also for ``properties['a b']``."""
    if isinstance(node, tree.Field) and _BAG in node.chain[:-1]:
        at = node.chain.index(_BAG)
        return node.chain[:at], str(node.chain[at + 1])
    if not isinstance(node, tree.ArrayAccess) or not isinstance(node.array, tree.Field):
        return None
    key = node.property
    if node.array.chain[-1] != _BAG or not isinstance(key, tree.Constant):
        return None
    return node.array.chain[:-1], str(key.value)


def _kind(
    chain: tuple[str | int, ...], sources: _Tables, outer: _Tables, context: QueryContext
) -> str | None:
    """The kind of property of such a path; None if unknown."""
    for part in reversed(chain):
        text = str(part)
        if text in {"person", "poe"}:
            return "person"
        if group := _GROUP.fullmatch(text):
            return f"group_{group[1]}"
        if text in context.group_types and text not in sources:
            return f"group_{context.group_types[text]}"
        if text in sources or text in outer:
            return _TABLES.get(sources.get(text, outer.get(text, "")))
    tables = {_TABLES[table] for table in sources.values() if table in _TABLES}
    return next(iter(tables)) if len(tables) == 1 else None


def _sources(join: tree.JoinExpr | None) -> dict[str, str]:
    """Alias or name → table of everything in FROM; subqueries have no table."""
    tables: dict[str, str] = {}
    while join is not None:
        chain = join.table.chain if isinstance(join.table, tree.Field) else ()
        name = ".".join(map(str, chain))
        tables[join.alias or name] = name
        join = join.next_join
    return tables
