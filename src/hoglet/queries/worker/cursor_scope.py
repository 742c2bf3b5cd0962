"""Finds the names in scope at the cursor of an unfinished query.

Such text cannot be parsed. Brackets and the words outside of them determine the SELECT around the
cursor, its tables, and the columns of subqueries and of queries in WITH.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from hoglet.hogql.context import QueryContext
from hoglet.hogql.schema import (
    EMPTY_TABLES,
    Computed,
    Field,
    LazyTable,
    Nested,
    Properties,
    Redirect,
    find_table,
)
from hoglet.hogql.schema.catalog import LAZY_TABLES
from hoglet.hogql.types import UNKNOWN

type Fields = Mapping[str, Field]

_MAX_DEPTH = 40
_MAX_QUERIES = 100
"""Limits of the work on a text; queries beyond them are treated as having no columns."""
_OF_ANY_TYPE = Computed("", UNKNOWN)
_NAME = r"[\w$]+|`[^`]*`|\"[^\"]*\""
_QUERY = re.compile(r"\(\s*(?:select|with)\b", re.IGNORECASE)
_SETS = re.compile(
    r"\bunion\b(?:\s+(?:all|distinct)\b)?|\bintersect\b|\bexcept\b(?!\s*\()", re.IGNORECASE
)
_SELECT = re.compile(r"\bselect\b(?:\s+distinct\b)?", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
_AFTER_SELECT = re.compile(
    r"\b(?:from|(?:pre)?where|group\s+by|order\s+by|having|limit|window|qualify)\b", re.IGNORECASE
)
_AFTER_TABLES = re.compile(
    r"\b(?:(?:pre)?where|group\s+by|order\s+by|having|limit|window|qualify|array\s+join)\b",
    re.IGNORECASE,
)
_TABLE = re.compile(
    rf"(?:\A|,|\bjoin\b)\s*(?:(?P<open>\()\s*\)|(?P<table>[\w$]+(?:\.[\w$]+)*)(?:\s*\(\s*\))?)"
    rf"(?:\s+as\b)?(?:\s+(?P<alias>{_NAME}))?",
    re.IGNORECASE,
)
_WITH = re.compile(rf"(?:\bwith\b|,)\s*(?P<name>{_NAME})\s+as\s*(?P<open>\()", re.IGNORECASE)
_ALIAS = re.compile(rf"(?:\bas\s+|[\w$)\]'\"`]\s+|\)\s*)(?P<name>{_NAME})\s*\Z", re.IGNORECASE)
_CHAIN = re.compile(
    rf"\s*((?:{_NAME})(?:\s*\.\s*(?:{_NAME}))*)\s*(?:\bas\b|\s[\w$`\"]|\Z)", re.IGNORECASE
)
_NO_ALIAS = frozenset((
    "on", "using", "inner", "left", "right", "full", "cross", "join", "any", "all", "asof", "semi",
    "anti", "outer", "array", "where", "prewhere", "group", "order", "having", "limit", "union",
    "final", "sample", "as", "end", "and", "or", "not", "null", "global",
))  # fmt: skip
_GROUP = re.compile(r"(?:group|goe)_([0-4])\Z")


class Written(NamedTuple):
    """Tables by alias or name with their fields, names given with AS, and queries of WITH."""

    sources: dict[str, Fields]
    aliases: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


class _Span(NamedTuple):
    """The range of a query in the text, without its brackets."""

    start: int
    end: int


type _Queries = dict[str, _Span]


def names_at(text: str, position: int, context: QueryContext) -> Written:
    """The names in scope at a position.

    For a SELECT without FROM, which may follow later, these are the tables of the whole text.

    Args:
        text: the query, its strings and comments blanked.
        position: an offset in it.
        context: the project.
    """
    spans = [_Span(0, len(text)), *islice(_queries_in(text), _MAX_QUERIES)]
    around = [span for span in spans if span.start <= position <= span.end]
    reader = _Reader(text, context)
    known: _Queries = {}
    for span in around:
        known |= reader.queries_of(span)
    own = reader.part_at(around[-1], position)
    sources = reader.sources_of(own, known)
    if not sources:
        for span in spans:
            for part in reader.parts_of(span):
                sources |= reader.sources_of(part, known)
    return Written(sources, tuple(reader.aliases_of(own)), tuple(known))


def _queries_in(text: str) -> Iterator[_Span]:
    """The queries in brackets, outer ones first."""
    ends = _closing(text)
    for match in _QUERY.finditer(text):
        yield _Span(match.start() + 1, ends.get(match.start(), len(text)))


def _closing(text: str) -> dict[int, int]:
    """The positions of closing brackets by the positions of their opening brackets."""
    opened, closing = list[int](), dict[int, int]()
    for position, char in enumerate(text):
        if char == "(":
            opened.append(position)
        elif char == ")" and opened:
            closing[opened.pop()] = position
    return closing


class _Reader:
    def __init__(self, text: str, context: QueryContext) -> None:
        self._text, self._context = text, context
        self._ends = _closing(text)
        self._columns_of_spans: dict[int, Fields] = {}

    def _inside(self, opening: int) -> _Span:
        return _Span(opening + 1, self._ends.get(opening, len(self._text)))

    def _flat(self, span: _Span) -> str:
        """The text of a query with the content of brackets blanked."""
        depth, chars = 0, list[str]()
        for char in self._text[span.start : span.end]:
            depth -= char == ")" and depth > 0
            chars.append(char if depth == 0 else " ")
            depth += char == "("
        return "".join(chars)

    def parts_of(self, span: _Span) -> list[_Span]:
        """The SELECTs between UNION, INTERSECT and EXCEPT."""
        ends = [(match.start(), match.end()) for match in _SETS.finditer(self._flat(span))]
        starts = [0, *(end for _, end in ends)]
        stops = [*(start for start, _ in ends), span.end - span.start]
        return [
            _Span(span.start + first, span.start + last)
            for first, last in zip(starts, stops, strict=True)
        ]

    def part_at(self, span: _Span, position: int) -> _Span:
        """The SELECT of a query that contains a position."""
        parts = self.parts_of(span)
        return next((part for part in parts if position <= part.end), parts[-1])

    def queries_of(self, span: _Span) -> _Queries:
        """The queries that a query names in WITH."""
        flat = self._flat(span)
        select = _SELECT.search(flat)
        head = flat[: select.start()] if select else flat
        return {
            _plain(match["name"]): self._inside(span.start + match.start("open"))
            for match in _WITH.finditer(head)
        }

    def sources_of(self, part: _Span, known: _Queries, depth: int = 0) -> dict[str, Fields]:
        """The tables of a SELECT by alias or name; a subquery without alias is ``""``."""
        flat = self._flat(part)
        begin = _FROM.search(flat)
        if begin is None:
            return {}
        stop = _AFTER_TABLES.search(flat, begin.end())
        clause = flat[begin.end() : stop.start() if stop else len(flat)]
        sources: dict[str, Fields] = {}
        for each in _TABLE.finditer(clause):
            alias = _plain(each["alias"] or "")
            alias = "" if alias.lower() in _NO_ALIAS else alias
            if each["open"]:
                span = self._inside(part.start + begin.end() + each.start("open"))
                sources[alias] = self._columns_of(span, known, depth)
            elif (fields := self._table(each["table"], known, depth)) is not None:
                sources[alias or each["table"]] = fields
        return sources

    def _table(self, name: str, known: _Queries, depth: int) -> Fields | None:
        if name in known:
            return self._columns_of(known[name], known, depth)
        table = find_table(name, self._context)
        return EMPTY_TABLES.get(name) if table is None else table.fields

    def _columns_of(self, span: _Span, known: _Queries, depth: int) -> Fields:
        """The columns of a subquery: fields of its tables, or expressions of any type."""
        if span.start not in self._columns_of_spans:
            self._columns_of_spans[span.start] = {}  # for a query that reads itself
            if depth < _MAX_DEPTH:
                self._columns_of_spans[span.start] = self._read_columns(span, known, depth)
        return self._columns_of_spans[span.start]

    def _read_columns(self, span: _Span, known: _Queries, depth: int) -> Fields:
        part = self.parts_of(span)[0]
        known = known | self.queries_of(span)
        sources = self.sources_of(part, known, depth + 1)
        columns: dict[str, Field] = {}
        for item in self._items(part):
            if item.rstrip().endswith("*"):
                table = item.strip().removesuffix("*").removesuffix(".").strip()
                for name, fields in sources.items():
                    columns |= fields if table in {"", name} else {}
            elif name := _column_name(item):
                columns[name] = self._field(item, sources) or _OF_ANY_TYPE
        return columns

    def _field(self, item: str, sources: Mapping[str, Fields]) -> Field | None:
        """The field that a column selects, possibly under another name."""
        chain = _CHAIN.match(item)
        if chain is None:
            return None
        parts = tuple(_plain(part.strip()) for part in re.findall(_NAME, chain[1]))
        resolved = next(resolved_chains(parts, sources, self._context), None)
        return resolved.field if resolved and len(resolved.behind) == 0 else None

    def _items(self, part: _Span) -> list[str]:
        """The columns of a SELECT, with the content of brackets blanked."""
        flat = self._flat(part)
        begin = _SELECT.search(flat)
        if begin is None:
            return []
        stop = _AFTER_SELECT.search(flat, begin.end())
        items = flat[begin.end() : stop.start() if stop else len(flat)].split(",")
        return [" ".join(item.split()) for item in items]

    def aliases_of(self, part: _Span) -> Iterator[str]:
        """The aliases in a SELECT, with or without AS."""
        for item in self._items(part):
            match = _ALIAS.search(item)
            if match and _plain(match["name"]).lower() not in _NO_ALIAS:
                yield _plain(match["name"])


def _column_name(item: str) -> str:
    """The name of a column: its alias, or the last part of a chain; else ``""``."""
    alias = _ALIAS.search(item)
    if alias and _plain(alias["name"]).lower() not in _NO_ALIAS:
        return _plain(alias["name"])
    chain = re.fullmatch(rf"\s*(?:(?:{_NAME})\s*\.\s*)*({_NAME})\s*", item)
    return _plain(chain[1]) if chain else ""


def _plain(name: str) -> str:
    return name.strip('`"')


class Resolved(NamedTuple):
    """What a chain refers to: a field, its inner fields, or properties of a kind.

    ``behind`` is the path inside of the properties.
    """

    fields: Fields
    field: Field | None
    kind: str
    behind: tuple[str, ...] = ()


def resolved_chains(
    chain: tuple[str, ...], sources: Mapping[str, Fields], context: QueryContext
) -> Iterator[Resolved]:
    """What a chain such as ``("e", "person", "properties")`` may refer to."""
    starts = [sources[chain[0]]] if chain[0] in sources else []
    if starts and len(chain) == 1:
        yield Resolved(starts[0], None, "")
    behind = chain[1:] if starts else chain
    for fields in starts or sources.values():
        resolved = _walk(fields, behind, context) if behind else None
        if resolved is not None:
            yield resolved


def _walk(fields: Fields, chain: tuple[str, ...], context: QueryContext) -> Resolved | None:
    field: Field | None = None
    group, parts = "", _expanded(chain, context)
    for number, part in enumerate(parts):
        if isinstance(field, Properties):
            kind = group if field.kind == "group" and group else field.kind
            return Resolved(fields, field, kind, parts[number:])
        field = fields.get(part)
        while isinstance(field, Redirect) and len(field.chain) == 1:
            part = field.chain[0]  # noqa: PLW2901 (another name of the same field)
            field = fields.get(part)
        group = part if _GROUP.match(part) else group
        if isinstance(field, LazyTable):
            fields = LAZY_TABLES[field.table].fields
        elif isinstance(field, Nested):
            fields = field.fields
        elif not isinstance(field, Properties) and (field is None or number < len(parts) - 1):
            return None
    if isinstance(field, Properties):
        return Resolved(fields, field, group if field.kind == "group" and group else field.kind)
    return Resolved(fields, field, "")


def _expanded(chain: tuple[str, ...], context: QueryContext) -> tuple[str, ...]:
    index = context.group_types.get(chain[0])
    return chain if index is None else (f"group_{index}", *chain[1:])
