"""Cohort criteria against plain Python: random data, every behavioral value, nesting."""

import random
from typing import Any
from uuid import UUID

import pytest

from hoglet.cohorts.criteria.compile import criteria_query
from hoglet.cohorts.criteria.model import stored_criteria
from hoglet.cohorts.criteria.schema import read_criteria
from hoglet.hogql import Limits, QueryContext
from hoglet.hogql.compile import compile_query
from hoglet.hogql.context import CohortRef
from hoglet.warehouse import ClickHouseWarehouse
from support.cohort_worlds import (
    BEHAVIORAL_VALUES,
    NOW,
    ZONE,
    CohortWorld,
    behavioral_leaf,
    members_of,
    random_criteria,
    random_world,
)
from support.seeds import seeds

SEEDS = seeds(1, 3)


async def stored_world(
    warehouse: ClickHouseWarehouse, project_id: int, seed: int
) -> tuple[CohortWorld, QueryContext]:
    world = random_world(seed)
    for table, (columns, rows) in world.rows(project_id).items():
        await warehouse.insert(table, columns, rows)
    context = QueryContext(
        project_id=project_id,
        timezone=ZONE,
        now=NOW,
        property_types={("person", "age"): "Numeric"},
        cohorts={str(key): CohortRef(f"c{key}", key) for key in world.members},
        limits=Limits(max_limit=None),
    )
    return world, context


async def persons_matching(
    warehouse: ClickHouseWarehouse, context: QueryContext, criteria: dict[str, Any]
) -> set[UUID]:
    query = criteria_query(stored_criteria(read_criteria(criteria)), context)
    compiled = compile_query(query, context=context)
    answer = await warehouse.query(compiled.sql, compiled.params)
    assert len({row[0] for row in answer.rows}) == len(answer.rows)
    return {row[0] for row in answer.rows}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("value", BEHAVIORAL_VALUES)
async def test_each_behavioral_value(
    warehouse: ClickHouseWarehouse, fresh_project_id: int, value: str, seed: int
) -> None:
    world, context = await stored_world(warehouse, fresh_project_id, seed)
    dice = random.Random(f"{value}{seed}")  # noqa: S311 (test data)
    sizes: set[int] = set()
    for _ in range(12):
        criteria = {"properties": {"type": "AND", "values": [behavioral_leaf(dice, value)]}}
        expected = members_of(criteria, world)
        sizes.add(len(expected))
        assert await persons_matching(warehouse, context, criteria) == expected, criteria
    assert max(sizes) > 0


@pytest.mark.parametrize("seed", SEEDS)
async def test_random_groups(
    warehouse: ClickHouseWarehouse, fresh_project_id: int, seed: int
) -> None:
    world, context = await stored_world(warehouse, fresh_project_id, seed)
    dice = random.Random(seed)  # noqa: S311 (test data)
    for _ in range(25):
        criteria = random_criteria(dice)
        assert await persons_matching(warehouse, context, criteria) == members_of(
            criteria, world
        ), criteria
