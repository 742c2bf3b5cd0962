"""The queries of trends: one per series and period.

Rows are ``[bucket] [breakdown] value``: no bucket for totals, no breakdown without one.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import (
    Expression,
    alias,
    call,
    compare,
    constant,
    every,
    field,
    fill,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.insights.breakdowns import Breakdown
from hoglet.hogql.insights.date_range import DateSpan, step
from hoglet.hogql.insights.measures import (
    ACTIVE_DAYS,
    FIRST_TIME,
    Measure,
    countable,
    measure_of,
)
from hoglet.hogql.insights.sampling import sampled, sampling_factor
from hoglet.hogql.insights.series import (
    Node,
    common_conditions,
    entity_conditions,
    entity_of,
    series_condition,
    without_properties,
)
from hoglet.hogql.insights.trends.calendar import cells_of
from hoglet.kit.relative_dates import elapse, start_of_day

_PLAIN = "SELECT {columns} FROM events WHERE {where} GROUP BY {keys}"
_BY_UNIT = "SELECT {columns} FROM {units} GROUP BY {keys}"
_UNITS = "SELECT {columns}, {inner} AS x FROM events WHERE {where} GROUP BY {keys}, {unit}"
# An event counts in every interval whose window contains it, an actor once in each: a window ends
# where the actor's next one begins. Only then are windows spread over their intervals, which would
# otherwise cost as many rows as events have intervals.
_ACTIVE = (
    "SELECT {columns} FROM "
    "(SELECT breakdown, arrayJoin(range(opened, closed)) AS bucket, actors FROM "
    "(SELECT breakdown, period.1 AS opened, period.2 AS closed, count() AS actors FROM "
    "(SELECT breakdown, arrayJoin(arrayMap("
    "(own, following) -> (greatest(own.1, 0), least(own.2, following)), periods, "
    "arrayPushBack(arrayPopFront(arrayMap(each -> each.1, periods)), {count}))) AS period FROM "
    "(SELECT {breakdown} AS breakdown, arraySort(groupUniqArray(({index}, {until}))) AS periods "
    "FROM events WHERE {where} GROUP BY {entity}, breakdown)) "
    "GROUP BY breakdown, opened, closed HAVING opened < closed)) GROUP BY {keys}"
)
_FIRST = "SELECT {columns} FROM {firsts} WHERE {where} GROUP BY {keys}"
_FIRSTS = (
    "SELECT {entity} AS entity, min(timestamp) AS first, {breakdown} AS breakdown, {fits} AS fits "
    "FROM events WHERE {where} GROUP BY entity"
)
_CLOCK = frozenset({"second", "minute", "hour"})
"""Intervals of elapsed time."""
_COARSE = {
    "weekly_active": ("week", "month", "quarter", "year"),
    "monthly_active": ("month", "quarter", "year"),
}
"""Intervals as long as the window: actors of the interval are counted."""


class TrendQueries:
    """Builds the queries of a trend.

    Args:
        query: the insight.
        breakdown: its breakdown, or None.
        is_total: whether to compute a total instead of a value per interval.
        shared: whether all series share their breakdown values (for formulas).
    """

    def __init__(
        self,
        query: Mapping[str, Any],
        context: QueryContext,
        breakdown: Breakdown | None,
        *,
        is_total: bool,
        shared: bool,
    ) -> None:
        self._query = query
        self._context = context
        self._breakdown = breakdown
        self._is_total = is_total
        self._series: Sequence[Node] = query.get("series") or []
        self._shared = shared
        self._factor = sampling_factor(query)

    def build(self, node: Node, span: DateSpan, ranked: Sequence[DateSpan]) -> Any:
        """The query of a series.

        Args:
            node: the series.
            span: the period to count.
            ranked: the periods whose largest breakdown values are shown: the current one, then the
                compared one, if any.
        """
        return sampled(self._build(node, span, ranked), self._factor)

    def calendar(self, node: Node, span: DateSpan) -> Any:
        """The query of a calendar heatmap; rows are ``cell, value``."""
        measure = measure_of(node, self._query)
        where = every([*span.condition(), *self._conditions(node)])
        options = self._query.get("calendarHeatmapFilter") or {}
        by_session = options.get("bucketBySessionStart") and node.get("math") == "dau"
        time = field("timestamp")
        if by_session:  # an event without a session counts where it happened
            time = call("ifNull", field("session", "$start_timestamp"), time)
        columns = [alias("cell", cells_of(time))]
        if measure.unit is None:
            query = self._grouped(_PLAIN, columns, measure.value, where=where)
        else:
            query = self._by_unit(columns, measure, where)
        return sampled(query, self._factor)

    def _build(self, node: Node, span: DateSpan, ranked: Sequence[DateSpan]) -> Any:
        math = str(node.get("math") or "total")
        if math in ACTIVE_DAYS:
            days = ACTIVE_DAYS[math]
            if self._is_total:
                return self._plain(
                    node, _last_days(span, days), [_last_days(each, days) for each in ranked]
                )
            if span.interval not in _COARSE[math]:
                return self._active(node, span, ranked, days)
        if math in FIRST_TIME:
            return self._first(node, span, ranked)
        return self._plain(node, span, ranked)

    # --- kinds

    def _plain(self, node: Node, span: DateSpan, ranked: Sequence[DateSpan]) -> Any:
        measure = measure_of(node, self._query)
        key = self._key(node, ranked)
        where = every([*span.condition(), *self._conditions(node)])
        columns = self._columns(span.index(field("timestamp")), key)
        if measure.unit is None:
            return self._grouped(_PLAIN, columns, measure.value, where=where)
        return self._by_unit(columns, measure, where)

    def _by_unit(self, columns: list[Any], measure: Measure, where: Expression) -> Any:
        keys = tuple(field(column.alias) for column in columns)
        text = call("toString", measure.unit or constant(""))
        unit = compare("!=", call("ifNull", text, constant("")), constant(""))
        units = fill(
            _UNITS,
            columns=tuple(columns) or (constant(1),),
            inner=measure.inner,
            where=every([where, unit]),
            keys=keys or (constant(1),),
            unit=measure.unit,
        )
        return self._grouped(_BY_UNIT, list(keys), measure.value, units=units)

    def _active(self, node: Node, span: DateSpan, ranked: Sequence[DateSpan], days: int) -> Any:
        key = self._key(node, [_widened(each, days) for each in ranked])
        time = field("timestamp")
        if span.interval in _CLOCK:
            until = span.index(call("addHours", time, constant(24 * days)))
        else:
            until = span.index(call("addDays", time, constant(days)))
        columns = [field("bucket"), *([field("breakdown")] if self._breakdown else [])]
        return self._grouped(
            _ACTIVE,
            columns,
            _SUM_ACTORS,
            entity=entity_of(self._query),
            breakdown=key or constant(1),
            index=span.index(time),
            until=until,
            count=constant(len(span.buckets())),
            where=every([*_widened(span, days).condition(), *self._conditions(node)]),
        )

    def _first(self, node: Node, span: DateSpan, ranked: Sequence[DateSpan]) -> Any:
        """Actors by their first event ever: with that name, or that matches."""
        key = self._key(node, ranked)
        time = field("timestamp")
        matches = every(self._conditions(node))
        counted = matches
        if node.get("math") == "first_time_for_user":
            counted = series_condition(without_properties(node), self._context)
        firsts = fill(
            _FIRSTS,
            entity=entity_of(self._query),
            breakdown=call("argMin", key or constant(1), time),
            fits=call("argMin", matches, time),
            where=every([*span.condition()[1:], counted, *entity_conditions(self._query)]),
        )
        columns = self._columns(span.index(field("first")), field("breakdown") if key else None)
        where = every([span.condition(field("first"))[0], field("fits")])
        return self._grouped(_FIRST, columns, call("count"), firsts=firsts, where=where)

    # --- parts

    def _grouped(self, template: str, columns: list[Any], value: Expression, **parts: Any) -> Any:
        """``SELECT columns, value ... GROUP BY columns``; without columns a single group."""
        keys = tuple(
            field(getattr(column, "alias", None) or column.chain[-1]) for column in columns
        )
        selected = (*columns, alias("value", value))
        built = fill(template, columns=selected, keys=keys or (constant(1),), **parts)
        return built if keys else msgspec.structs.replace(built, group_by=None)

    def _columns(self, bucket: Expression, key: Expression | None) -> list[Any]:
        columns = [] if self._is_total else [alias("bucket", bucket)]
        return columns if key is None else [*columns, alias("breakdown", key)]

    def _key(self, node: Node, ranked: Sequence[DateSpan]) -> Expression | None:
        """The breakdown's key with remaining values combined."""
        if self._breakdown is None:
            return None
        nodes = self._series if self._shared else [node]
        counted = [
            some([series_condition(each, self._context) for each in nodes]),
            *common_conditions(self._query, self._context),
        ]
        where, *before = (every([*span.condition(), *counted]) for span in ranked)
        measure = measure_of(node, self._query)
        size = call("count") if self._shared or measure.unit is not None else measure.value
        return self._breakdown.limited(where, size, *before)

    def _conditions(self, node: Node) -> list[Expression]:
        return [
            series_condition(node, self._context),
            *common_conditions(self._query, self._context),
            *countable(node, self._query),
        ]


_SUM_ACTORS = fill("SELECT sum(actors)").select[0]


def _last_days(span: DateSpan, days: int) -> DateSpan:
    """The days that end with a period."""
    return span.between(step(start_of_day(span.end), 1 - days, "day"), span.end)


def _widened(span: DateSpan, days: int) -> DateSpan:
    """A period with the preceding days that its first window covers."""
    following = step(span.first(), 1, span.interval)
    if span.interval in _CLOCK:
        return span.between(elapse(following, timedelta(days=-days)), span.end)
    return span.between(step(following, -days, "day"), span.end)
