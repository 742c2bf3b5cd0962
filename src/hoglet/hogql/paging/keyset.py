"""Keyset pagination: the rows after a given one, stable while data arrives.

Pages by offset repeat and skip rows when data arrives in between. Pages by key do not, if the order
is total (no ties) and the position of a row never changes. Both are verified here, or the query is
rejected:

- a grouped query must be ordered by exactly its GROUP BY; aggregates change, groups do not;
- other queries must read one table and end their order in the columns that identify a row.

Source: docs/adr/0012-pages-by-key.md.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from hoglet.hogql.errors import refused
from hoglet.hogql.plan import (
    FALSE,
    TRUE,
    Expr,
    FunctionCall,
    Join,
    Name,
    Number,
    Ordering,
    Relation,
    Select,
    TrustedSQL,
    Value,
)
from hoglet.hogql.types import BOOLEAN, STRING, Type
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

NO_KEY = "cursor_not_supported"
"""The error code of queries without a suitable order."""

_IDENTITIES: dict[str, tuple[str, ...]] = {
    "events": ("uuid",),
    "persons": ("id",),
    "groups": ("index", "key"),
    "sessions": ("session_id",),
    "numbers": ("number",),
}
_FIXED: dict[str, frozenset[str]] = {  # columns whose values never change
    "persons": frozenset({"id"}),
    "groups": frozenset({"index", "key", "created_at"}),
    "sessions": frozenset({"session_id"}),
}
_CASTS = {"String": "String", "UUID": "UUID", "Date": "Date32", "DateTime": "DateTime64(6, 'UTC')"}
_NUMBERS = ("Integer", "Boolean")


class Key(msgspec.Struct, frozen=True):
    """A sort column: its index in the result and its direction."""

    index: int
    descending: bool = False


class KeysetCondition(msgspec.Struct, frozen=True):
    """Selects rows after the values ``after`` in the order of ``keys`` (None: the query's)."""

    keys: tuple[Key, ...] | None = None
    after: tuple[Any, ...] | None = None


class RowPage(msgspec.Struct, frozen=True):
    """Rows of a result: at most ``limit`` after ``offset``, or after ``seek`` of a cursor."""

    limit: int | None = None
    offset: int | None = None
    seek: KeysetCondition | None = None


WHOLE_RESULT = RowPage()


def find_keys(parsed: "tree.Query", root: Relation) -> tuple[Key, ...]:
    """The order of a query as result columns.

    Raises:
        SourceError: code ``cursor_not_supported``; the order is not total or not stable.
    """
    if not isinstance(parsed, tree.SelectQuery) or not isinstance(root, Select):
        raise _no_key("a set operation (UNION, INTERSECT, EXCEPT) cannot be paged")
    if root.limit is not None or root.offset is not None or root.limit_by is not None:
        raise _no_key("it already has a LIMIT or OFFSET")
    if not root.order_by:
        raise _no_key("it has no ORDER BY")
    if root.group_by_mode or any(ordering.fill for ordering in root.order_by):
        raise _no_key("ROLLUP, CUBE, GROUP BY ALL and WITH FILL produce rows without a key")
    if any(ordering.nulls_first for ordering in root.order_by):
        raise _no_key("cursors support only NULLS LAST")
    keys = [_key(root, ordering) for ordering in root.order_by]
    columns = [root.columns[key.index] for key in keys]
    for name, expr in columns:
        if expr.type.name not in (*_CASTS, *_NUMBERS):
            raise _no_key(f"{name} is a {expr.type.name}, which is not exact enough for a key")
    _check_total(parsed, root, [expr for _, expr in columns])
    return tuple(keys)


def seek_after(
    root: Relation, columns: Sequence[tuple[str, Type]], seek: KeysetCondition
) -> Select:
    """The query restricted to rows after ``seek.after``, in the order of ``seek.keys``.

    Args:
        root: the resolved query.
        columns: names and types of its columns.
        seek: the position; it must have keys.
    """
    inner = msgspec.structs.replace(root, order_by=()) if isinstance(root, Select) else root
    names = [Name(source="page", name=name, type=type_) for name, type_ in columns]
    keys = seek.keys or ()
    behind = None if seek.after is None else _behind(names, keys, seek.after)
    return Select(
        columns=tuple((name.name, name) for name in names),
        joins=(Join(relation=inner, alias="page"),),
        where=behind,
        order_by=tuple(Ordering(names[key.index], key.descending) for key in keys),
    )


def _key(root: Select, ordering: Ordering) -> Key:
    expr = ordering.expr
    if (
        isinstance(expr, Number)
        and expr.text.isdecimal()
        and 0 < int(expr.text) <= len(root.columns)
    ):
        return Key(int(expr.text) - 1, ordering.descending)
    for index, (name, column) in enumerate(root.columns):
        is_alias = isinstance(expr, Name) and expr.source is None and expr.name == name
        if is_alias or expr == column:
            return Key(index, ordering.descending)
    raise _no_key("every ORDER BY expression must also be selected")


def _check_total(parsed: tree.SelectQuery, root: Select, ordered: Sequence[Expr]) -> None:
    if root.group_by:
        groups = [_selected(root, expr) for expr in root.group_by]
        if any(group not in ordered for group in groups):
            raise _no_key("ORDER BY must contain every expression of GROUP BY")
        if any(expr not in groups for expr in ordered):
            raise _no_key("ORDER BY may contain only expressions of GROUP BY: other values change")
        return
    if root.distinct:
        raise _no_key("DISTINCT has no key; group by the columns instead")
    _check_identity(parsed, root, ordered)


def _check_identity(parsed: tree.SelectQuery, root: Select, ordered: Sequence[Expr]) -> None:
    source = parsed.select_from
    table = source.table if source is not None else None
    chain = table.chain if isinstance(table, tree.Field) else ()
    name = str(chain[0]) if len(chain) == 1 else ""
    ctes = {cte.name for cte in parsed.ctes or ()}
    plain = source is not None and source.next_join is None and not root.array_join
    if not plain or name not in _IDENTITIES or name in ctes:
        known = ", ".join(sorted(_IDENTITIES))
        raise _no_key(f"without GROUP BY it must read one table that identifies its rows: {known}")
    named = {expr.name for expr in ordered if isinstance(expr, Name)}
    missing = [column for column in _IDENTITIES[name] if column not in named]
    if missing:
        raise _no_key(f"its ORDER BY must end in {', '.join(missing)}, which identifies a row")
    fixed = _FIXED.get(name)
    if fixed is not None and not named <= fixed:
        moving = ", ".join(sorted(named - fixed))
        raise _no_key(f"{moving} can change, and with it the position of a row")
    if not all(isinstance(expr, Name) and _is_own(expr) for expr in ordered):
        raise _no_key("ORDER BY must name columns of the table itself")


def _is_own(expr: Name) -> bool:
    """Whether a column is the table's own, not a joined one, whose values change."""
    return "__" not in expr.name or expr.name.startswith("properties__")


def _selected(root: Select, expr: Expr) -> Expr:
    """The expression of an alias or a position in GROUP BY."""
    if (
        isinstance(expr, Number)
        and expr.text.isdecimal()
        and 0 < int(expr.text) <= len(root.columns)
    ):
        return root.columns[int(expr.text) - 1][1]
    for name, column in root.columns:
        if isinstance(expr, Name) and expr.source is None and expr.name == name:
            return column
    return expr


def _behind(names: Sequence[Name], keys: Sequence[Key], after: Sequence[Any]) -> Expr:
    """Lexicographic "greater": equal in the first keys, greater in the next."""
    ways: list[Expr] = []
    equal: list[Expr] = []
    for key, value in zip(keys, after, strict=True):
        column = names[key.index]
        ways.append(_call("and", *equal, _next(column, value, descending=key.descending)))
        equal.append(_same(column, value))
    return _call("or", *ways)


def _next(column: Name, value: Any, *, descending: bool) -> Expr:
    """NULL sorts last in both directions, as in the engine."""
    if value is None:
        return FALSE
    further = FunctionCall(
        function="less" if descending else "greater",
        args=(column, _literal(column.type, value)),
        type=BOOLEAN,
    )
    return _call("or", _call("ifNull", further, FALSE), _call("isNull", column))


def _same(column: Name, value: Any) -> Expr:
    if value is None:
        return _call("isNull", column)
    return _call("ifNull", _call("equals", column, _literal(column.type, value)), FALSE)


def _call(function: str, *args: Expr) -> Expr:
    if function in ("and", "or") and len(args) < 2:
        return args[0] if args else TRUE
    return FunctionCall(function=function, args=args, type=BOOLEAN)


def _literal(kind: Type, value: Any) -> Expr:
    if kind.name in _NUMBERS:
        return Number(text=str(int(value)), type=kind.not_null())
    text = Value(value=str(value), bind="String", type=STRING)
    return TrustedSQL(parts=("CAST(", text, f", '{_cast(kind)}')"), type=kind.not_null())


def _cast(kind: Type) -> str:
    return _CASTS[kind.name].replace("'", "\\'")


def _no_key(why: str) -> SourceError:
    return refused(f"This query cannot be paged by cursor: {why}.", code=NO_KEY)
