"""What subqueries need of the rows of the select around them.

A source of FROM is wrapped: below, columns that may be NULL are split into a flag and a value;
above, values of subqueries are columns of their own.
"""

from hoglet.hogql.plan import Expr, Join, Name, Relation, Select, TrustedSQL, column_types
from hoglet.hogql.types import BOOLEAN

_FLAG, _VALUE, _SUBQUERY = "outer_null_", "outer_value_", "subquery_"


class OuterRows:
    """The additional columns of one source, by the alias that the select knows it by."""

    def __init__(self, alias: str) -> None:
        self._alias = alias
        self._split: dict[str, Name] = {}
        self._values: dict[str, Expr] = {}
        self._reads: dict[Name, list[Expr]] = {}

    def read(self, column: Name) -> Expr:
        """A column as subqueries read it; the engine finds no rows for NULL."""
        self._split[column.name] = column
        flag = Name(source=self._alias, name=f"{_FLAG}{column.name}", type=BOOLEAN)
        value = Name(source=self._alias, name=f"{_VALUE}{column.name}", type=column.type.not_null())
        return TrustedSQL(parts=("if(", flag, ", NULL, ", value, ")"), type=column.type.or_null())

    def add(self, value: Expr, reads: list[Expr]) -> Name:
        """The value of a subquery that reads these columns, as a column."""
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
        """The source with the columns that were asked for."""
        if self._split:
            relation = self._with(relation, dict(self._parts()))
        return self._with(relation, self._values) if self._values else relation

    def _parts(self) -> "list[tuple[str, Expr]]":
        found: list[tuple[str, Expr]] = []
        for name, column in self._split.items():
            flag = TrustedSQL(parts=("isNull(", column, ")"), type=BOOLEAN)
            default = ("defaultValueOfArgumentType(assumeNotNull(", column, "))")
            value = TrustedSQL(
                parts=("ifNull(", column, ", ", *default, ")"), type=column.type.not_null()
            )
            found += [(f"{_FLAG}{name}", flag), (f"{_VALUE}{name}", value)]
        return found

    def _with(self, relation: Relation, more: dict[str, Expr]) -> Select:
        own: dict[str, Expr] = {
            name: Name(source=self._alias, name=name, type=type_)
            for name, type_ in column_types(relation)
        }
        columns = tuple((own | more).items())
        return Select(columns=columns, joins=(Join(relation=relation, alias=self._alias),))
