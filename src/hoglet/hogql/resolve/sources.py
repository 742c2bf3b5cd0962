"""The sources of FROM: their common interface, and sources with fixed columns.

Source: docs/spec/query-endpoints.md#101-tables-and-columns and
docs/spec/query-endpoints.md#102-access-and-placeholders.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused, unknown_field
from hoglet.hogql.plan import (
    FALSE,
    Expr,
    Name,
    Relation,
    Scan,
    Select,
    SetQuery,
    TrustedSQL,
    column_types,
)
from hoglet.hogql.schema.catalog import LAZY_TABLES
from hoglet.hogql.schema.events import PERSON_ON_EVENT
from hoglet.hogql.schema.fields import (
    Computed,
    Derived,
    Field,
    LazyTable,
    Properties,
    StoredColumn,
)
from hoglet.hogql.schema.properties import (
    read_text,
    typed_text,
)
from hoglet.hogql.types import JSON, STRING, UNKNOWN, Type

type Chain = tuple[str | int, ...]


class Source(Protocol):
    """A relation in FROM."""

    alias: str

    def knows(self, name: str) -> bool:
        """Whether the first part of a chain is a field of this relation."""
        ...

    def has_fields(self, name: str) -> bool:
        """Whether the field is a table or a property bag, which has fields of its own."""
        ...

    def resolve(self, chain: Chain, node: Any) -> Expr:
        """The column of a chain, as visible to the outer select."""
        ...

    def star(self) -> list[str]:
        """The fields of ``*``, in order."""
        ...

    def names(self) -> list[str]:
        """All fields, for suggestions."""
        ...

    def text_of(self, expr: Expr) -> Expr | None:
        """The text of a property that ``resolve`` returned by its type; None for anything else."""
        ...

    def known_text(self, expr: Expr) -> Expr | None:
        """The earlier result of ``text_of``; None if it was not called."""
        ...

    def relation(self) -> Relation:
        """The plan of this relation; called once, after everything is resolved."""
        ...


_BAGS: dict[tuple[str, str, str], str] = {
    (table.physical, table.where, field.text): field.kind
    for table in LAZY_TABLES.values()
    for field in (*table.fields.values(), *PERSON_ON_EVENT.fields.values())
    if isinstance(field, Properties)
}


def bag_of(relation: Relation, column: str) -> str | None:
    """``event``, ``person`` or ``group`` if the column is a whole property bag, else None."""
    if isinstance(relation, SetQuery):
        kinds = {_bag_in_set(each, relation, column) for each in _queries(relation)}
        return kinds.pop() if len(kinds) == 1 else None
    if not isinstance(relation, Scan | Select):
        return None
    expr = dict(relation.columns).get(column)
    if not isinstance(expr, Name):
        return None
    if isinstance(relation, Scan):
        return _BAGS.get((relation.table, _fixed_part(relation), expr.name))
    inner = next((each for each in relation.joins if each.alias == expr.source), None)
    return None if inner is None else bag_of(inner.relation, expr.name)


def _fixed_part(scan: Scan) -> str:
    """The table's own condition, which distinguishes groups of one type from all groups."""
    part = scan.where.parts[0] if isinstance(scan.where, TrustedSQL) else ""
    return part.split(" AND ")[0] if isinstance(part, str) else ""


def _queries(relation: SetQuery) -> tuple[Relation, ...]:
    return (relation.first, *(query for _, query in relation.rest))


def _bag_in_set(query: Relation, whole: SetQuery, column: str) -> str | None:
    """The property bag of a column; a set operation has the names of its first query."""
    first = whole.first
    while isinstance(first, SetQuery):
        first = first.first
    if not isinstance(first, Scan | Select) or not isinstance(query, Scan | Select):
        return None
    names = [name for name, _ in first.columns]
    if column not in names or names.index(column) >= len(query.columns):
        return None
    return bag_of(query, query.columns[names.index(column)][0])


class QuerySource:
    """A subquery, a CTE or ``numbers``: fixed columns."""

    def __init__(
        self,
        alias: str,
        relation: Relation,
        renamed: tuple[str, ...] = (),
        context: QueryContext | None = None,
    ) -> None:
        self.alias = alias
        self._context = context
        self._texts: dict[Expr, TrustedSQL] = {}
        self._relation = relation
        columns = column_types(relation)
        self._types: dict[str, Type] = dict(columns)
        self._inner = {name: name for name in self._types}
        if renamed:
            pairs = zip(renamed, columns, strict=False)
            self._inner = {new: name for new, (name, _) in pairs}

    def knows(self, name: str) -> bool:
        """Whether the query has that column."""
        return name in self._inner

    def has_fields(self, name: str) -> bool:
        """Whether the query has a property bag with that name."""
        return name in self._inner and self._types[self._inner[name]].name == "JSON"

    def resolve(self, chain: Chain, node: Any) -> Expr:
        """A column of the query; further parts of the chain access JSON or a tuple."""
        name = self._inner.get(str(chain[0]))
        if name is None:
            raise unknown_field(str(chain[0]), node, self._inner, f"not in {self.alias}")
        column = Name(source=self.alias, name=name, type=self._types[name])
        value = read_deeper(column, chain[1:], node)
        if len(chain) == 2 and column.type.name == "JSON" and isinstance(value, TrustedSQL):
            return self._typed(name, str(chain[1]), value)
        return value

    def _typed(self, name: str, key: str, text: TrustedSQL) -> Expr:
        """A property by its defined type, if the column is a property bag."""
        kind = bag_of(self._relation, name)
        if kind is None or self._context is None:
            return text
        typed = typed_text(text, self._context.property_type(kind, key), self._context.timezone)
        self._texts[typed] = text
        return typed

    def text_of(self, expr: Expr) -> Expr | None:
        """The text of a property that was read by its type."""
        return self._texts.get(expr)

    def known_text(self, expr: Expr) -> Expr | None:
        """Like ``text_of``, without adding a column."""
        return self._texts.get(expr)

    def star(self) -> list[str]:
        """Every column."""
        return list(self._inner)

    def names(self) -> list[str]:
        """Every column."""
        return list(self._inner)

    def relation(self) -> Relation:
        """The query itself."""
        return self._relation


def read_deeper(column: Expr, rest: Chain, node: Any) -> Expr:
    """``column.a.b`` for other columns than property bags: JSON access, else an error."""
    if not rest:
        return column
    if column.type.name == "Tuple":
        position = part_position(column.type, rest[0], node)
        part = TrustedSQL(parts=("tupleElement(", column, f", {position})"), type=UNKNOWN)
        return read_deeper(part, rest[1:], node)
    if column.type.name not in {"JSON", "String", "Unknown"}:
        path = ".".join(str(part) for part in rest)
        raise refused(f"Cannot read '{path}' of a value of type {column.type.name}", node)
    return read_text(column, rest)


def part_position(tuple_: Type, part: str | int, node: Any) -> int:
    """The position of a tuple's part, from 1 on.

    Raises:
        SourceError: it has no part with that name.
    """
    if isinstance(part, int):
        return part
    if part in tuple_.names:
        return tuple_.names.index(part) + 1
    known = ", ".join(filter(None, tuple_.names))
    hint = (
        f"its parts are {known}" if known else "parts without names are read by position, e.g. .1"
    )
    raise refused(f"The tuple has no part named '{part}'", node, hint=hint)


class EmptySource(QuerySource):
    """A PostHog table that is always empty here: ``SELECT ... WHERE false``."""

    def __init__(self, alias: str, fields: Mapping[str, Field]) -> None:
        columns = tuple((name, _no_value(type_)) for name, type_ in _column_types(fields))
        super().__init__(alias, Select(columns=columns, where=FALSE))
        self._joined = {
            name: LAZY_TABLES[field.table].fields
            for name, field in fields.items()
            if isinstance(field, LazyTable)
        }

    def knows(self, name: str) -> bool:
        """Whether ``name`` is a column or a table that would be joined."""
        return name in self._joined or super().knows(name)

    def has_fields(self, name: str) -> bool:
        """Whether ``name`` is a table that would be joined."""
        return name in self._joined or super().has_fields(name)

    def resolve(self, chain: Chain, node: Any) -> Expr:
        """A column; fields of joined tables, which have no rows, are NULL."""
        fields = self._joined.get(str(chain[0]))
        if fields is None:
            return super().resolve(chain, node)
        for depth, part in enumerate(chain[1:], 2):
            field = fields.get(str(part))
            if field is None:
                path = ".".join(map(str, chain))
                raise unknown_field(path, node, fields, f"not in {self.alias}")
            if not isinstance(field, LazyTable):
                return _of_no_row(field, chain[depth:])
            fields = LAZY_TABLES[field.table].fields
        path = ".".join(map(str, chain))
        raise refused(f"'{path}' is a table: use one of its fields, e.g. {path}.id", node)


def _of_no_row(field: Field, rest: Chain) -> Expr:
    if isinstance(field, Properties) and not rest:
        return _no_value(JSON)
    if isinstance(field, StoredColumn | Computed | Derived) and not rest:
        return _no_value(field.type)
    return _no_value(STRING)


def _no_value(type_: Type) -> Expr:
    name = _EMPTY.get(type_.name, type_.name)
    return TrustedSQL(parts=(f"CAST(NULL, 'Nullable({name})')",), type=type_.or_null())


_EMPTY = {
    "JSON": "String",
    "Integer": "Int64",
    "Float": "Float64",
    "Date": "Date32",
    "DateTime": "DateTime64(6)",
    "Boolean": "Bool",
}


def _column_types(fields: Mapping[str, Field]) -> Iterator[tuple[str, Type]]:
    for name, field in fields.items():
        if isinstance(field, StoredColumn):
            yield name, field.type
