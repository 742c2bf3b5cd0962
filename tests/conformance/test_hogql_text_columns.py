"""Queries give the same rows whether text properties are read from columns of their own or not."""

from collections.abc import Generator
from typing import Any

import msgspec
import pytest

from hoglet.hogql import QueryContext, compile_query
from hoglet.hogql.paging.keyset import RowPage
from hoglet.hogql.schema.properties import text_column, text_path
from support.hogql_cases import Case, read_cases
from support.hogql_world import CONTEXT, HogqlWorld, plain_rows
from support.seeds import thinned

KEYS = ("$browser", "$current_url", "plan", "v", "x y", "missing")
FORMS = {("event", key): "text" for key in KEYS}
FROM_JSON = msgspec.structs.replace(CONTEXT, property_forms=FORMS, is_now_pinned=True)
FROM_COLUMNS = msgspec.structs.replace(FROM_JSON, text_columns=frozenset(KEYS))
CONDITIONS = (
    *("{} = {}", "{} != {}", "not {} = {}", "{} is distinct from {}", "{} in ({})"),
    *("{} not in ({})", "not ({} in ({}))", "{} in [{}]", "{} like {}", "{} not like {}"),
    *("{} ilike {}", "{} not ilike {}", "{} =~ {}", "{} !~ {}", "{} < {}", "{} >= {}"),
    *("ifNull({}, 'x') = {}", "{} = {} or event = 'purchase'", "({} = {}) = true"),
    *("if({} = {}, 'a', 'b') = 'a'", "{} = {} is null", "coalesce({}, {}) is not null"),
    *(
        "toString({}) ilike {}",
        "lower({}) = {}",
        "upper(toString({})) in ({})",
    ),
)
OPERANDS = ("'Chrome'", "'pro'", "''", "null", "properties.plan", "event", "'%r%'")
SHAPES = """
select properties.$browser as b, count() from events group by b order by b
select properties.$browser, count() from events group by 1 order by 2 desc, 1
select properties.$browser as b, count() from events group by rollup(b) order by b, 2
select properties.$browser, properties.plan, count() from events group by all order by all
select upper(properties.plan) as plan, count() from events group by plan order by plan
select lower(properties.plan), properties.plan as p, count() from events group by p order by 2
select properties.plan as a, properties.plan as b from events group by a, b having a = 'pro'
select properties.$browser as event, count() from events group by properties.$browser order by event
select distinct properties.$browser from events order by 1
select toTypeName(properties.plan), toTypeName([properties.plan]) from events limit 1
select toTypeName(properties.plan = 'pro'), toTypeName(any(properties.plan)) from events group by 1
select groupUniqArray(properties.plan), uniq(properties.plan), max(properties.$browser) from events
select if(event = 'e', properties.plan, properties.$browser) as x from events group by x
select [properties.plan, event], (properties.plan, 1), map(event, properties.plan) from events
select lag(properties.$browser) over (partition by properties.plan order by uuid) from events
select e.properties.v from events e join events f on e.properties.plan = f.properties.plan
select properties.plan from events where properties.plan = (select max(properties.plan) from events)
select event from events where properties.plan in (select properties.plan from events)
select 1 from events where properties.v in (select properties.v from events where properties.v > '')
select (select max(properties.v) from events where properties.v like '1%'), properties.v from events
select 1 from events e where exists (select 1 from events f where f.event = e.properties.plan)
select properties.plan from events union all select properties.$browser from events order by 1
with x as (select properties.plan as p from events) select p, count() from x group by p order by p
select properties.$browser, timestamp from events order by timestamp limit 1 by properties.$browser
select arrayJoin([properties.plan, properties.v]) as x, count() from events group by x order by x
select person.properties.email, properties.$browser, count() from events group by 1, 2 order by 1, 2
select properties.$browser from events order by properties.$browser desc nulls first
select countIf(properties.plan = 'pro') from events where event in (properties.plan, 'purchase')
select poe.properties.email, properties.missing from events where properties.missing is null
""".strip().splitlines()


@pytest.fixture(scope="module")
def world(hogql_world: HogqlWorld) -> Generator[HogqlWorld]:
    """The world with columns, of which one is not stored in the parts that exist already."""
    names = {f"`{text_column(key)}`": text_path(key) for key in KEYS}
    columns = [
        f"{name} LowCardinality(Nullable(String)) MATERIALIZED {path}"
        for name, path in names.items()
    ]
    _alter(hogql_world, [f"ADD COLUMN {column}" for column in columns])
    _alter(hogql_world, [f"MATERIALIZE COLUMN {name}" for name in list(names)[1:]])
    yield hogql_world
    _alter(hogql_world, [f"DROP COLUMN {name}" for name in names])


def _alter(world: HogqlWorld, changes: list[str]) -> None:
    world.command(f"ALTER TABLE events {', '.join(changes)} SETTINGS mutations_sync = 2")


def _same_rows(world: HogqlWorld, query: str, zone: str = "UTC", **given: Any) -> None:
    json, columns = (
        _answer(world, query, msgspec.structs.replace(context, timezone=zone), given)
        for context in (FROM_JSON, FROM_COLUMNS)
    )
    assert columns == json


def _answer(
    world: HogqlWorld, query: str, context: QueryContext, given: dict[str, Any]
) -> tuple[list[str], list[list[Any]]]:
    compiled = compile_query(query, context=context, **given)
    assert not any(text_path(key) in compiled.sql for key in context.text_columns)
    answer = world.answer(compiled)
    return [column.type for column in answer.columns], sorted(plain_rows(answer), key=repr)


CASES = [
    case
    for case in read_cases()
    if "refused" not in case.given and any(f"properties.{key}" in case.query for key in KEYS)
]


@pytest.mark.parametrize("case", thinned(CASES, 4), ids=repr)
def test_conformance_cases(case: Case, world: HogqlWorld) -> None:
    given = {name: case.given.get(name) for name in ("variables", "filters", "values")}
    page = RowPage(case.given.get("limit"), case.given.get("offset"))
    if compile_query(case.query, context=FROM_JSON, page=page, **given).text_properties:
        zone = case.given.get("timezone", "UTC")
        _same_rows(world, case.query, zone, page=page, **given)


@pytest.mark.parametrize("query", thinned(SHAPES, 2))
def test_shapes_of_queries(query: str, world: HogqlWorld) -> None:
    _same_rows(world, query)


@pytest.mark.parametrize("condition", thinned(CONDITIONS, 4))
def test_conditions(condition: str, world: HogqlWorld) -> None:
    for operand in OPERANDS:
        for left, right in (("properties.$browser", operand), (operand, "properties.$browser")):
            where = condition.format(left, right)
            _same_rows(world, f"select uuid, {where} from events where {where}")
