"""RetentionQuery: of those who began in an interval, how many came back in later ones.

Source: spec/query-endpoints.md section 10.6.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.dates import shift, start_of
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.breakdowns import breakdown_of, clean
from hoglet.hogql.insights.built import Built, Rows
from hoglet.hogql.insights.series import common_conditions, entity_of, series_condition
from hoglet.hogql.insights.span import Span, span_of
from hoglet.hogql.trees import Expression, alias, call, compare, constant, every, field, fill, some

_PERIODS = {
    "Hour": ("hour", "h"),
    "Day": ("day", "d"),
    "Week": ("week", "w"),
    "Month": ("month", "m"),
}
_FIRST_TIME = frozenset({"retention_first_time", "retention_first_ever_occurrence"})
_PAGEVIEW = {"id": "$pageview", "type": "events", "name": "$pageview"}

_ACTORS = "SELECT {columns} FROM events WHERE {where} GROUP BY actor"
_COUNTS = (
    "SELECT breakdown, start, arrayJoin(arrayConcat([_toInt64(0)], arrayFilter(gap -> gap > 0, "
    "arrayMap(back -> _toInt64(back - start), returns)))) AS gap, count() AS actors FROM "
    "(SELECT breakdown, arrayJoin(starts) AS start, returns FROM {actors}) "
    "WHERE start >= 0 GROUP BY breakdown, start, gap"
)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query: actors by starting interval and gap."""
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
            raise refused(f"Unknown retention period '{self._period}'")
        self._count = max(1, min(int(filter_.get("totalIntervals") or 8), 100))
        interval, unit = _PERIODS[self._period]
        asked = span_of({**query, "interval": interval}, context)
        # The last interval is the one that holds date_to; the others lie before it.
        last = start_of(asked.end, unit)
        first = shift(last, -(self._count - 1), unit)
        end = msgspec.structs.replace(asked, start=first).end
        self.span = Span(first, end, interval)
        self._breakdown = breakdown_of(query, context)

    def query(self) -> Any:
        target = self._condition("targetEntity")
        back = self._condition("returningEntity")
        first_time = self._filter.get("retentionType") in _FIRST_TIME
        span = self.span.condition()
        bounds = span[1:] if first_time else span
        common = common_conditions(self._query, self._context)
        where = every([*bounds, *common, some([target, back])])
        index = self.span.index(field("timestamp"))
        if first_time:
            earliest = call("minIf", index, target)
            seen = compare(">", call("countIf", target), constant(0))
            nobody = call("arrayFilter", _never(), call("array", earliest))
            starts = call("if", seen, call("array", earliest), nobody)
        else:
            starts = call("groupUniqArrayIf", index, target)
        columns = (
            alias("actor", entity_of(self._query)),
            alias("breakdown", self._first_value(target)),
            alias("starts", starts),
            alias("returns", call("groupUniqArrayIf", index, back)),
        )
        return fill(_COUNTS, actors=fill(_ACTORS, columns=columns, where=where))

    def _condition(self, key: str) -> Expression:
        return series_condition(self._filter.get(key) or _PAGEVIEW, self._context)

    def _first_value(self, target: Expression) -> Expression:
        if self._breakdown is None:
            return call("array", constant(""))
        return call("argMinIf", self._breakdown.key(), field("timestamp"), target)

    def shape(self, answers: Sequence[Rows]) -> list[Any]:
        tables: dict[tuple[str, ...], dict[tuple[int, int], int]] = defaultdict(dict)
        if self._breakdown is None:
            tables[("",)]
        for key, start, gap, actors in answers[0]:
            tables[tuple(key)][int(start), int(gap)] = int(actors)
        keys = sorted(tables, key=lambda key: -tables[key].get((0, 0), 0))
        if self._breakdown is not None:
            keys = keys[: self._breakdown.limit]
        return [row for key in keys for row in self._rows(key, tables[key])]

    def _rows(self, key: tuple[str, ...], cells: Mapping[tuple[int, int], int]) -> list[Any]:
        buckets = self.span.buckets()[: self._count]
        rows: list[dict[str, Any]] = []
        for start, moment in enumerate(buckets):
            values = [
                {"count": cells.get((start, gap), 0), "label": f"{self._period} {gap}"}
                for gap in range(self._count - start)
            ]
            row: dict[str, Any] = {
                "date": moment.isoformat(),
                "label": f"{self._period} {start}",
                "values": values,
            }
            if self._breakdown is not None:
                shown = clean(list(key))
                row["breakdown_value"] = shown if self._breakdown.many else shown[0]
            rows.append(row)
        return rows


def _never() -> Expression:
    return fill("SELECT start -> false").select[0]
