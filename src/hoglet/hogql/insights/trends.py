"""TrendsQuery: a value for each interval, series and breakdown.

Source: spec/query-endpoints.md section 10.6.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.breakdowns import OTHER, Breakdown, breakdown_of, clean, label
from hoglet.hogql.insights.built import Built, Rows
from hoglet.hogql.insights.formulas import evaluate_formula, formulas_of
from hoglet.hogql.insights.series import (
    ACTIVE_DAYS,
    action_object,
    common_conditions,
    entity_of,
    math_expression,
    series_condition,
    series_name,
)
from hoglet.hogql.insights.span import Span, span_of
from hoglet.hogql.trees import alias, call, constant, every, field, fill
from hoglet.syntax import tree

_TOTAL_DISPLAYS = frozenset(
    {"BoldNumber", "ActionsPie", "ActionsBarValue", "ActionsTable", "WorldMap", "CalendarHeatmap"}
)
_CUMULATIVE = "ActionsLineGraphCumulative"

_PLAIN = "SELECT {columns} FROM events WHERE {where} GROUP BY {keys}"
_ACTIVE = (
    "SELECT {bucket} AS bucket, {keys} AS breakdown, count(DISTINCT entity) AS value FROM "
    "(SELECT {entity} AS entity, {breakdown} AS keys, arrayJoin(range({first}, {last})) AS shift, "
    "timestamp AS happened FROM events WHERE {where}) GROUP BY bucket, breakdown"
)


class _Period(msgspec.Struct, frozen=True):
    span: Span
    name: str | None


class _Line(msgspec.Struct):
    """One line of the answer: its numbers by interval, or one total."""

    order: int
    values: list[str | None]
    data: list[float]
    total: float
    period: _Period


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query for each series and period."""
    span = span_of(query, context)
    trend = _Trend(query, context, _periods(query, span))
    return Built(trend.queries(), trend.shape, span)


def _periods(query: Mapping[str, Any], span: Span) -> list[_Period]:
    compare_filter = query.get("compareFilter") or {}
    if not compare_filter.get("compare"):
        return [_Period(span, None)]
    before = span.moved(compare_filter.get("compare_to"))
    return [_Period(span, "current"), _Period(before, "previous")]


class _Trend:
    def __init__(
        self, query: Mapping[str, Any], context: QueryContext, periods: list[_Period]
    ) -> None:
        self._query = query
        self._context = context
        self._periods = periods
        self._series: list[Mapping[str, Any]] = list(query.get("series") or [])
        if not self._series:
            raise refused("An insight needs at least one series")
        filter_ = query.get("trendsFilter") or {}
        self._display = filter_.get("display") or "ActionsLineGraph"
        self._is_total = self._display in _TOTAL_DISPLAYS
        self._formulas = formulas_of(filter_)
        self._breakdown = breakdown_of(query, context)
        factor = query.get("samplingFactor")
        self._factor = float(factor) if factor and 0 < float(factor) < 1 else None

    # --- queries

    def queries(self) -> list[Any]:
        return [
            self._series_query(node, period) for period in self._periods for node in self._series
        ]

    def _series_query(self, node: Mapping[str, Any], period: _Period) -> Any:
        math = node.get("math")
        if math in ACTIVE_DAYS and not self._is_total:
            return self._active_query(node, period, ACTIVE_DAYS[math])
        where = every([*period.span.condition(), *self._conditions(node)])
        columns: list[Any] = []
        if not self._is_total:
            columns.append(alias("bucket", period.span.index(field("timestamp"))))
        if self._breakdown is not None:
            columns.append(alias("breakdown", self._breakdown.key()))
        keys = tuple(field(column.alias) for column in columns)
        columns.append(alias("value", math_expression(node, self._query)))
        built = fill(_PLAIN, columns=tuple(columns), where=where, keys=keys or (constant(1),))
        if not keys:
            built = msgspec.structs.replace(built, group_by=None)
        return self._sampled(built)

    def _conditions(self, node: Mapping[str, Any]) -> list[Any]:
        return [
            series_condition(node, self._context),
            *common_conditions(self._query, self._context),
        ]

    def _active_query(self, node: Mapping[str, Any], period: _Period, days: int) -> Any:
        """Distinct actors of the last 7 or 30 days, for each interval: events count ahead."""
        span = period.span
        wide = Span(_days_before(span, days), span.end, span.interval)
        where = every([*wide.condition(), *self._conditions(node)])
        shifted = call("addDays", field("happened"), field("shift"))
        breakdown = self._breakdown.key() if self._breakdown else call("array", constant(""))
        built = fill(
            _ACTIVE,
            bucket=span.index(shifted),
            keys=field("keys"),
            entity=entity_of(self._query),
            breakdown=breakdown,
            first=constant(0),
            last=constant(days),
            where=where,
        )
        if self._breakdown is None:
            kept = tuple(item for item in built.select if item.alias != "breakdown")
            built = msgspec.structs.replace(built, select=kept, group_by=(field("bucket"),))
        return built

    def _sampled(self, built: Any) -> Any:
        if self._factor is None:
            return built
        ratio = tree.RatioExpr(left=tree.Constant(value=self._factor))
        source = msgspec.structs.replace(
            built.select_from, sample=tree.SampleExpr(sample_value=ratio)
        )
        return msgspec.structs.replace(built, select_from=source)

    # --- results

    def shape(self, answers: Sequence[Rows]) -> list[Any]:
        lines: list[_Line] = []
        position = 0
        for period in self._periods:
            found: list[_Line] = []
            for order, node in enumerate(self._series):
                found += self._lines(order, node, period, answers[position])
                position += 1
            lines += self._with_formulas(found, period) if self._formulas else found
        return [self._result(line) for line in lines]

    def _lines(
        self, order: int, node: Mapping[str, Any], period: _Period, rows: Rows
    ) -> list[_Line]:
        count = 0 if self._is_total else len(period.span.buckets())
        scale = 1.0
        if self._factor is not None and (node.get("math") or "total") in {
            "total",
            "dau",
            "sum",
            "unique_session",
            "unique_group",
        }:
            scale = 1 / self._factor
        groups: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0] * (count or 1))
        if self._breakdown is None:
            groups[()]  # a series without rows is a line of zeros
        for row in rows:
            index = 0 if self._is_total else int(row[0])
            key = tuple(row[-2]) if self._breakdown is not None else ()
            if 0 <= index < (count or 1):
                groups[key][index] += _number(row[-1]) * scale
        lines = [
            _Line(order, clean(list(key)), data, _total(data), period)
            for key, data in groups.items()
        ]
        return self._limited(lines)

    def _limited(self, lines: list[_Line]) -> list[_Line]:
        """The largest lines; the rest added up as ``Other``."""
        if self._breakdown is None:
            return lines
        lines.sort(key=lambda line: (-line.total, label(line.values)))
        kept, rest = lines[: self._breakdown.limit], lines[self._breakdown.limit :]
        filter_ = self._query.get("breakdownFilter") or {}
        if not rest or filter_.get("breakdown_hide_other_aggregation"):
            return kept
        data: list[float] = [
            sum(values) for values in zip(*(line.data for line in rest), strict=True)
        ]
        names: list[str | None] = [OTHER] * len(self._breakdown.parts)
        return [*kept, _Line(rest[0].order, names, data, sum(data), rest[0].period)]

    def _with_formulas(self, lines: list[_Line], period: _Period) -> list[_Line]:
        keys = dict.fromkeys(tuple(line.values) for line in lines)
        found: list[_Line] = []
        for order, formula in enumerate(self._formulas):
            for key in keys:
                named = {
                    chr(65 + line.order): line.data for line in lines if tuple(line.values) == key
                }
                data = evaluate_formula(formula, named, len(lines[0].data) if lines else 0)
                found.append(_Line(order, list(key), data, sum(data), period))
        return found

    def _result(self, line: _Line) -> dict[str, Any]:
        data = [_tidy(value) for value in line.data]
        total = _tidy(line.total)
        if self._display == _CUMULATIVE:
            data = [_tidy(sum(line.data[: end + 1])) for end in range(len(data))]
        result: dict[str, Any] = {
            "action": None,
            "label": self._label(line),
            "count": total,
            "data": [] if self._is_total else data,
            "labels": [] if self._is_total else line.period.span.labels(),
            "days": [] if self._is_total else line.period.span.days(),
        }
        if not self._formulas:
            result["action"] = self._action(line)
        if self._is_total:
            result["aggregated_value"] = data[0] if data else 0
            result["count"] = result["aggregated_value"]
        if self._breakdown is not None:
            result["breakdown_value"] = _breakdown_value(line, self._breakdown)
        if line.period.name is not None:
            result |= {"compare": True, "compare_label": line.period.name}
        return result

    def _action(self, line: _Line) -> dict[str, Any]:
        action = action_object(self._series[line.order], line.order, self._context)
        return action | {"days": [] if self._is_total else line.period.span.days()}

    def _label(self, line: _Line) -> str:
        if self._formulas:
            name = self._formulas[line.order]
            return f"Formula ({name})" if not line.values else label(line.values)
        node = self._series[line.order]
        name = series_name(node, self._context)
        if self._breakdown is None:
            return name
        if len(self._series) > 1:
            return f"{name} - {label(line.values)}"
        return label(line.values)


def _days_before(span: Span, days: int) -> Any:
    return Span(span.first(), span.end, "day").earlier(days - 1)


def _breakdown_value(line: _Line, breakdown: Breakdown) -> Any:
    return line.values if breakdown.many else line.values[0]


def _number(value: Any) -> float:
    """A value of the warehouse as a number; NULL, NaN and infinities are 0."""
    if value is None:
        return 0
    number = value if isinstance(value, int | float) else float(value)
    return number if number == number and abs(number) != float("inf") else 0  # noqa: PLR0124 (NaN)


def _total(data: list[float]) -> float:
    return sum(data)


def _tidy(value: float) -> float:
    """``3.0`` as ``3``."""
    return int(value) if float(value).is_integer() else value
