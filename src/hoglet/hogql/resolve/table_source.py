"""A logical table in FROM, with columns on demand.

It collects only the columns that the query uses. Lazy joins (``person``, ``group_0``, ``session``)
are inside the table's own subselect, so that the outer select sees one relation with plain columns,
and ON of a later join can use them.

Source: docs/spec/query-endpoints.md#101-tables-and-columns and
docs/spec/query-endpoints.md#102-access-and-placeholders.
"""

from typing import Any, NamedTuple

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused, unknown_field
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    Join,
    Name,
    Relation,
    Scan,
    Select,
    TrustedSQL,
)
from hoglet.hogql.resolve.sources import Chain
from hoglet.hogql.schema.catalog import LAZY_TABLES
from hoglet.hogql.schema.fields import (
    Computed,
    Derived,
    Field,
    LazyTable,
    Nested,
    Properties,
    Redirect,
    StoredColumn,
    Table,
)
from hoglet.hogql.schema.properties import (
    read_property,
    read_property_text,
)
from hoglet.hogql.types import JSON

_VIRTUAL = "$virt_"
"""Prefix of properties that are computed; events cannot set them."""
_TEXT = "text_of"
"""Prefix of the chain of a property's text, next to its typed value."""


class Sample(NamedTuple):
    """The persons of a sample: a part of the hashes of distinct ids, as shares of all."""

    start: float
    end: float


class TableSource:
    """A logical table. Columns are added while the query is resolved.

    ``nullable`` makes its computed fields NULL in rows of a LEFT JOIN that have no partner.
    """

    def __init__(
        self,
        table: Table,
        alias: str,
        context: QueryContext,
        sample: Sample | None = None,
        *,
        nullable: bool = False,
    ) -> None:
        self.alias = alias
        self.table = table
        self._context = context
        self._zone = "UTC" if table.stays_utc else context.timezone
        self._sample = sample
        self._nullable = nullable
        self._base: dict[str, Expr] = {}
        self._named: dict[Expr, str] = {}
        self._outputs: dict[Chain, tuple[str, Expr]] = {}
        self._chains: dict[str, Chain] = {}
        # A column with this name would be mistaken for the project's.
        self._taken: set[str] = {"project_id"}
        self._joins: dict[str, tuple[TableSource, Expr]] = {}

    def knows(self, name: str) -> bool:
        """Whether the table has that field, or the project a group type with that name."""
        if name in self.table.fields:
            return True
        return name in self._context.group_types and "group_0" in self.table.fields

    def has_fields(self, name: str) -> bool:
        """Whether the field is a lazy join, a nested group of fields, or properties."""
        field = self.table.fields.get(name)
        holders = Properties | LazyTable | Nested | Redirect
        return self.knows(name) if field is None else isinstance(field, holders)

    def star(self) -> list[str]:
        """Stored fields and those marked for it, without lazy joins."""
        return [name for name, field in self.table.fields.items() if field.star]

    def names(self) -> list[str]:
        """Every field, and the group types of the project."""
        is_grouped = "group_0" in self.table.fields
        return [*self.table.fields, *(self._context.group_types if is_grouped else ())]

    def resolve(self, chain: Chain, node: Any) -> Expr:
        """The output column of a chain, e.g. ``("person", "properties", "email")``."""
        known = self._outputs.get(chain)
        if known is None:
            inner = self._build(self.table.fields, chain, chain, node)
            own = isinstance(inner, Name) and inner.source == self.alias
            name = inner.name if own and isinstance(inner, Name) else self._unique(chain)
            known = self._outputs[chain] = (name, inner)
            self._chains[name] = chain
        return Name(source=self.alias, name=known[0], type=known[1].type)

    def text_of(self, expr: Expr) -> Expr | None:
        """The text of a property that was read by its type, as another output column."""
        chain = self._chains.get(expr.name) if isinstance(expr, Name) else None
        return None if chain is None else self.text_at(chain)

    def known_text(self, expr: Expr) -> Expr | None:
        """The output column of a text that was requested."""
        if not isinstance(expr, Name) or expr.source != self.alias:
            return None
        known = self._outputs.get((_TEXT, *self._chains.get(expr.name, ())))
        if known is None:
            return None
        name, inner = known
        return Name(source=self.alias, name=name, type=inner.type)

    def text_at(self, chain: Chain) -> Expr | None:
        """The text of the property at a chain, as an output column; None for other chains."""
        inner = self._text_in(self.table.fields, chain, chain)
        if inner is None:
            return None
        key: Chain = (_TEXT, *chain)
        known = self._outputs.get(key)
        if known is None:
            own = isinstance(inner, Name) and inner.source == self.alias
            name = inner.name if own and isinstance(inner, Name) else self._unique(key)
            known = self._outputs[key] = (name, inner)
        return Name(source=self.alias, name=known[0], type=inner.type)

    def _text_in(self, fields: Any, chain: Chain, full: Chain) -> Expr | None:
        """The text at a chain that was resolved before; None without a property."""
        field: Field | None = fields.get(chain[0])
        if field is None and chain[0] in self._context.group_types:
            field = fields.get(f"group_{self._context.group_types[str(chain[0])]}")
        rest = chain[1:]
        if field is None or not rest:
            return None
        if isinstance(field, Redirect):
            return self._text_in(self.table.fields, (*field.chain, *rest), full)
        if isinstance(field, Nested):
            return self._text_in(field.fields, rest, full)
        if isinstance(field, LazyTable):
            return self._lazy(str(chain[0]), field, None).text_at(rest)
        if isinstance(field, Properties) and not str(rest[0]).startswith(_VIRTUAL):
            text = read_property_text(field, rest, self._form(field, rest))
            return self._add((_TEXT, *full), text)
        return None

    def meant(self, name: str, before: Chain = ()) -> str | None:
        """The suggestion ``properties.$browser`` for ``$browser`` or ``browser``, if it exists.

        Also the person's property, and the field that other tools call ``name``.
        """
        path = self._property_path(name)
        if path is None and name in self.table.other_names:
            path = (self.table.other_names[name],)
        return None if path is None else ".".join([*map(str, before), *path])

    def _property_path(self, name: str) -> tuple[str, ...] | None:
        bag, person = self.table.fields.get("properties"), self.table.fields.get("person")
        types = self._context.property_types
        for key in (name, f"${name}"):
            if isinstance(bag, Properties) and (bag.kind, key) in types:
                return "properties", key
        if isinstance(person, LazyTable) and ("person", name) in types:
            return "person", "properties", name
        return None

    def untouched(self, column: Name) -> Name:
        """The timestamp without conversion to the project's time zone.

        Used in comparisons: time zones do not matter there, and only the stored column lets the
        engine use its primary key.
        """
        raw = self._base.get(column.name)
        if not isinstance(raw, TrustedSQL) or raw.parts[0] != "toTimeZone(":
            return column
        stored = raw.parts[1]
        if not isinstance(stored, Name):
            return column
        chain: Chain = (f"{column.name}__utc",)
        if chain not in self._outputs:
            # Qualified, or the engine would use the converted alias with the same name.
            column_itself = Name(source=self.table.physical, name=stored.name, type=stored.type)
            inner = self._add(chain, column_itself)
            self._outputs[chain] = (getattr(inner, "name", ""), inner)
        name, inner = self._outputs[chain]
        return Name(source=self.alias, name=name, type=inner.type)

    def _build(self, fields: Any, chain: Chain, full: Chain, node: Any) -> Expr:
        field: Field | None = fields.get(chain[0])
        if field is None and chain[0] in self._context.group_types:
            field = fields.get(f"group_{self._context.group_types[str(chain[0])]}")
        if field is None:
            where = f"table {self.table.name}"
            path = ".".join(map(str, full))
            known = {"missing": str(chain[0]), "meant": self.meant(str(chain[0]), full[:-1])}
            raise unknown_field(path, node, fields, where, **known)
        return self._build_field(field, chain, full, node)

    def _build_field(  # noqa: PLR0911 (one return a kind)
        self, field: Field, chain: Chain, full: Chain, node: Any
    ) -> Expr:
        rest = chain[1:]
        if isinstance(field, Nested | LazyTable) and not rest:
            path = ".".join(map(str, full))
            raise refused(f"'{path}' is a table: use one of its fields, e.g. {path}.id", node)
        if isinstance(field, Redirect):
            return self._build(self.table.fields, (*field.chain, *rest), full, node)
        if isinstance(field, Nested):
            return self._build(field.fields, rest, full, node)
        if isinstance(field, LazyTable):
            return self._lazy(str(chain[0]), field, node).resolve(rest, node)
        if isinstance(field, Properties) and rest:
            if len(rest) == 1 and str(rest[0]).startswith(_VIRTUAL):
                return self._virtual(str(rest[0]), full, node)
            return self._property(field, rest, full)
        if rest:
            path = ".".join(map(str, full))
            raise refused(f"Unable to resolve field: {path} ({chain[0]} has no fields)", node)
        if isinstance(field, Derived):
            return self._derived(field, node)
        return self._add(full, self._stored(field))

    def _virtual(self, name: str, full: Chain, node: Any) -> Expr:
        """``properties.$virt_x`` is the computed field ``$virt_x`` of the table."""
        if name in self.table.fields:
            return self._build(self.table.fields, (name,), full, node)
        known = [field for field in self.table.fields if field.startswith(_VIRTUAL)]
        hint = near(name, known) or (f" Use one of {', '.join(known)}." if known else "")
        path = ".".join(map(str, full))
        raise refused(f"'{path}' is not a computed property of {self.table.name}.{hint}", node)

    def _stored(self, field: StoredColumn | Properties | Computed) -> Expr:
        if isinstance(field, Properties):
            return Name(name=field.text, type=JSON.or_null(field.nullable))
        if isinstance(field, Computed):
            raw = self._or_null(TrustedSQL(parts=(field.sql,), type=field.type))
        else:
            raw = Name(name=field.physical, type=field.type)
        if field.type.name == "DateTime" and self._zone != "UTC":
            parts = ("toTimeZone(", raw, f", '{self._zone}')")
            return TrustedSQL(parts=parts, type=raw.type)
        return raw

    def _or_null(self, value: TrustedSQL) -> Expr:
        """The value as a nullable one, if the table is joined so; the engine has no NULL arrays."""
        if not self._nullable or value.type.nullable or value.type.name == "Array":
            return value
        return FunctionCall(function="toNullable", args=(value,), type=value.type.or_null())

    def _property(self, field: Properties, keys: Chain, full: Chain) -> Expr:
        declared = self._context.property_type(field.kind, str(keys[0])) if len(keys) == 1 else None
        value = read_property(
            field, keys, declared, self._context.timezone, form=self._form(field, keys)
        )
        return self._add(full, value)

    def _form(self, field: Properties, keys: Chain) -> str | None:
        if len(keys) != 1:
            return None
        return self._context.property_forms.get((field.kind, str(keys[0])))

    def _derived(self, field: Derived, node: Any) -> Expr:
        inner = [self._build(self.table.fields, chain, chain, node) for chain in field.chains]
        parts: list[str | Expr] = []
        for index, piece in enumerate(field.sql.split("{")):
            if index:
                number, text = piece.split("}", 1)
                parts += [inner[int(number)], text]
            else:
                parts.append(piece)
        return self._or_null(TrustedSQL(parts=tuple(parts), type=field.type))

    def _lazy(self, name: str, field: LazyTable, node: Any) -> "TableSource":
        known = self._joins.get(name)
        if known is None:
            table = LAZY_TABLES[field.table]
            alias = f"{self.alias}__{name}"
            joined = TableSource(table, alias, self._context, nullable=field.missing_is_null)
            left = self._build(self.table.fields, field.left, field.left, node)
            on = FunctionCall(function="equals", args=(left, joined.resolve(field.right, node)))
            known = self._joins[name] = (joined, on)
        return known[0]

    def _add(self, full: Chain, raw: Expr) -> Expr:
        name = self._named.get(raw)
        if name is None:
            name = self._named[raw] = self._unique(full)
            self._base[name] = raw
        return Name(source=self.alias, name=name, type=raw.type)

    def _unique(self, chain: Chain) -> str:
        name = stem = "__".join(map(str, chain))[:120]
        count = 1
        while name in self._taken:
            count += 1
            name = f"{stem}_{count}"
        self._taken.add(name)
        return name

    def relation(self) -> Relation:
        """A scan of the used columns, wrapped in a select with the lazy joins, if any."""
        scan = self._scan()
        plain = all(isinstance(expr, Name) for _, expr in self._outputs.values())
        if not self._joins and plain:
            return scan
        joins = [Join(relation=scan, alias=self.alias)]
        for joined, on in self._joins.values():
            joins.append(
                Join(relation=joined.relation(), alias=joined.alias, kind="LEFT JOIN", on=on)
            )
        columns = dict(self._outputs.values())
        return Select(columns=tuple(columns.items()), joins=tuple(joins))

    def _scan(self) -> Scan:
        table = self.table
        group_by = (TrustedSQL(parts=(table.group_by,)),) if table.group_by else ()
        return Scan(
            table=table.physical,
            columns=tuple(self._base.items()),
            final=table.final,
            where=self._where(),
            group_by=group_by,
        )

    def _where(self) -> Expr | None:
        parts = [self.table.where] if self.table.where else []
        if self._sample is not None:
            # By person rather than by row, so that funnels of a sample stay complete.
            start, end = (round(share * 1_000_000) for share in self._sample)
            parts.append(f"sipHash64(distinct_id) % 1000000 < {end}")
            if start:
                parts.append(f"sipHash64(distinct_id) % 1000000 >= {start}")
        return TrustedSQL(parts=(" AND ".join(parts),)) if parts else None
