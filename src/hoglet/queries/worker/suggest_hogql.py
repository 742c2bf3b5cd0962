"""Completions for HogQL: tables, columns, properties, functions, keywords and variables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.functions.registry import FunctionEntry, functions
from hoglet.hogql.schema import (
    EMPTY_TABLES,
    Computed,
    Derived,
    Field,
    LazyTable,
    Nested,
    Properties,
    Redirect,
    StoredColumn,
    find_table,
    table_names,
)
from hoglet.hogql.schema.catalog import LAZY_TABLES
from hoglet.queries.worker.suggestion import Json, Known, suggestion

_KEYWORDS = frozenset(
    [
        "SELECT",
        "DISTINCT",
        "FROM",
        "WHERE",
        "PREWHERE",
        "GROUP",
        "BY",
        "ORDER",
        "HAVING",
        "LIMIT",
        "OFFSET",
        "WITH",
        "AS",
        "JOIN",
        "LEFT",
        "RIGHT",
        "INNER",
        "FULL",
        "CROSS",
        "ON",
        "USING",
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE",
        "ILIKE",
        "BETWEEN",
        "IS",
        "NULL",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "ASC",
        "DESC",
        "UNION",
        "ALL",
        "ARRAY",
        "OVER",
        "PARTITION",
        "INTERVAL",
        "TRUE",
        "FALSE",
        "COHORT",
        "QUALIFY",
        "WINDOW",
    ]
)
_SOURCE = re.compile(
    r"\b(?:from|join)\s+(?P<table>[\w$]+(?:\.[\w$]+)*)(?:\s+(?:as\s+)?(?P<alias>[\w$]+))?"
    r"|,\s*(?P<next>events|persons|sessions|groups)\b(?:\s+(?:as\s+)?(?P<name>[\w$]+))?",
    re.IGNORECASE,
)
_AFTER_FROM = re.compile(
    r"\b(?:from|join)\s+(?:[\w$.]+(?:\s+(?:as\s+)?\w+)?\s*,\s*)*\Z", re.IGNORECASE
)
_CTE = re.compile(r"\b(?:with|,)\s*(?P<name>\w+)\s+as\s*\(", re.IGNORECASE)
_IN_BRACES = re.compile(r"\{\s*(?P<inside>[^{}]*)\Z")
_FILTERS = ("dateRange", "interval", "breakdown")
_GROUP = re.compile(r"(?:group|goe)_([0-4])\Z")


def suggest_hogql(chain: tuple[str, ...], before: str, text: str, known: Known) -> list[Json]:
    """Completions after ``before``.

    Args:
        chain: the names before a dot at its end.
        before: the text before the current word, without strings.
        text: the complete text, whose FROM determines the columns.
        known: the project.
    """
    context = known.context
    braces = _IN_BRACES.search(before)
    if braces is not None:
        return list(_placeholders(chain, known.variables))
    if chain[:1] == ("system",):
        return [each for each in _tables(text, context) if each["label"].startswith("system.")]
    if chain:
        return _members(chain, text, known)
    if _AFTER_FROM.search(before):
        return list(_tables(text, context))
    return [
        *_columns(text, context),
        *(suggestion(name, "Keyword") for name in sorted(_KEYWORDS)),
        *(_variable(name, wrapped=True) for name in known.variables),
        *map(_function, functions()),
    ]


def suggest_properties(chain: tuple[str, ...], text: str, known: Known) -> list[Json]:
    """Completions inside of ``properties['``."""
    kinds = {
        kind
        for _, field, kind in _resolved(chain, text, known.context)
        if isinstance(field, Properties)
    }
    return list(_properties(kinds, known.properties, quoted=False))


def _placeholders(chain: tuple[str, ...], variables: Sequence[str]) -> Iterator[Json]:
    if chain == ("variables",):
        yield from (_variable(name, wrapped=False) for name in variables)
    elif chain == ("filters",):
        yield from (suggestion(name, "Property") for name in _FILTERS)
    elif chain == ("filters", "dateRange"):
        yield from (suggestion(name, "Property", "DateTime") for name in ("from", "to"))
    elif not chain:
        yield suggestion("filters", "Constant", "Filters of the query")
        for name in variables:
            yield suggestion(f"variables.{name}", "Constant", "Variable")


def _variable(name: str, *, wrapped: bool) -> Json:
    label = f"variables.{name}" if wrapped else name
    return suggestion(label, "Constant", "Variable", insert=f"{{{label}}}" if wrapped else None)


def _tables(text: str, context: QueryContext) -> Iterator[Json]:
    for found in _CTE.finditer(text):
        yield suggestion(found["name"], "Class", "Query of WITH")
    for name in table_names(context):
        what = "Materialized endpoint" if name in context.saved_tables else "Table"
        yield suggestion(name, "Class", what)


def _columns(text: str, context: QueryContext) -> Iterator[Json]:
    for alias, fields in _sources(text, context).items():
        yield suggestion(alias, "Class", "Table")
        yield from _fields(fields)
    for name in context.group_types if "events" in text.lower() else ():
        yield suggestion(name, "Class", "Group")


def _fields(fields: Mapping[str, Field]) -> Iterator[Json]:
    for name, field in fields.items():
        match field:
            case StoredColumn(type=type_) | Computed(type=type_) | Derived(type=type_):
                yield suggestion(name, "Variable", type_.name, insert=_quoted(name))
            case Properties():
                yield suggestion(name, "Variable", "Properties")
            case LazyTable() | Nested() | Redirect():
                yield suggestion(name, "Class", "Table")


def _members(chain: tuple[str, ...], text: str, known: Known) -> list[Json]:
    found: list[Json] = []
    for fields, field, kind in _resolved(chain, text, known.context):
        if isinstance(field, Properties):
            found += _properties({kind}, known.properties, quoted=True)
        else:
            found += _fields(fields)
    return found


def _properties(
    kinds: set[str], properties: Sequence[Sequence[Any]], *, quoted: bool
) -> Iterator[Json]:
    for kind, name, type_ in properties:
        if kind in kinds or ("group" in kinds and str(kind).startswith("group_")):
            insert = _quoted(name) if quoted else name.replace("'", "\\'")
            yield suggestion(name, "Property", type_ or "String", insert=insert)


def _resolved(
    chain: tuple[str, ...], text: str, context: QueryContext
) -> Iterator[tuple[Mapping[str, Field], Field | None, str]]:
    """Fields after a chain, the field itself, and the kind of properties."""
    sources = _sources(text, context)
    starts = [sources[chain[0]]] if chain[0] in sources else []
    if starts and len(chain) == 1:
        yield starts[0], None, ""
    behind = chain[1:] if starts else chain
    for fields in starts or sources.values():
        found = _walk(fields, behind, context) if behind else None
        if found is not None:
            yield found


def _walk(
    fields: Mapping[str, Field], chain: tuple[str, ...], context: QueryContext
) -> tuple[Mapping[str, Field], Field | None, str] | None:
    field: Field | None = None
    group = ""
    for part in _expanded(chain, context):
        field = fields.get(part)
        while isinstance(field, Redirect) and len(field.chain) == 1:
            part = field.chain[0]  # noqa: PLW2901 (another name of the same field)
            field = fields.get(part)
        group = part if _GROUP.match(part) else group
        if isinstance(field, LazyTable):
            fields = LAZY_TABLES[field.table].fields
        elif isinstance(field, Nested):
            fields = field.fields
        elif not isinstance(field, Properties):
            return None
    if isinstance(field, Properties):
        return fields, field, group if field.kind == "group" and group else field.kind
    return fields, field, ""


def _expanded(chain: tuple[str, ...], context: QueryContext) -> tuple[str, ...]:
    index = context.group_types.get(chain[0])
    return chain if index is None else (f"group_{index}", *chain[1:])


def _sources(text: str, context: QueryContext) -> dict[str, Mapping[str, Field]]:
    """Alias or name → fields of every table in any FROM."""
    found: dict[str, Mapping[str, Field]] = {}
    for place in _SOURCE.finditer(text):
        name = place["table"] or place["next"]
        alias = place["alias"] or place["name"]
        table = find_table(name, context)
        fields = EMPTY_TABLES.get(name) if table is None else table.fields
        if fields is not None:
            is_name = alias is not None and alias.upper() not in _KEYWORDS
            found[alias if is_name and alias else name] = fields
    return found


def _function(row: FunctionEntry) -> Json:
    return suggestion(
        row.name,
        "Function",
        f"{row.name}({_arguments(row)}) -> {row.returns.rstrip('?!')}",
        insert=f"{row.name}()",
        documentation=f"Example: {row.example}" if row.example else None,
    )


def _arguments(row: FunctionEntry) -> str:
    needed = [f"x{number + 1}" for number in range(row.low)]
    if row.high is None:
        return ", ".join([*needed, "..."])
    return ", ".join([*needed, *(f"x{number + 1}?" for number in range(row.low, row.high))])


def _quoted(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_$][\w$]*", name):
        return name
    return "`" + name.replace("\\", "\\\\").replace("`", "``") + "`"
