"""Types of HogQL expressions and their nullability.

They determine comparisons, conversions, null-safety, and ``columns`` of endpoint records. They are
deliberately approximate: an unknown type is ``Unknown``, and the warehouse decides.

Source: docs/spec/query-endpoints.md#21-endpoint-record-rows-1-4 (columns) and
docs/spec/query-endpoints.md#10-query-language-essentials.
"""

import msgspec


class Type(msgspec.Struct, frozen=True):
    """The type of an expression, e.g. ``Type("Array", item=Type("String"))``.

    ``names`` are the names of a tuple's parts, empty strings for unnamed ones.
    """

    name: str
    nullable: bool = False
    item: "Type | None" = None
    names: tuple[str, ...] = ()

    def or_null(self, nullable: bool = True) -> "Type":  # noqa: FBT001, FBT002 (reads as a sentence)
        """The same type, nullable when ``nullable`` is true."""
        if not nullable or self.nullable:
            return self
        return Type(self.name, nullable=True, item=self.item, names=self.names)

    def not_null(self) -> "Type":
        """The same type without NULL."""
        return Type(self.name, item=self.item, names=self.names) if self.nullable else self


INTEGER = Type("Integer")
FLOAT = Type("Float")
DECIMAL = Type("Decimal")
STRING = Type("String")
BOOLEAN = Type("Boolean")
DATE = Type("Date")
DATETIME = Type("DateTime")
UUID = Type("UUID")
JSON = Type("JSON")
ARRAY = Type("Array", item=Type("Unknown"))
STRING_ARRAY = Type("Array", item=STRING)
TUPLE = Type("Tuple")
MAP = Type("Map")
INTERVAL = Type("Interval")
NULL = Type("Null", nullable=True)
UNKNOWN = Type("Unknown")
NULLABLE_STRING = Type("String", nullable=True)

NUMBERS = frozenset({"Integer", "Float", "Decimal"})
TIMES = frozenset({"Date", "DateTime"})

_RECORD_TYPES = {
    "Integer": "integer",
    "Float": "float",
    "Decimal": "string",  # exact, as in JSON
    "String": "string",
    "UUID": "string",
    "DateTime": "datetime",
    "Date": "date",
    "Boolean": "boolean",
    "Array": "array",
    "Tuple": "array",
    "JSON": "json",
    "Map": "json",
}

_CLICKHOUSE_TYPES = {
    "Integer": "Int64",
    "Float": "Float64",
    "Decimal": "Decimal(38, 10)",
    "String": "String",
    "UUID": "UUID",
    "Date": "Date32",
    "Boolean": "Bool",
    "Tuple": "Tuple",
    "JSON": "String",
    "Map": "Map",
}


def record_type(type_: Type) -> str:
    """The type in an endpoint record's ``columns``, e.g. ``integer``; ``unknown`` if not known."""
    return _RECORD_TYPES.get(type_.name, "unknown")


def clickhouse_type(type_: Type, timezone: str) -> str:
    """The warehouse's name of the type; empty if unknown."""
    if type_.name == "Array":
        inner = clickhouse_type(type_.item or UNKNOWN, timezone)
        return f"Array({inner})" if inner else ""
    name = f"DateTime64(6, '{timezone}')" if type_.name == "DateTime" else ""
    name = name or _CLICKHOUSE_TYPES.get(type_.name, "")
    return f"Nullable({name})" if name and type_.nullable else name
