"""The logical plan: frozen nodes between the resolver and the printer.

Only nodes of this module can be printed, so unknown syntax never reaches the warehouse. User text
appears in a plan in three places only: ``Value`` (always a bound parameter), names (always quoted)
and ``Number`` (created from Python numbers). ``TrustedSQL`` is SQL from hoglet's own source.

Source: docs/adr/0008-warehouse.md.
"""

from typing import Any

import msgspec

from hoglet.hogql.types import BOOLEAN, UNKNOWN, Type


class Expr(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Any expression; ``type`` is the type of its value."""

    type: Type = UNKNOWN


class Value(Expr, frozen=True, kw_only=True, gc=False):
    """A constant that is bound as a parameter, e.g. ``Value(value="pro", bind="String")``."""

    value: Any
    bind: str


class Number(Expr, frozen=True, kw_only=True, gc=False):
    """A literal that hoglet prints itself: a number, ``NULL``, ``true`` or ``false``."""

    text: str


class Name(Expr, frozen=True, kw_only=True, gc=False):
    """A column of a relation (``source.name``), or an alias or lambda argument (no source)."""

    name: str
    source: str | None = None


class FunctionCall(Expr, frozen=True, kw_only=True):
    """A warehouse function, ``function(params)(DISTINCT args)``."""

    function: str
    args: tuple["Expr", ...] = ()
    params: tuple["Expr", ...] | None = None
    distinct: bool = False
    aggregate: bool = False


class TrustedSQL(Expr, frozen=True, kw_only=True):
    """SQL written by hoglet with holes: ``("CAST(", expr, ", 'Nullable(String)')")``."""

    parts: tuple["str | Expr", ...]


class LambdaExpr(Expr, frozen=True, kw_only=True):
    """``(a, b) -> body``."""

    names: tuple[str, ...]
    body: "Expr"


class Ordering(msgspec.Struct, frozen=True):
    """One item of ORDER BY; ``fill`` is ``(from, to, step)`` of WITH FILL."""

    expr: Expr
    descending: bool = False
    nulls_first: bool = False
    fill: tuple[Expr | None, Expr | None, Expr | None] | None = None


class Window(msgspec.Struct, frozen=True):
    """A window; ``frame`` is SQL built from a fixed set of words."""

    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[Ordering, ...] = ()
    frame: str = ""


class Over(Expr, frozen=True, kw_only=True):
    """``call OVER (window)`` or ``call OVER name``."""

    call: FunctionCall
    window: Window | None = None
    name: str | None = None


class ScalarQuery(Expr, frozen=True, kw_only=True):
    """A query used as a value or as the right side of IN.

    ``correlated`` if it reads columns of the select around it.
    """

    query: "Relation"
    correlated: bool = False


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """A read of a physical table; the only node that refers to one.

    ``project`` is set only by ``enforce.tenancy``; the printer rejects a scan without it.
    ``columns`` are ``(output name, expression over physical columns)``.
    """

    table: str
    columns: tuple[tuple[str, Expr], ...]
    final: bool = False
    where: Expr | None = None
    group_by: tuple[Expr, ...] = ()
    having: Expr | None = None
    project: Expr | None = None


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """``numbers(count)`` or ``numbers(offset, count)``."""

    args: tuple[Expr, ...]


class Join(msgspec.Struct, frozen=True, kw_only=True):
    """One relation of FROM; ``kind`` is empty for the first."""

    relation: "Relation"
    alias: str
    kind: str = ""
    on: Expr | None = None
    using: tuple[str, ...] = ()


class FlatRead(msgspec.Struct, frozen=True, kw_only=True):
    """A stored table that a select reads itself instead of relations; made by ``flatten``."""

    table: str
    alias: str
    project: Expr


class Select(msgspec.Struct, frozen=True, kw_only=True):
    """One SELECT; ``columns`` are ``(name, expression)``, names unique within the select."""

    columns: tuple[tuple[str, Expr], ...]
    distinct: bool = False
    joins: tuple[Join, ...] = ()
    flat_read: FlatRead | None = None
    array_join: tuple[tuple[str, Expr], ...] = ()
    array_join_kind: str = ""
    where: Expr | None = None
    group_by: tuple[Expr, ...] = ()
    group_by_mode: str = ""
    having: Expr | None = None
    qualify: Expr | None = None
    windows: tuple[tuple[str, Window], ...] = ()
    order_by: tuple[Ordering, ...] = ()
    limit_by: tuple[Expr, Expr | None, tuple[Expr, ...]] | None = None
    limit: Expr | None = None
    offset: Expr | None = None
    with_ties: bool = False


class SetQuery(msgspec.Struct, frozen=True, kw_only=True):
    """``first UNION ALL second ...``; ``rest`` pairs an operator with a query."""

    first: "Relation"
    rest: tuple[tuple[str, "Relation"], ...]


class Recursion(msgspec.Struct, frozen=True, kw_only=True):
    """``WITH RECURSIVE``: the rows of ``first``, then those that the steps compute from them.

    ``name`` is one of hoglet's own, by which ``RecursiveRead`` refers to the rows.
    """

    name: str
    first: "Relation"
    steps: tuple["Relation", ...]
    columns: tuple[tuple[str, Expr], ...]


class RecursiveRead(msgspec.Struct, frozen=True, kw_only=True):
    """A read of the previous step's rows, inside a step of the recursion with that name."""

    name: str
    columns: tuple[tuple[str, Expr], ...]


RECURSION = "recursion_"
"""Prefix of the names of recursions, followed by a number; no stored table has such a name."""

type Relation = Scan | Numbers | Select | SetQuery | Recursion | RecursiveRead

TRUE = Number(text="true", type=BOOLEAN)
FALSE = Number(text="false", type=BOOLEAN)


def column_types(relation: Relation) -> tuple[tuple[str, Type], ...]:
    """Names and types of a relation's columns, in order."""
    if isinstance(relation, SetQuery):
        return column_types(relation.first)
    if isinstance(relation, Numbers):
        return (("number", Type("Integer")),)
    return tuple((name, expr.type) for name, expr in relation.columns)
