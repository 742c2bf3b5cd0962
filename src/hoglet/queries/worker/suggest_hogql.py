"""Completions for HogQL: tables, columns, properties, functions, keywords and variables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.functions.registry import FunctionEntry, functions
from hoglet.hogql.schema import (
    Computed,
    Derived,
    Field,
    LazyTable,
    Nested,
    Properties,
    Redirect,
    StoredColumn,
    table_names,
)
from hoglet.queries.worker.cursor_scope import Written, resolved_chains
from hoglet.queries.worker.suggestion import Completion, Known, suggestion

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
_AFTER_FROM = re.compile(
    r"\b(?:from|join)\s+(?:[\w$.]+(?:\s+(?:as\s+)?\w+)?\s*,\s*)*\Z", re.IGNORECASE
)
_IN_BRACES = re.compile(r"\{\s*(?P<inside>[^{}]*)\Z")
_FILTERS = ("dateRange", "interval", "breakdown")


def suggest_hogql(
    chain: tuple[str, ...], before: str, written: Written, known: Known
) -> list[Completion]:
    """Completions after ``before``.

    Args:
        chain: the names before a dot at its end.
        before: the text before the current word, without strings.
        written: the tables and names of the SELECT at this place.
        known: the project.
    """
    context = known.context
    braces = _IN_BRACES.search(before)
    if braces is not None:
        return list(_placeholders(chain, known.variables))
    if chain[:1] == ("system",):
        return [each for each in _tables(written, context) if each["label"].startswith("system.")]
    if chain:
        return _members(chain, written, known)
    if _AFTER_FROM.search(before):
        return list(_tables(written, context))
    return [
        *_columns(written, context),
        *(suggestion(name, "Keyword") for name in sorted(_KEYWORDS)),
        *(_variable(name, wrapped=True) for name in known.variables),
        *map(_function, functions()),
    ]


def suggest_properties(chain: tuple[str, ...], written: Written, known: Known) -> list[Completion]:
    """Completions inside of ``properties['``."""
    kinds = {
        resolved.kind
        for resolved in resolved_chains(chain, written.sources, known.context)
        if isinstance(resolved.field, Properties)
    }
    return list(_properties(kinds, known.properties, quoted=False))


def _placeholders(chain: tuple[str, ...], variables: Sequence[str]) -> Iterator[Completion]:
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


def _variable(name: str, *, wrapped: bool) -> Completion:
    label = f"variables.{name}" if wrapped else name
    return suggestion(label, "Constant", "Variable", insert=f"{{{label}}}" if wrapped else None)


def _tables(written: Written, context: QueryContext) -> Iterator[Completion]:
    for name in written.queries:
        yield suggestion(name, "Class", "Query of WITH")
    for name in table_names(context):
        what = "Materialized endpoint" if name in context.saved_tables else "Table"
        yield suggestion(name, "Class", what)


def _columns(written: Written, context: QueryContext) -> Iterator[Completion]:
    for alias, fields in written.sources.items():
        if alias:
            yield suggestion(alias, "Class", "Table")
        yield from _fields(fields)
    for name in written.aliases:
        yield suggestion(name, "Variable", "Column of SELECT", insert=_quoted(name))
    for name in context.group_types if _has_groups(written) else ():
        yield suggestion(name, "Class", "Group")


def _has_groups(written: Written) -> bool:
    return any("group_0" in fields for fields in written.sources.values())


def _fields(fields: Mapping[str, Field]) -> Iterator[Completion]:
    for name, field in fields.items():
        match field:
            case StoredColumn(type=type_) | Computed(type=type_) | Derived(type=type_):
                yield suggestion(name, "Variable", type_.name, insert=_quoted(name))
            case Properties():
                yield suggestion(name, "Variable", "Properties")
            case LazyTable() | Nested() | Redirect():
                yield suggestion(name, "Class", "Table")


def _members(chain: tuple[str, ...], written: Written, known: Known) -> list[Completion]:
    completions: list[Completion] = []
    for each in resolved_chains(chain, written.sources, known.context):
        if isinstance(each.field, Properties):
            completions += _properties({each.kind}, known.properties, quoted=True)
        elif each.field is None or isinstance(each.field, LazyTable | Nested):
            completions += _fields(each.fields)
    return completions


def _properties(
    kinds: set[str], properties: Sequence[Sequence[Any]], *, quoted: bool
) -> Iterator[Completion]:
    for kind, name, type_ in properties:
        if kind in kinds or ("group" in kinds and str(kind).startswith("group_")):
            insert = _quoted(name) if quoted else name.replace("'", "\\'")
            yield suggestion(name, "Property", type_ or "String", insert=insert)


def _function(row: FunctionEntry) -> Completion:
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
