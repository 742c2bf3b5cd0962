"""The names visible while a select is resolved, and the columns that its subqueries read."""

import re
from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import Any

from hoglet.hogql.errors import refused, unknown_field
from hoglet.hogql.plan import Expr, Join, Name, Relation, Select, TrustedSQL, column_types
from hoglet.hogql.resolve.sources import Chain, Source, read_deeper
from hoglet.hogql.resolve.table_source import TableSource
from hoglet.hogql.types import BOOLEAN, UNKNOWN, Type
from hoglet.syntax import tree

_UNNAMED = re.compile(r"q\d+\Z")
"""Internal name of a subquery without alias."""


class CteQuery:
    """``name AS (SELECT ...)``: resolved once, on first use, in its declaring scope."""

    def __init__(self, cte: tree.CTE, scope: "Scope") -> None:
        self.cte = cte
        self.scope = scope
        self.relation: Relation | None = None
        self.resolving = False
        self.cost = 0


_FLAG, _VALUE, _SUBQUERY = "outer_null_", "outer_value_", "subquery_"


class OuterRows:
    """The additional columns of one source, which the select knows by this alias."""

    def __init__(self, alias: str) -> None:
        self._alias = alias
        self._split: dict[str, Name] = {}
        self._values: dict[str, Expr] = {}
        self._reads: dict[Name, list[Expr]] = {}

    def read(self, column: Name) -> Expr:
        """A column as subqueries read it: split, because the engine drops rows where it is NULL."""
        self._split[column.name] = column
        flag = Name(source=self._alias, name=f"{_FLAG}{column.name}", type=BOOLEAN)
        value = Name(source=self._alias, name=f"{_VALUE}{column.name}", type=column.type.not_null())
        return TrustedSQL(parts=("if(", flag, ", NULL, ", value, ")"), type=column.type.or_null())

    def add(self, value: Expr, reads: list[Expr]) -> Name:
        """Add the value of a subquery that reads these columns; returns it as a column."""
        name = f"{_SUBQUERY}{len(self._values)}"
        self._values[name] = value
        column = Name(source=self._alias, name=name, type=value.type)
        self._reads[column] = reads
        return column

    def determined_by(self, keys: list[Expr]) -> list[Name]:
        """The values that are the same in all rows with the same keys."""
        return [
            column
            for column, reads in self._reads.items()
            if column not in keys and all(read in keys for read in reads)
        ]

    def wrapped(self, relation: Relation) -> Relation:
        """The source with the requested columns."""
        if self._split:
            relation = self._with(relation, dict(self._parts()))
        return self._with(relation, self._values) if self._values else relation

    def _parts(self) -> "list[tuple[str, Expr]]":
        parts: list[tuple[str, Expr]] = []
        for name, column in self._split.items():
            flag = TrustedSQL(parts=("isNull(", column, ")"), type=BOOLEAN)
            default = ("defaultValueOfArgumentType(assumeNotNull(", column, "))")
            value = TrustedSQL(
                parts=("ifNull(", column, ", ", *default, ")"), type=column.type.not_null()
            )
            parts += [(f"{_FLAG}{name}", flag), (f"{_VALUE}{name}", value)]
        return parts

    def _with(self, relation: Relation, more: dict[str, Expr]) -> Select:
        own: dict[str, Expr] = {
            name: Name(source=self._alias, name=name, type=type_)
            for name, type_ in column_types(relation)
        }
        columns = tuple((own | more).items())
        return Select(columns=columns, joins=(Join(relation=relation, alias=self._alias),))


class Scope:
    """Sources, aliases and CTEs of a select; ``parent`` provides CTEs only."""

    def __init__(self, parent: "Scope | None" = None) -> None:
        self.parent = parent
        self.sources: dict[str, Source] = {}
        self.aliases: dict[str, Expr] = {}
        self.lambdas: list[dict[str, Type]] = []
        self.lambda_items: tuple[Type, ...] = ()  # types of the arguments of the next lambda
        self.queries: dict[str, CteQuery] = {}
        self.macros: dict[str, tree.CTE] = {}
        self.open_macros: set[str] = set()
        self.windows: dict[str, tree.WindowExpr] = {}
        self.table_aliases: list[tuple[str, str]] = []
        self.merged: set[str] = set()
        self.unresolved: set[str] = set()  # items of ARRAY JOIN whose arrays are being resolved
        self.property_texts: dict[Expr, Expr] = {}  # by the column with the typed value
        self.plain_nulls = False  # inside of JOIN ... ON
        self.outer: Scope | None = None  # the select around a subquery, which may read its columns
        self.outer_columns: list[Expr] = []  # columns of it that were read
        self.outer_rows: dict[str, OuterRows] = {}  # by alias of a source
        self.in_where = False

    @property
    def read_tables(self) -> tuple[tuple[str, str], ...]:
        """Alias and name of every table; empty names for other sources."""
        others = len(self.sources) - len(self.table_aliases)
        return (*self.table_aliases, *[("", "")] * max(0, others))

    def cte(self, name: str) -> CteQuery | None:
        """The CTE query with that name, searching outwards."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.queries:
                return scope.queries[name]
            scope = scope.parent
        return None

    def macro(self, name: str) -> tree.CTE | None:
        """The CTE expression (``WITH 1 AS x``) with that name, searching outwards."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.macros:
                return scope.macros[name]
            scope = scope.parent
        return None

    def lambda_argument(self, name: str) -> Name | None:
        """The argument of an enclosing lambda."""
        for names in reversed(self.lambdas):
            if name in names:
                return Name(name=name, type=names[name])
        return None

    def knows(self, name: str) -> bool:
        """Whether an alias or a column of a table has that name."""
        return name in self.aliases or any(each.knows(name) for each in self.sources.values())

    @contextmanager
    def without_aliases(self, names: Collection[str]) -> Generator[None]:
        """Do not know some aliases for a while, so that columns of these names are read."""
        hidden = {name: self.aliases.pop(name) for name in names}
        try:
            yield
        finally:
            self.aliases.update(hidden)

    def resolve(self, chain: Chain, node: Any) -> Expr:
        """Resolve a chain: lambda argument, alias, table alias, then column."""
        first = str(chain[0])
        argument = self.lambda_argument(first)
        if argument is not None:
            return read_deeper(argument, chain[1:], node)
        if len(chain) > 1 and first in self.sources:
            return self.sources[first].resolve(chain[1:], node)
        alias = self.aliases.get(first)
        if alias is not None and not self._is_deeper_in_source(chain, alias):
            return read_deeper(Name(name=first, type=alias.type), chain[1:], node)
        return self._column(chain, first, node)

    def _is_deeper_in_source(self, chain: Chain, alias: Expr) -> bool:
        """Whether ``person.properties.email AS person`` still refers to a field of the table.

        A scalar alias has no fields, but the table's ``person`` has.
        """
        if len(chain) == 1 or alias.type.name == "JSON":
            return False
        return any(each.has_fields(str(chain[0])) for each in self.sources.values())

    def _column(self, chain: Chain, first: str, node: Any) -> Expr:
        owners = [source for source in self.sources.values() if source.knows(first)]
        if len(owners) == 1 or (owners and first in self.merged):
            return owners[0].resolve(chain, node)
        if len(owners) > 1:
            tables = ", ".join(source.alias for source in owners)
            raise refused(
                f"Ambiguous query. Found multiple sources for field: {first} ({tables})", node
            )
        if first in self.unresolved:
            message = f"'{first}' is an item of this ARRAY JOIN, so its arrays cannot use it"
            raise refused(message, node, hint="aliases of SELECT refer to each other in a cycle")
        known = [name for source in self.sources.values() for name in source.names()]
        tables = dict.fromkeys(_UNNAMED.sub("a query", alias) for alias in self.sources)
        where = f"tables: {', '.join(tables)}" if tables else "no table in FROM"
        path = ".".join(map(str, chain))
        if (column := self._outer_column(chain, node)) is not None:
            return column
        if self._is_outside(first):
            raise refused(f"A subquery cannot use '{path}' of the outer query: use a join", node)
        if first == "variables":
            message = f"Unable to resolve field: {path}. A variable is written {{{path}}}"
            raise refused(f"{message}, and in a template string f'...' {{{{{path}}}}}.", node)
        known += self.sources if len(chain) > 1 else []
        meant = self._property(first) if len(chain) == 1 else None
        if first == "properties" and len(chain) > 1 and str(chain[1]) in known:
            meant = str(chain[1])
        raise unknown_field(path, node, [*known, *self.aliases], where, missing=first, meant=meant)

    def _outer_column(self, chain: Chain, node: Any) -> Expr | None:
        """A column of the select around this subquery; None in FROM, CTEs, unions and ON."""
        subquery = self.parent
        if subquery is None or subquery.outer is None or self.plain_nulls:
            return None
        tables, first = subquery.outer.sources, str(chain[0])
        if len(chain) > 1 and first in tables:
            source, rest = tables[first], chain[1:]
        else:
            owners = [source for source in tables.values() if source.knows(first)]
            if len(owners) != 1:
                return None
            source, rest = owners[0], chain
        if any(source.alias == own.alias for own in self.sources.values()):
            message = f"'{source.alias}' is a table of this subquery and of the outer query"
            raise refused(message, node, hint="give them different aliases")
        column = source.resolve(rest, node)
        subquery.outer_columns.append(column)
        if isinstance(column, Name) and (column.type.nullable or column.type == UNKNOWN):
            return subquery.outer.rows_of(source).read(column)
        return column

    def rows_of(self, source: Source) -> OuterRows:
        """The columns of a source that subqueries need."""
        return self.outer_rows.setdefault(source.alias, OuterRows(source.alias))

    def below(self, value: Expr, reads: list[Expr]) -> Expr:
        """Move the value of a correlated subquery into a column of the select's only source.

        In WHERE and with joins it stays where it is.
        """
        if self.in_where or len(self.sources) != 1 or self.lambdas:
            return value
        (source,) = self.sources.values()
        return self.rows_of(source).add(value, reads)

    def determined_by(self, group_by: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The values of subqueries that read columns of GROUP BY only."""
        named = [self.aliases.get(key.name, key) for key in group_by if isinstance(key, Name)]
        keys = [*group_by, *named]
        return tuple(
            value for rows in self.outer_rows.values() for value in rows.determined_by(keys)
        )

    def _property(self, name: str) -> str | None:
        """``properties.plan`` of the first table with such a property."""
        for source in self.sources.values():
            prefix = (source.alias,) if len(self.sources) > 1 else ()
            if isinstance(source, TableSource) and (path := source.meant(name, prefix)):
                return path
        return None

    def _is_outside(self, first: str) -> bool:
        """Whether an outer query has that table or column."""
        scope = self.parent
        while scope is not None:
            if first in scope.sources or any(each.knows(first) for each in scope.sources.values()):
                return True
            scope = scope.parent
        return False
