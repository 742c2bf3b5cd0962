"""Persons, their distinct ids, cohorts and groups: always the latest row of each key."""

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.schema.fields import (
    Computed,
    Derived,
    Field,
    LazyTable,
    Properties,
    StoredColumn,
    Table,
)
from hoglet.hogql.schema.sessions import CHANNEL
from hoglet.hogql.traffic_rules import DOMAIN_TYPE
from hoglet.hogql.types import BOOLEAN, DATETIME, INTEGER, NULLABLE_STRING, STRING, UUID

_INITIAL_FIELDS = tuple(
    ("properties", f"$initial_{name}")
    for name in ("utm_medium", "utm_source", "referring_domain", "gclid", "msclkid")
)

PERSONS = Table(
    "persons",
    "persons",
    {
        "id": StoredColumn("id", UUID),
        "created_at": StoredColumn("created_at", DATETIME),
        "properties": Properties("properties", "properties_json", "person"),
        "is_identified": Computed("CAST(is_identified, 'Bool')", BOOLEAN, star=True),
        "pdi": LazyTable("person_distinct_ids", ("id",), ("person_id",)),
        "$virt_initial_channel_type": Derived(CHANNEL, _INITIAL_FIELDS, STRING),
        "$virt_initial_referring_domain_type": Derived(
            DOMAIN_TYPE, (("properties", "$initial_referring_domain"),), NULLABLE_STRING
        ),
    },
    final=True,
    where="is_deleted = 0",
    time="created_at",
    other_names={
        **dict.fromkeys(("distinct_id", "distinct_ids"), "pdi.distinct_id"),
        **dict.fromkeys(("person_id", "user_id", "uuid"), "id"),
        **dict.fromkeys(("created", "first_seen"), "created_at"),
    },
)

PERSON_DISTINCT_IDS = Table(
    "person_distinct_ids",
    "person_distinct_ids",
    {
        "distinct_id": StoredColumn("distinct_id", STRING),
        "person_id": StoredColumn("person_id", UUID),
        "person": LazyTable("persons", ("person_id",), ("id",)),
    },
    final=True,
    where="is_deleted = 0",
)

PERSON_DISTINCT_ID_OVERRIDES = Table(
    "person_distinct_id_overrides",
    "person_distinct_id_overrides",
    {
        "distinct_id": StoredColumn("distinct_id", STRING),
        "person_id": StoredColumn("person_id", UUID),
        "person": LazyTable("persons", ("person_id",), ("id",)),
    },
    final=True,
    where="is_deleted = 0",
)

_COHORT_FIELDS: dict[str, Field] = {
    "person_id": StoredColumn("person_id", UUID),
    "cohort_id": StoredColumn("cohort_id", INTEGER),
    "person": LazyTable("persons", ("person_id",), ("id",)),
}

COHORT_PEOPLE = Table("cohort_people", "cohort_members", _COHORT_FIELDS, final=True)
STATIC_COHORT_PEOPLE = Table("static_cohort_people", "cohort_members", _COHORT_FIELDS, final=True)


def cohort_table(table: Table, context: QueryContext) -> Table:
    """A table of cohort members, from the last finished calculations only."""
    only_static = table.name == STATIC_COHORT_PEOPLE.name
    current = [
        f"({int(cohort_id)}, {cohort.calculation_id})"
        for cohort_id, cohort in context.cohorts.items()
        if cohort.calculation_id and (cohort.is_static or not only_static)
    ]
    if not current:
        return msgspec.structs.replace(table, where="1 = 0")
    pairs = ", ".join(current)
    where = f"is_deleted = 0 AND (cohort_id, calculation_id) IN ({pairs})"
    return msgspec.structs.replace(table, where=where)


def _group_fields(kind: str) -> dict[str, Field]:
    return {
        "index": StoredColumn("index", INTEGER),
        "key": StoredColumn("key", STRING),
        "created_at": StoredColumn("created_at", DATETIME),
        "updated_at": StoredColumn("updated_at", DATETIME),
        "properties": Properties("properties", "properties_json", kind),
    }


GROUPS = Table("groups", "groups", _group_fields("group"), final=True, time="created_at")
GROUPS_BY_INDEX = tuple(
    Table(
        f"group_{index}",
        "groups",
        _group_fields(f"group_{index}"),
        final=True,
        where=f"`index` = {index}",
    )
    for index in range(5)
)
