"""FunnelsQuery: who went through which steps, in which time.

For every actor the times of each step are collected; from each first step the next one is looked
for, then the next, within the window; the best attempt counts. Times are microseconds times 16
plus the step's rank, so that two different steps of one instant still follow each other.

Source: spec/query-endpoints.md section 10.6.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.breakdowns import Breakdown, breakdown_of, clean
from hoglet.hogql.insights.built import Built, Rows
from hoglet.hogql.insights.series import (
    action_object,
    common_conditions,
    entity_of,
    series_condition,
)
from hoglet.hogql.insights.span import span_of
from hoglet.hogql.trees import Expression, alias, call, constant, every, field, fill, same, some
from hoglet.syntax import tree

_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_592_000,
}
_TICKS = 16_000_000
"""Ticks of a second: microseconds times 16, which leaves room for the ranks of 15 steps."""

_MOST_STEPS = 15

_ACTORS = "SELECT {columns} FROM events WHERE {where} GROUP BY actor"
_ORDERED = (
    "arrayMap(entry -> arrayFold((times, step) -> arrayPushBack(times, "
    "if(arrayElement(times, -1) = 0, _toInt64(0), arrayFirst(time -> time > arrayElement(times, -1)"
    " AND time <= entry + {window}, step))), {later}, [entry]), {first})"
)
_UNORDERED = (
    "arrayMap(entry -> arrayResize(arraySort(arrayFilter(time -> time > 0, arrayMap(step -> "
    "arrayFirst(time -> time >= entry AND time <= entry + {window}, step), {steps}))), {count}, "
    "_toInt64(0)), arrayFlatten({steps}))"
)
_BEST = (
    "SELECT breakdown, arrayFirst(times -> arrayCount(time -> time > 0, times) = reached, attempts)"
    " AS best, reached FROM (SELECT breakdown, attempts, arrayMax(times -> "
    "arrayCount(time -> time > 0, times), attempts) AS reached FROM "
    "(SELECT breakdown, arraySort(times -> arrayElement(times, 1), {attempts}) AS attempts "
    "FROM {actors}) WHERE notEmpty(attempts))"
)
_STEPS = "SELECT {columns} FROM {best} GROUP BY breakdown"
_TRENDS = (
    "SELECT {bucket} AS bucket, breakdown, count() AS entered, countIf(reached >= {steps}) AS done "
    "FROM {best} GROUP BY bucket, breakdown"
)
_TIMES = (
    "SELECT groupArray((intDiv(arrayElement(best, {steps}), 16) - "
    "intDiv(arrayElement(best, 1), 16)) / 1000000) AS seconds "
    "FROM {best} WHERE reached >= {steps}"
)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query: people by step, conversion by interval, or conversion times."""
    funnel = _Funnel(query, context)
    return Built([funnel.query()], funnel.shape, funnel.span)


class _Funnel:
    def __init__(self, query: Mapping[str, Any], context: QueryContext) -> None:
        self._query = query
        self._context = context
        self._steps: list[Mapping[str, Any]] = list(query.get("series") or [])
        if not 1 <= len(self._steps) <= _MOST_STEPS:
            raise refused(f"A funnel needs 1 to {_MOST_STEPS} steps")
        self._filter: Mapping[str, Any] = query.get("funnelsFilter") or {}
        self._kind = self._filter.get("funnelVizType") or "steps"
        if self._kind not in {"steps", "trends", "time_to_convert"}:
            raise refused(f"Unsupported funnelVizType '{self._kind}'")
        if self._filter.get("exclusions"):
            raise refused("Funnel exclusions are not supported")
        self.span = span_of(query, context)
        self._breakdown: Breakdown | None = breakdown_of(query, context)
        attribution = self._filter.get("breakdownAttributionType") or "first_touch"
        if self._breakdown is not None and attribution != "first_touch":
            raise refused("Breakdowns of funnels are attributed to the first touch only")
        self._conditions = [series_condition(step, context) for step in self._steps]

    # --- query

    def query(self) -> Any:
        best = fill(_BEST, attempts=self._attempts(), actors=self._actors())
        count = constant(len(self._steps))
        if self._kind == "trends":
            moment = call("fromUnixTimestamp", call("intDiv", _at(1), constant(_TICKS)))
            return fill(_TRENDS, bucket=self.span.index(moment), steps=count, best=best)
        if self._kind == "time_to_convert":
            return fill(_TIMES, steps=count, best=best)
        return fill(_STEPS, columns=self._step_columns(), best=best)

    def _actors(self) -> Any:
        any_step = some(self._conditions)
        common = common_conditions(self._query, self._context)
        where = every([*self.span.condition(), *common, any_step])
        columns: list[Expression] = [alias("actor", entity_of(self._query)), self._first_value()]
        for index, condition in enumerate(self._conditions):
            micros = call("toUnixTimestamp64Micro", field("timestamp"))
            time = _plus(_times(micros, 16), self._rank(index))
            times = call("arraySort", call("groupArrayIf", time, condition))
            columns.append(alias(f"step_{index}", times))
        return fill(_ACTORS, columns=tuple(columns), where=where)

    def _first_value(self) -> Expression:
        """The breakdown of the actor's first entry."""
        if self._breakdown is None:
            return alias("breakdown", tree.Array(exprs=(constant(""),)))
        first = call("argMinIf", self._breakdown.key(), field("timestamp"), self._conditions[0])
        return alias("breakdown", first)

    def _rank(self, index: int) -> int:
        """How many different steps stand before this one: equal steps need another instant."""
        return sum(
            not same(self._conditions[place], self._conditions[place + 1]) for place in range(index)
        )

    def _attempts(self) -> Expression:
        steps = tuple(field(f"step_{index}") for index in range(len(self._steps)))
        window = constant(self._window() * _TICKS)
        order = self._filter.get("funnelOrderType") or "ordered"
        if order == "ordered":
            first, *others = steps
            later = tree.Array(exprs=tuple(others)) if others else _no_steps()
            return _expression(_ORDERED, window=window, later=later, first=first)
        if order == "unordered":
            every_step = tree.Array(exprs=steps)
            count = constant(len(steps))
            return _expression(_UNORDERED, window=window, steps=every_step, count=count)
        raise refused(f"funnelOrderType '{order}' is not supported")

    def _window(self) -> int:
        unit = self._filter.get("funnelWindowIntervalUnit") or "day"
        if unit not in _SECONDS:
            raise refused(f"Unknown funnelWindowIntervalUnit '{unit}'")
        return int(self._filter.get("funnelWindowInterval") or 14) * _SECONDS[unit]

    def _step_columns(self) -> tuple[Expression, ...]:
        columns: list[Expression] = [field("breakdown")]
        for step in range(1, len(self._steps) + 1):
            reached = tree.CompareOperation(left=field("reached"), right=constant(step), op=">=")
            columns.append(alias(f"count_{step}", call("countIf", reached)))
            if step > 1:
                gap = _over(_minus(_micros(step), _micros(step - 1)), 1_000_000)
                columns.append(alias(f"average_{step}", call("avgIf", gap, reached)))
                middle = call("quantileIf", gap, reached, params=[constant(0.5)])
                columns.append(alias(f"median_{step}", middle))
        return tuple(columns)

    # --- results

    def shape(self, answers: Sequence[Rows]) -> list[Any] | dict[str, Any]:
        rows = answers[0]
        if self._kind == "time_to_convert":
            return self._shape_times(list(rows[0][0]) if rows else [])
        if self._kind == "trends":
            return self._shape_trends(rows)
        return self._shape_steps(rows)

    def _shape_steps(self, rows: Rows) -> list[Any]:
        if self._breakdown is None:
            return self._steps_of(rows[0] if rows else None, None)
        ordered = sorted(rows, key=lambda row: (-row[1], list(row[0])))[: self._breakdown.limit]
        return [self._steps_of(row, self._breakdown) for row in ordered]

    def _steps_of(self, row: Sequence[Any] | None, breakdown: Breakdown | None) -> list[Any]:
        results: list[dict[str, Any]] = []
        for order, node in enumerate(self._steps):
            action = action_object(node, order, self._context)
            place = 1 + max(0, 3 * order - 2)
            item: dict[str, Any] = {
                "action_id": action["id"],
                "name": action["name"],
                "custom_name": action["custom_name"],
                "order": order,
                "type": action["type"],
                "count": int(row[place]) if row is not None else 0,
                "people": [],
                "average_conversion_time": _time(row, place + 1) if order else None,
                "median_conversion_time": _time(row, place + 2) if order else None,
            }
            if breakdown is not None and row is not None:
                values = clean(list(row[0]))
                item["breakdown"] = item["breakdown_value"] = values
            results.append(item)
        return results

    def _shape_trends(self, rows: Rows) -> list[Any]:
        count = len(self.span.buckets())
        lines: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0] * count)
        if self._breakdown is None:
            lines[("",)]
        for index, key, entered, done in rows:
            if 0 <= int(index) < count and entered:
                lines[tuple(key)][int(index)] = round(100 * done / entered, 2)
        return [self._trend(key, data) for key, data in lines.items()]

    def _trend(self, key: tuple[str, ...], data: list[float]) -> dict[str, Any]:
        line: dict[str, Any] = {
            "count": len(data),
            "data": data,
            "days": self.span.days(),
            "labels": self.span.labels(),
        }
        if self._breakdown is not None:
            line["breakdown_value"] = clean(list(key))
        return line

    def _shape_times(self, seconds: list[float]) -> dict[str, Any]:
        if not seconds:
            return {"bins": [], "average_conversion_time": None}
        count = int(self._filter.get("binCount") or 0) or max(
            1, min(60, round(len(seconds) ** 0.5))
        )
        low, high = min(seconds), max(seconds)
        width = max((high - low) / count, 1)
        bins = [[int(low + width * place), 0] for place in range(count + 1)]
        for value in seconds:
            bins[min(int((value - low) / width), count)][1] += 1
        return {"bins": bins, "average_conversion_time": sum(seconds) / len(seconds)}


def _time(row: Sequence[Any] | None, place: int) -> float | None:
    value = row[place] if row is not None else None
    return None if value is None or value != value else float(value)  # noqa: PLR0124 (NaN)


def _expression(text: str, **parts: Any) -> Expression:
    """A template of one expression, filled."""
    return fill(f"SELECT {text}", **parts).select[0]


def _at(step: int) -> Expression:
    return call("arrayElement", field("best"), constant(step))


def _micros(step: int) -> Expression:
    return call("intDiv", _at(step), constant(16))


def _no_steps() -> Expression:
    return _expression("arrayFilter(step -> false, [[_toInt64(0)]])")


def _plus(left: Expression, right: int) -> Expression:
    return tree.ArithmeticOperation(left=left, right=constant(right), op="+")


def _times(left: Expression, right: int) -> Expression:
    return tree.ArithmeticOperation(left=left, right=constant(right), op="*")


def _minus(left: Expression, right: Expression) -> Expression:
    return tree.ArithmeticOperation(left=left, right=right, op="-")


def _over(left: Expression, right: int) -> Expression:
    return tree.ArithmeticOperation(left=left, right=constant(right), op="/")
