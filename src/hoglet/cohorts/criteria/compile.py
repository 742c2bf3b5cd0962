"""Compiles criteria to one HogQL query of their persons.

Each criterion is a query of person ids marked with its number; these are combined with UNION ALL
and grouped by person, and HAVING combines the criteria:

    SELECT person_id FROM (SELECT person_id, 1 AS leaf FROM events ... UNION ALL
                           SELECT id AS person_id, 0 AS leaf FROM persons)
    GROUP BY person_id HAVING countIf(leaf = 0) > 0 AND countIf(leaf = 1) > 0

Every step is a GROUP BY, which the engine can spill to disk, so memory does not grow with the
number of persons. Number 0 marks all persons: it excludes ids without a person, and NOT needs it to
select from all persons.

Source: docs/spec/data-and-queries.md#34-dynamic-cohorts.
"""

from collections.abc import Sequence

import msgspec

from hoglet.cohorts.criteria.behavioral import behavioral_query
from hoglet.cohorts.criteria.model import (
    AllOf,
    AnyOf,
    Behavior,
    CohortMembership,
    Criteria,
    Criterion,
    PersonField,
    PersonProperty,
)
from hoglet.hogql.ast_builders import (
    Expression,
    call,
    compare,
    constant,
    every,
    field,
    fill,
    negated,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import located
from hoglet.hogql.filters.cohorts import find_cohort
from hoglet.hogql.filters.operators import Hint, operator_condition
from hoglet.hogql.filters.properties import FilteredTable, property_condition
from hoglet.kit.property_types import COHORT_TYPES
from hoglet.syntax import tree

_EVERYBODY = "SELECT id AS person_id, 0 AS leaf FROM persons"
_PERSONS = "SELECT id AS person_id, {leaf} AS leaf FROM persons WHERE {where}"
_MEMBERS = "SELECT person_id, {leaf} AS leaf FROM cohort_people WHERE cohort_id = {cohort}"
_LAST_SEEN = (
    "SELECT person_id, {leaf} AS leaf FROM (SELECT person_id, max(timestamp) AS last_seen_at "
    "FROM events GROUP BY person_id) WHERE {where}"
)
_TOGETHER = "SELECT person_id FROM {parts} GROUP BY person_id HAVING {having}"
_METADATA = "person_metadata"


def criteria_query(criteria: Criteria, context: QueryContext) -> tree.Query:
    """The query of the persons who meet criteria: one column, ``person_id``.

    Raises:
        SourceError: ``attr`` is the path below ``filters``.
    """
    builder = _Builder(context)
    with located("properties"):
        condition = builder.condition(criteria.properties)
    if criteria.filterTestAccounts:
        condition = every([condition, *builder.test_accounts()])
    having = every([_is_in(0), condition])
    parts = tree.SelectSetQuery(
        initial_select_query=fill(_EVERYBODY),
        subsequent_select_queries=tuple(
            tree.SelectSetNode(select_query=part, set_operator="UNION ALL")
            for part in builder.parts
        ),
    )
    return fill(_TOGETHER, parts=parts, having=having)


class _Builder:
    """Collects the queries of criteria while building the condition over them."""

    def __init__(self, context: QueryContext) -> None:
        types = {**context.property_types, (_METADATA, "is_identified"): "Boolean"}
        self._context = msgspec.structs.replace(context, property_types=types)
        self.parts: list[tree.Query] = []

    def condition(self, node: AllOf | AnyOf | Criterion) -> Expression:
        """The condition of a group or criterion on the numbers that mark a person."""
        if not isinstance(node, AllOf | AnyOf):
            condition = self._leaf(node)
            return negated(condition) if node.negation else condition
        inner: list[Expression] = []
        for index, each in enumerate(node.values):
            with located(f"values__{index}"):
                inner.append(self.condition(each))
        return every(inner) if isinstance(node, AllOf) else some(inner)

    def test_accounts(self) -> list[Expression]:
        """The condition of the project's test-account filters."""
        conditions: list[Expression] = []
        with located("filterTestAccounts"):
            for item in self._context.test_account_filters:
                kind = item.get("type")
                if kind in COHORT_TYPES or kind == "person":
                    where = property_condition(item, self._context, (), FilteredTable("persons"))
                    conditions.append(self._add(_PERSONS, where=where))
        return conditions

    def _leaf(self, leaf: Criterion) -> Expression:
        match leaf:
            case Behavior():
                return self._add_query(behavioral_query(leaf, self._context, self._number()))
            case CohortMembership():
                with located("value"):
                    cohort = find_cohort(leaf.value, self._context)
                return self._add(_MEMBERS, cohort=constant(cohort))
            case PersonProperty():
                item = msgspec.to_builtins(leaf)
                where = property_condition(item, self._context, (), FilteredTable("persons"))
                return self._add(_PERSONS, where=where)
            case PersonField():
                return self._field(leaf)

    def _field(self, leaf: PersonField) -> Expression:
        hint = Hint(self._context, is_time_column=leaf.key != "is_identified")
        value = None if leaf.value is msgspec.UNSET else leaf.value
        where = operator_condition(field(leaf.key), leaf.operator, value, hint)
        return self._add(_LAST_SEEN if leaf.key == "last_seen_at" else _PERSONS, where=where)

    def _number(self) -> Expression:
        return constant(len(self.parts) + 1)

    def _add(self, template: str, **parts: Expression) -> Expression:
        return self._add_query(fill(template, leaf=self._number(), **parts))

    def _add_query(self, query: tree.Query) -> Expression:
        self.parts.append(query)
        return _is_in(len(self.parts))


def _is_in(number: int) -> Expression:
    same = compare("==", field("leaf"), constant(number))
    return compare(">", call("countIf", same), constant(0))


def member_query(inner: tree.Query, columns: Sequence[str]) -> tree.Query:
    """The persons of a user's query.

    Args:
        inner: its first column, or one named ``person_id``, ``actor_id`` or ``id``, is a UUID.
        columns: its columns by name.
    """
    return fill(
        "SELECT id AS person_id FROM persons WHERE toString(id) IN "
        "(SELECT lower(toString({chosen})) FROM {inner})",
        chosen=_ids_of(columns),
        inner=inner,
    )


def stray_query(inner: tree.Query, columns: Sequence[str]) -> tree.Query:
    """A query of one value that is not a UUID; no rows if all are. See :func:`member_query`."""
    return fill(
        "SELECT toString({chosen}) FROM {inner} "
        "WHERE {chosen} IS NOT NULL AND toUUIDOrNull(toString({chosen})) IS NULL LIMIT 1",
        chosen=_ids_of(columns),
        inner=inner,
    )


def _ids_of(columns: Sequence[str]) -> tree.Expression:
    named = [name for name in ("person_id", "actor_id", "id") if name in columns]
    return field(named[0] if named else columns[0])
