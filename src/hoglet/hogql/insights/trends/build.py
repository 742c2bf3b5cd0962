"""TrendsQuery: a value per interval, series and breakdown.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.breakdowns import breakdown_of, clean, is_rest, label
from hoglet.hogql.insights.build_result import Built, Rows
from hoglet.hogql.insights.date_range import DateSpan, previous_span, span_of
from hoglet.hogql.insights.measures import is_whole, scales
from hoglet.hogql.insights.sampling import sampling_factor
from hoglet.hogql.insights.series import action_object, series_name
from hoglet.hogql.insights.trends.calendar import calendar_heatmap
from hoglet.hogql.insights.trends.formulas import (
    Formula,
    evaluate_formula,
    formulas_of,
)
from hoglet.hogql.insights.trends.queries import TrendQueries

_TOTAL_DISPLAYS = frozenset(
    {"BoldNumber", "ActionsPie", "ActionsBarValue", "ActionsTable", "WorldMap", "CalendarHeatmap"}
)
_CUMULATIVE = "ActionsLineGraphCumulative"
_CALENDAR = "CalendarHeatmap"
_WORKDAYS = (1, 2, 3, 4, 5)


class _Period(msgspec.Struct, frozen=True):
    span: DateSpan
    name: str | None


class _Line(msgspec.Struct):
    """One line of the result: its numbers by interval, or a total."""

    order: int
    key: tuple[str, ...]
    data: list[float]
    period: _Period

    @property
    def total(self) -> float:
        return sum(self.data)

    @property
    def values(self) -> list[str | None]:
        return clean(self.key)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query for each series and period."""
    span = span_of(query, context)
    trend = _Trend(query, context, _periods(query, span))
    return Built(trend.queries(), trend.shape, span)


def _periods(query: Mapping[str, Any], span: DateSpan) -> list[_Period]:
    if not (query.get("compareFilter") or {}).get("compare"):
        return [_Period(span, None)]
    return [_Period(span, "current"), _Period(previous_span(query, span), "previous")]


class _Trend:
    def __init__(
        self, query: Mapping[str, Any], context: QueryContext, periods: list[_Period]
    ) -> None:
        self._context = context
        self._periods = periods
        self._series: list[Mapping[str, Any]] = list(query.get("series") or [])
        if not self._series:
            raise refused("An insight needs at least one series", attr="series")
        if query.get("conversionGoal"):
            raise refused("conversionGoal is not supported", attr="conversionGoal")
        filter_ = query.get("trendsFilter") or {}
        self._display = filter_.get("display") or "ActionsLineGraph"
        self._is_total = self._display in _TOTAL_DISPLAYS
        self._smoothing: int = filter_.get("smoothingIntervals") or 1
        self._formulas: list[Formula] = formulas_of(filter_, len(self._series))
        self._breakdown = breakdown_of(query, context)
        self._factor = sampling_factor(query)
        days = periods[0].span.days_of_week
        self._shown_days = days or (_WORKDAYS if filter_.get("hideWeekends") else ())
        self._is_calendar = (
            self._display == _CALENDAR and self._breakdown is None and not self._formulas
        )
        self._queries = TrendQueries(
            query, context, self._breakdown, is_total=self._is_total, shared=bool(self._formulas)
        )

    def queries(self) -> list[Any]:
        ranked = [period.span for period in self._periods]
        plan = [(node, period.span) for period in self._periods for node in self._series]
        queries = [self._queries.build(node, span, ranked) for node, span in plan]
        if self._is_calendar:
            queries += [self._queries.calendar(node, span) for node, span in plan]
        return queries

    # --- results

    def shape(self, answers: Sequence[Rows]) -> list[Any]:
        lines: list[_Line] = []
        position = 0
        for period in self._periods:
            period_lines: list[_Line] = []
            for order, node in enumerate(self._series):
                period_lines += self._lines(order, node, period, answers[position])
                position += 1
            lines += self._with_formulas(period_lines, period) if self._formulas else period_lines
        results = [self._result(line) for line in lines]
        if self._is_calendar:  # one line for each series and period, in the order of the queries
            for result, line, rows in zip(results, lines, answers[position:], strict=True):
                result["calendar_heatmap_data"] = self._calendar(line, rows)
        return results

    def _calendar(self, line: _Line, rows: Rows) -> dict[str, Any]:
        node = self._series[line.order]
        return calendar_heatmap(
            [(cell, _tidy(self._scaled(_number(value), node))) for cell, value in rows]
        )

    def _lines(
        self, order: int, node: Mapping[str, Any], period: _Period, rows: Rows
    ) -> list[_Line]:
        count = self._count(period)
        groups: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0] * count)
        if self._breakdown is None:
            groups[()]  # a series without rows is a line of zeros
        for row in rows:
            index = 0 if self._is_total else int(row[0])
            key = tuple(row[-2]) if self._breakdown is not None else ()
            if 0 <= index < count and (self._breakdown is None or self._breakdown.shows(key)):
                groups[key][index] = self._scaled(_number(row[-1]), node)
        lines = [_Line(order, key, data, period) for key, data in groups.items()]
        return self._sorted(lines)

    def _count(self, period: _Period) -> int:
        return 1 if self._is_total else len(period.span.buckets())

    def _scaled(self, value: float, node: Mapping[str, Any]) -> float:
        if self._factor is None or not scales(node):
            return value
        scaled = value / self._factor
        return round(scaled) if is_whole(node) else scaled

    def _sorted(self, lines: list[_Line]) -> list[_Line]:
        """The largest first; combined values last."""
        return sorted(lines, key=lambda line: (is_rest(line.key), -line.total, label(line.values)))

    def _with_formulas(self, lines: list[_Line], period: _Period) -> list[_Line]:
        keys = dict.fromkeys(line.key for line in lines)
        count = self._count(period)
        nothing = {chr(65 + order): [0.0] * count for order in range(len(self._series))}
        results: list[_Line] = []
        for order, formula in enumerate(self._formulas):
            each: list[_Line] = []
            for key in keys:
                named = nothing | {
                    chr(65 + line.order): line.data for line in lines if line.key == key
                }
                data = evaluate_formula(formula.parsed, named, count)
                each.append(_Line(order, key, data, period))
            results += self._sorted(each)
        return results

    def _result(self, line: _Line) -> dict[str, Any]:
        span = line.period.span
        total = _tidy(line.total if self._is_total else sum(self._visible(span, line.data)))
        result: dict[str, Any] = {
            "action": None if self._formulas else self._action(line),
            "label": self._label(line),
            "count": total,
            "data": [_tidy(value) for value in self._visible(span, self._drawn(line.data))],
            "labels": self._visible(span, span.labels()),
            "days": self._visible(span, span.days()),
        }
        if self._is_total:
            result["aggregated_value"] = total
        if self._breakdown is not None:
            result["breakdown_value"] = self._breakdown.displayed(line.values)
        if line.period.name is not None:
            result |= {"compare": True, "compare_label": line.period.name}
        return result

    def _visible[T](self, span: DateSpan, items: Sequence[T]) -> list[T]:
        """The items of intervals that are shown: none in a total, no hidden weekdays."""
        return [] if self._is_total else span.on_days(items, self._shown_days)

    def _drawn(self, data: list[float]) -> list[float]:
        """The displayed numbers: smoothed, or cumulative."""
        if self._smoothing > 1:
            windows = (data[max(0, end - self._smoothing) : end] for end in _ends(data))
            data = [sum(window) / len(window) for window in windows]
        if self._display == _CUMULATIVE:
            data = [sum(data[:end]) for end in _ends(data)]
        return data

    def _action(self, line: _Line) -> dict[str, Any]:
        action = action_object(self._series[line.order], line.order, self._context)
        return action | {"days": self._visible(line.period.span, line.period.span.days())}

    def _label(self, line: _Line) -> str:
        breakdown = self._breakdown
        values = label(line.values) if breakdown is None else breakdown.label(line.values)
        if self._formulas:
            name = self._formulas[line.order].label
            several = len(self._formulas) > 1 and values
            return f"{name} - {values}" if several else values or name
        name = series_name(self._series[line.order], self._context)
        if self._breakdown is None:
            return name
        return f"{name} - {values}" if len(self._series) > 1 else values


def _ends(data: list[float]) -> range:
    return range(1, len(data) + 1)


def _number(value: Any) -> float:
    """A value of the warehouse as a number; 0 for NULL, NaN and infinities.

    Raises:
        SourceError: it is not a number, which only a user's expression can return.
    """
    if value is None:
        return 0
    try:
        number = value if isinstance(value, int | float) else float(value)
    except (TypeError, ValueError):
        raise refused("math_hogql must return a number") from None
    return number if number == number and abs(number) != float("inf") else 0  # noqa: PLR0124 (NaN)


def _tidy(value: float) -> float:
    """``3.0`` as ``3``."""
    return int(value) if float(value).is_integer() else value
