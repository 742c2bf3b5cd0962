"""Random queries with variables: a materialized run gives the rows of the inline run.

A query that the engine refuses is not compared, whether it is run or materialized; one that cannot
be materialized counts as right. ``HOGLET_TEST_SEED`` draws other queries than those of seed 1.
"""

import math
import os
import random
from collections.abc import Mapping
from typing import Any, Final

import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.materialize.plan import plan_materialization
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.kit.errors import SourceError
from hoglet.warehouse.errors import QueryRefused
from support.hogql_world import CONTEXT, HogqlWorld
from support.seeds import seeds

SEED = os.environ.get("HOGLET_TEST_SEED", "1")
QUERIES_OF_A_TEST = 25
RUNS = 3
ALL, NONE = "all", "none"

# Aggregates whose result depends on the order of rows are left out.
AGGREGATES: Final = (
    "count()",
    "sum(properties.price)",
    "max(timestamp)",
    "min(timestamp)",
    "countIf(event = 'purchase')",
    "sumIf(length(event), event != 'purchase')",
    "max(properties.price)",
    "min(length(event))",
    "minIf(length(event), event = 'purchase')",
    "maxIf(properties.price, event = 'purchase')",
    "count(properties.price)",
    "sum(1)",
    "uniq(distinct_id)",
    "avg(length(event))",
    "stddevPop(length(event))",
    "sum(length(event)) filter (where event = 'purchase')",
)
KEYS: Final = (
    "event",
    "distinct_id",
    "properties.$browser",
    "toDate(timestamp)",
    "length(event)",
    "properties.price",
    "upper(event)",
    "event = '$pageview'",
    "person.properties.email",
    "properties.paid",
    "'constant'",
)
OF_AGGREGATES: Final = (
    "{0} + 1",
    "toString({0})",
    "coalesce(toString({0}), '-')",
    "isNull({0})",
    "({0}, 1)",
    "if({0} = {1}, 'same', 'other')",
    "[toString({0}), toString({1})]",
)
NAMES: Final = ("total", "share", "who", "event", "timestamp")
CONDITIONS: Final[Mapping[str, Mapping[str, tuple[Any, ...]]]] = {
    "event = {variables.a}": {"a": ("$pageview", "purchase", "nope", None)},
    "timestamp >= {variables.b}": {"b": ("2026-01-05", "2026-01-06", "2027-01-01")},
    "timestamp < {variables.c}": {"c": ("2026-01-07", "2020-01-01")},
    "event in {variables.d}": {"d": (["$pageview", "purchase"], [], ["nope"])},
    "event like {variables.e}": {"e": ("%p%", "x")},
    "distinct_id not in {variables.f}": {"f": (["bob"], [])},
    "properties.price > {variables.g}": {"g": (5, 1000, None)},
    "properties.price = {variables.h}": {"h": (10, "none", "10")},
}


class Draw(random.Random):
    """Draws queries and the values of their runs."""

    def query(self) -> tuple[str, list[dict[str, Any]]]:
        """A query, and the variables of its runs."""
        groups = self.choice((ALL, NONE, "columns", "columns"))
        columns, keys = self._columns(with_keys=groups != NONE)
        conditions = self.sample(list(CONDITIONS), self.choice((1, 1, 2)))
        text = f"select {', '.join(columns)} from events where {' and '.join(conditions)}"
        if groups == ALL:
            text += " group by all"
        elif keys and groups != NONE:
            text += f" group by {', '.join([*keys, *self.sample(KEYS, self.choice((0, 0, 0, 1)))])}"
        values = {name: each for some in conditions for name, each in CONDITIONS[some].items()}
        runs = [{name: self.choice(some) for name, some in values.items()} for _ in range(RUNS)]
        return text, runs

    def _columns(self, *, with_keys: bool) -> tuple[list[str], list[str]]:
        """Columns, and what to write for the keys among them in GROUP BY."""
        columns, keys, names = list[str](), list[str](), list[str]()
        for number in range(1, self.randint(2, 5)):
            is_key = with_keys and self.random() < 0.4
            expr = self.choice(KEYS) if is_key else self._aggregated(names)
            name = self._name(number) if self.random() < 0.7 else None
            columns.append(f"{expr} as {name}" if name else expr)
            if is_key:
                keys.append(self.choice((name or expr, expr, str(number))))
            if name:
                names.append(name)
        return columns, keys

    def _name(self, number: int) -> str:
        """A name; rarely one that a column of events has, too."""
        name = self.choice(NAMES)
        return name if self.random() < 0.1 else f"{name}_{number}"

    def _aggregated(self, names: list[str]) -> str:
        known = (*AGGREGATES, *names * 4)
        form = self.choice(("{0}", "{0}", *OF_AGGREGATES))
        return form.format(self.choice(known), self.choice(known))


@pytest.mark.parametrize("number", seeds(4, 100))
def test_materialized_runs_give_the_rows_of_inline_runs(
    hogql_world: HogqlWorld, number: int
) -> None:
    draw, compared = Draw(f"{SEED}/{number}"), 0

    for each in range(QUERIES_OF_A_TEST):
        query, runs = draw.query()
        try:
            compared += compare(hogql_world, f"materialized_{SEED}_{number}_{each}", query, runs)
        except (Refusal, QueryRefused, SourceError):
            continue

    assert compared > QUERIES_OF_A_TEST


def compare(world: HogqlWorld, table: str, query: str, runs: list[dict[str, Any]]) -> int:
    """Compare all runs of a query; returns their number.

    Raises:
        Refusal: the query cannot be materialized.
        SourceError, QueryRefused: it cannot be run.
    """
    inline = [world.run(compile_query(query, context=CONTEXT, variables=run)) for run in runs]
    plan = plan_materialization(query, context=CONTEXT, variables=dict.fromkeys(runs[0]))
    context = world.materialized(plan, table)
    for run, expected in zip(runs, inline, strict=True):
        actual = world.run(compile_query(plan.read("kept"), context=context, variables=run))
        assert rows_of(actual) == rows_of(expected), f"{query} with {run}"
    world.command(f"DROP TABLE {table}")
    return len(runs)


def rows_of(rows: list[list[Any]]) -> list[str]:
    """Rows in any order, with nine digits of each float: the sums of parts are rounded."""
    return sorted(repr(_rounded(row)) for row in rows)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return "nan" if math.isnan(value) else float(f"{value:.9g}")
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
