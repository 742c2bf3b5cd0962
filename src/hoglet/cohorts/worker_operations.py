"""Sandbox operations of cohorts: compiling criteria and queries of persons."""

import re
from typing import Any

import msgspec

from hoglet.cohorts.criteria.compile import criteria_query, member_query, stray_query
from hoglet.cohorts.messages import CohortRequest, PersonsRequest, PersonsSql
from hoglet.events.persons.serializers import NAME_PROPERTIES
from hoglet.hogql.ast_builders import (
    call,
    compare,
    constant,
    every,
    field,
    fill,
    some,
)
from hoglet.hogql.compile import CompiledQuery, compile_query
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import in_expression, refused
from hoglet.hogql.filters.properties import FilteredTable, conditions, filter_expressions
from hoglet.hogql.frontend.fragments import read_ordering
from hoglet.hogql.frontend.preprocess import read_expression, read_query
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_NARROWING = ("properties", "search", "limit", "offset")
_ALL = 2**40
_PERSON_TYPES = frozenset({"UUID", "String", "Unknown", "JSON"})


def compile_cohort(payload: Any) -> PersonsSql:
    """The SQL of a cohort's persons, one column ``person_id``; ``payload`` a ``CohortRequest``."""
    request = msgspec.convert(payload, CohortRequest)
    context = request.context.query_context()
    try:
        if request.criteria is not None:
            compiled = compile_query(criteria_query(request.criteria, context), context=context)
            return PersonsSql(compiled.sql, compiled.params)
        return _compile_query(request.query or {}, context)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise SourceError(
            f"A part of the criteria has an unexpected shape ({error}).", code="hogql_query_error"
        ) from error


def _compile_query(query: QueryNode, context: QueryContext) -> PersonsSql:
    source = query if query["kind"] == "HogQLQuery" else query["source"]
    inner = read_query(source["query"])
    entries: dict[str, Any] = source.get("variables") or {}
    variables = {entry.get("code_name", key): entry.get("value") for key, entry in entries.items()}
    filters, values = source.get("filters"), source.get("values")

    def compiled(query: tree.Query) -> CompiledQuery:
        return compile_query(
            query, context=context, variables=variables, filters=filters, values=values
        )

    columns = compiled(inner).columns
    named = [each for each in columns if each.name in {"person_id", "actor_id", "id"}]
    chosen = (named or list(columns))[0]
    if chosen.kind.name not in _PERSON_TYPES:
        raise refused(
            f"The column '{chosen.name}' does not contain person ids, but values of "
            f"type {chosen.kind.name}: select person ids in the first column, or in "
            "one named person_id"
        )
    if chosen.name == "distinct_id":
        raise refused("Distinct ids are not person ids: select person_id")
    labels = [each.label for each in columns]
    members = member_query(inner, labels)
    narrowed = _narrowed(members, query, context)
    try:
        result = compiled(narrowed)
    except SourceError as error:
        raise _in_actors(query, context) or error from None
    if error := _in_actors(query, context):  # an order that ``_narrowed`` left out
        raise error
    strays = compiled(stray_query(inner, labels))
    return PersonsSql(result.sql, result.params, PersonsSql(strays.sql, strays.params))


def _in_actors(query: QueryNode, context: QueryContext) -> SourceError | None:
    """The error of the first expression of an ``ActorsQuery`` that does not compile on its own."""
    expressions = list(filter_expressions(query.get("properties"), "properties"))
    for index, text in enumerate(query.get("orderBy") or []):
        path = f"orderBy__{index}"
        expressions.append((path, read_ordering(text, path).text))
    for path, text in expressions:
        selected = fill("SELECT {expr} FROM persons", expr=read_expression(text))
        try:
            compile_query(selected, context=context)
        except SourceError as error:
            return in_expression(error, path, text)
    return None


def _narrowed(members: tree.Query, query: QueryNode, context: QueryContext) -> tree.Query:
    """The persons of an ``ActorsQuery``: a page of those in its source who pass its filters."""
    if query["kind"] == "HogQLQuery" or not any(query.get(each) for each in _NARROWING):
        return members
    parts = [compare("in", field("id"), members)]
    parts += conditions(query.get("properties") or [], context, (), FilteredTable("persons"))
    if query.get("search"):
        parts.append(some([_search(query["search"], []), _named(query["search"])]))
    page = fill("SELECT id AS person_id FROM persons WHERE {where}", where=every(parts))
    if not query.get("limit") and not query.get("offset"):
        return page
    return msgspec.structs.replace(
        page,
        order_by=_order(query.get("orderBy") or []),
        limit=constant(query.get("limit") or _ALL),
        offset=constant(query.get("offset") or 0),
    )


def _order(items: list[str]) -> tuple[tree.OrderExpr, ...]:
    """The sort order; ties and the default are as in lists of persons."""
    texts = [*items, "created_at DESC", "id DESC"]
    return tuple(read_ordering(text, f"orderBy__{index}").item for index, text in enumerate(texts))


def _named(text: str) -> tree.Expression:
    """The condition that a person has this distinct id or UUID."""
    return fill(
        "SELECT toString(id) = {text} OR "
        "id IN (SELECT person_id FROM person_distinct_ids WHERE distinct_id = {text})",
        text=constant(text),
    ).select[0]


def compile_persons(payload: Any) -> PersonsSql:
    """The SQL of a page of a cohort's persons, returning their ids.

    ``payload`` is a ``PersonsRequest``.
    """
    request = msgspec.convert(payload, PersonsRequest)
    page, context = request.page, request.context.query_context()
    parts = [fill("SELECT id IN COHORT {cohort}", cohort=constant(page.cohort)).select[0]]
    if page.properties:
        parts += conditions(page.properties, context, (), FilteredTable("persons"))
    if page.search:
        parts.append(_search(page.search, page.person_ids))
    query = fill(
        "SELECT id FROM persons WHERE {where} "
        "ORDER BY created_at DESC, id DESC LIMIT {limit} OFFSET {offset}",
        where=every(parts),
        limit=constant(page.limit),
        offset=constant(page.offset),
    )
    compiled = compile_query(query, context=context)
    return PersonsSql(compiled.sql, compiled.params)


def _search(text: str, person_ids: list[str]) -> tree.Expression:
    escaped = re.sub(r"([\\%_])", r"\\\1", text)
    pattern = constant(f"%{escaped}%")
    named = [compare("ilike", field("properties", name), pattern) for name in NAME_PROPERTIES]
    ids = tree.Array(exprs=tuple(constant(each) for each in person_ids))
    return some([*named, call("has", ids, call("toString", field("id")))])
