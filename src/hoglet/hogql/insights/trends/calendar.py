"""Calendar heatmaps: the measure of a series by weekday and hour.

Rows are ``[weekday, hour], value``; ``ALL`` instead of a weekday or hour is the measure over all of
them, which for persons is not the sum.

Source: docs/spec/data-and-queries.md#75-series-and-display.
"""

from collections.abc import Sequence
from typing import Any

from hoglet.hogql.ast_builders import Expression, fill

ALL = -1

_CELLS = (
    "SELECT arrayJoin([[toDayOfWeek({time}), toHour({time})], [toDayOfWeek({time}), -1], "
    "[-1, toHour({time})], [-1, -1]])"
)


def cells_of(time: Expression) -> Expression:
    """The cells that count an event: its own, those of its row and column, and the total."""
    return fill(_CELLS, time=time).select[0]


def calendar_heatmap(rows: Sequence[tuple[Sequence[int], float]]) -> dict[str, Any]:
    """``calendar_heatmap_data`` of a result: rows are weekdays from 1 for Monday, columns hours.

    Example:
        >>> calendar_heatmap([([1, 9], 2), ([1, -1], 2), ([-1, 9], 2), ([-1, -1], 2)])["data"]
        [{'row': 1, 'column': 9, 'value': 2}]
    """
    cells = {(int(day), int(hour)): value for (day, hour), value in rows}
    ordered = sorted(cells.items())
    return {
        "data": [
            {"row": day, "column": hour, "value": value}
            for (day, hour), value in ordered
            if ALL not in (day, hour)
        ],
        "rowAggregations": [
            {"row": day, "value": value} for (day, hour), value in ordered if hour == ALL != day
        ],
        "columnAggregations": [
            {"column": hour, "value": value} for (day, hour), value in ordered if day == ALL != hour
        ],
        "allAggregations": cells.get((ALL, ALL), 0),
    }
