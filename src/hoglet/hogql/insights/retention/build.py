"""RetentionQuery: how many of the actors who started in an interval returned in later ones.

With a breakdown, each value is computed separately: an actor who started with a value returns with
that value. So the rows of a value equal those of the query filtered by it.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hoglet.hogql.ast_builders import (
    Expression,
    alias,
    call,
    constant,
    every,
    field,
    fill,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.breakdowns import breakdown_of, clean, is_rest
from hoglet.hogql.insights.build_result import Built, Rows
from hoglet.hogql.insights.date_range import DateSpan, span_of, step
from hoglet.hogql.insights.retention.filter_options import (
    ADDED,
    AggregatedProperty,
    aggregated_property,
    bracket_of,
    brackets_of,
    column_labels,
)
from hoglet.hogql.insights.sampling import sampled, sampling_factor, scaled
from hoglet.hogql.insights.series import (
    common_conditions,
    entity_conditions,
    entity_of,
    series_condition,
    without_properties,
)
from hoglet.kit.relative_dates import start_of
from hoglet.syntax import tree

_PERIODS = {
    "Hour": ("hour", "h", 3600),
    "Day": ("day", "d", 86_400),
    "Week": ("week", "w", 604_800),
    "Month": ("month", "m", None),
}
_TYPES = ("retention_recurring", "retention_first_time", "retention_first_ever_occurrence")
_ELAPSED = "24_hour_windows"
_PAGEVIEW = {"id": "$pageview", "type": "events", "name": "$pageview"}

_ACTORS = "SELECT {columns} FROM events WHERE {where} GROUP BY actor, breakdown"
# Starts are the first target events of intervals: interval number and microsecond.
_RECURRING = (
    "arrayFilter((start, nth) -> nth = 1, arraySort(groupArrayIf({pair}, {target})), "
    "arrayEnumerateUniq(arrayMap(start -> start.1, arraySort(groupArrayIf({pair}, {target})))))"
)
_FIRST = (
    "arraySlice(arraySort(groupArrayIf({pair}, {counted})), 1, "
    "if(argMinIf({target}, timestamp, {counted}), 1, 0))"
)
_GAPS = "arrayFilter(gap -> gap > 0, {gaps})"
_CALENDAR = "arrayMap(back -> _toInt64(back.1 - start.1), {seen})"
_WINDOWS = "arrayMap(back -> _toInt64(intDiv(greatest(0, back.2 - start.2), {width})), {seen})"
_BRACKETED = "arrayMap(gap -> {bracket}, {gaps})"
_PLACED = "arrayMap(gap -> if(gap > 0, {bracket}, 0), {gaps})"
_OFTEN = "arrayFilter(gap -> countEqual({gaps}, gap) >= {least}, {gaps})"
_COUNTS = (
    "SELECT breakdown, start.1 AS start_place, arrayJoin({gaps}) AS gap, count() AS actors FROM "
    "(SELECT breakdown, arrayJoin(starts) AS start, returns FROM {actors}) "
    "WHERE start_place >= 0 GROUP BY breakdown, start_place, gap"
)
_VALUES = (
    "SELECT breakdown, start_place, gap, count() AS actors, {value} AS value FROM "
    "(SELECT breakdown, start, start.1 AS start_place, returns, targets, "
    "arrayJoin({gaps}) AS gap FROM "
    "(SELECT breakdown, arrayJoin(starts) AS start, returns, targets FROM {actors})) "
    "WHERE start_place >= 0 GROUP BY breakdown, start_place, gap"
)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query: actors by start interval and gap."""
    retention = _Retention(query, context)
    return Built([retention.query()], retention.shape, retention.span)


class _Retention:
    def __init__(self, query: Mapping[str, Any], context: QueryContext) -> None:
        self._query = query
        self._context = context
        filter_: Mapping[str, Any] = query.get("retentionFilter") or {}
        self._filter = filter_
        self._period = str(filter_.get("period") or "Day")
        if self._period not in _PERIODS:
            raise refused(
                f"Unknown retention period '{self._period}'", attr="retentionFilter__period"
            )
        self._type = filter_.get("retentionType") or _TYPES[0]
        _check(filter_, self._type, self._period)
        self._brackets = brackets_of(filter_)
        self._added = aggregated_property(filter_)
        self._count: int = filter_.get("totalIntervals") or 8
        self.span = _span(query, context, self._period, self._count)
        self._breakdown = breakdown_of(query, context)
        self._factor = sampling_factor(query)

    # --- query

    def query(self) -> Any:
        target, back = self._condition("targetEntity"), self._condition("returningEntity")
        bounds = self.span.condition()
        common = common_conditions(self._query, self._context)
        someone = entity_conditions(self._query)
        counted = target
        if self._type == _TYPES[2]:
            counted = self._condition("targetEntity", properties=False)
        ranked = every([*bounds, *common, target])
        where = every([*self._bounds(bounds), *common, *someone, some([counted, back])])
        index = self.span.index(field("timestamp"))
        pair = call("tuple", index, call("toUnixTimestamp64Micro", field("timestamp")))
        template = _RECURRING if self._type == _TYPES[0] else _FIRST
        seen = pair
        if self._added is not None:
            seen = call("tuple", *pair.args, self._added.number())
        columns = (
            alias("actor", entity_of(self._query)),
            alias("breakdown", self._value(ranked)),
            alias("starts", _expression(template, pair=pair, target=target, counted=counted)),
            alias("returns", call("groupArrayIf", seen, back)),
        )
        if self._added is None:
            actors = fill(_ACTORS, columns=columns, where=where)
            return sampled(fill(_COUNTS, gaps=self._display(), actors=actors), self._factor)
        columns += (alias("targets", call("groupArrayIf", seen, target)),)
        actors = fill(_ACTORS, columns=columns, where=where)
        counts = fill(_VALUES, gaps=self._display(), value=self._sum(self._added), actors=actors)
        return sampled(counts, self._factor)

    def _bounds(self, span: Sequence[Expression]) -> Sequence[Expression]:
        """Without the start of the range for first-time retention, which considers all events."""
        return span if self._type == _TYPES[0] else span[1:]

    def _condition(self, key: str, *, properties: bool = True) -> Expression:
        entity = self._filter.get(key) or _PAGEVIEW
        if not properties:
            entity = without_properties(entity)
        return series_condition(entity, self._context)

    def _value(self, ranked: Expression) -> Expression:
        if self._breakdown is None:
            return call("array", constant(""))
        someone = tree.Call(name="count", args=(entity_of(self._query),), distinct=True)
        return self._breakdown.limited(ranked, someone)

    def _gaps(self, events: str) -> Expression:
        """How many intervals after a start each event is."""
        if self._filter.get("timeWindowMode") != _ELAPSED:
            return _expression(_CALENDAR, seen=field(events))
        width = (_PERIODS[self._period][2] or 0) * 1_000_000
        return _expression(_WINDOWS, seen=field(events), width=constant(width))

    def _sum(self, added: AggregatedProperty) -> Expression:
        """The value of a cell: computed from the events for which its actors are counted."""
        elapsed = self._filter.get("timeWindowMode") == _ELAPSED
        begin = _expression("start.2") if elapsed else constant(0)
        gaps = self._gaps("returns")
        if self._brackets:
            gaps = _expression(_PLACED, gaps=gaps, bracket=bracket_of(self._brackets))
        parts = {"begin": begin, "target_gaps": self._gaps("targets"), "gaps": gaps}
        return added.of_cell(_expression(ADDED, **parts))

    def _display(self) -> Expression:
        """The gaps of a start in which its actor counts; everyone counts at 0."""
        gaps = _expression(_GAPS, gaps=self._gaps("returns"))
        if self._brackets:
            gaps = _expression(_BRACKETED, gaps=gaps, bracket=bracket_of(self._brackets))
        least = self._filter.get("minimumOccurrences") or 1
        if least > 1:
            gaps = _expression(_OFTEN, gaps=gaps, least=constant(least))
        if self._filter.get("cumulative"):  # actors who returned later count earlier too
            return _expression("range(0, 1 + arrayMax(arrayPushBack({gaps}, 0)))", gaps=gaps)
        return _expression("arrayDistinct(arrayPushFront({gaps}, _toInt64(0)))", gaps=gaps)

    # --- results

    def shape(self, answers: Sequence[Rows]) -> list[Any]:
        tables: dict[tuple[str, ...], dict[tuple[int, int], dict[str, Any]]] = defaultdict(dict)
        sizes: dict[tuple[str, ...], int] = defaultdict(int)
        if self._breakdown is None:
            tables[("",)]
        for key, start, gap, actors, *value in answers[0]:
            tables[tuple(key)][int(start), int(gap)] = self._cell(actors, *value)
            sizes[tuple(key)] += 0 if gap else int(actors)
        keys = sorted(tables, key=lambda key: (is_rest(key), -sizes[key], key))
        if self._breakdown is not None:
            keys = list(filter(self._breakdown.shows, keys))
        return [row for key in keys for row in self._rows(key, tables[key])]

    def _cell(self, actors: Any, value: float = 0.0) -> dict[str, Any]:
        cell: dict[str, Any] = {"count": scaled(actors, self._factor)}
        if self._added is None:
            return cell
        if self._factor is not None and not self._added.is_average:
            value /= self._factor
        return cell | {"aggregation_value": value}

    def _rows(
        self, key: tuple[str, ...], cells: Mapping[tuple[int, int], dict[str, Any]]
    ) -> list[Any]:
        rows: list[dict[str, Any]] = []
        empty = self._cell(0)
        for start, moment in enumerate(self.span.buckets()[: self._count]):
            values = [
                {**cells.get((start, gap), empty), "label": f"{self._period} {label}"}
                for gap, label in enumerate(column_labels(self._brackets, self._count - start))
            ]
            row: dict[str, Any] = {
                "date": _iso(moment),
                "label": f"{self._period} {start}",
                "values": values,
            }
            if self._breakdown is not None:
                row["breakdown_value"] = self._breakdown.displayed(clean(key))
                if self._breakdown.is_cohorts:
                    row["breakdown"] = self._breakdown.displayed(self._breakdown.named(clean(key)))
            rows.append(row)
        return rows


def _check(filter_: Mapping[str, Any], type_: str, period: str) -> None:
    if type_ not in _TYPES:
        raise refused(f"Unknown retentionType '{type_}'", attr="retentionFilter__retentionType")
    mode = filter_.get("timeWindowMode") or "strict_calendar_dates"
    if mode not in {"strict_calendar_dates", _ELAPSED}:
        raise refused(f"Unknown timeWindowMode '{mode}'", attr="retentionFilter__timeWindowMode")
    if mode == _ELAPSED and period == "Month":
        raise refused(
            "Months have no fixed length: timeWindowMode must be strict_calendar_dates",
            attr="retentionFilter__timeWindowMode",
        )


def _span(query: Mapping[str, Any], context: QueryContext, period: str, count: int) -> DateSpan:
    """The last interval contains date_to; the others precede it."""
    interval, unit, _ = _PERIODS[period]
    requested = span_of({**query, "interval": interval}, context, has_start=False)
    last = start_of(requested.end, unit, context.week_start_day)
    return requested.between(step(last, 1 - count, interval), requested.end)


def _iso(moment: datetime) -> str:
    text = moment.isoformat()
    return (
        text.removesuffix("+00:00") + "Z"
        if moment.tzinfo is UTC or text.endswith("+00:00")
        else text
    )


def _expression(text: str, **parts: Any) -> Expression:
    return fill(f"SELECT {text}", **parts).select[0]
