"""The result of a query as chart options. Pure."""

from typing import Any

from hoglet.console.charts import chart_frame
from hoglet.console.records.endpoints import ChartOptions, ResultRecord

_NUMBERS = ("Int", "UInt", "Float", "Decimal")
_MAX_SERIES = 12
_MAX_POINTS = 1000


def query_chart(body: ResultRecord) -> ChartOptions | None:
    """Options for ECharts; None unless the first column has names or times and others numbers.

    The first column is the axis: lines over dates, bars over names. Each other column of numbers
    is a series. With three columns "axis, name, number", each name is a series.

    Args:
        body: the response to a HogQL query.
    """
    types = [_inner(kind) for _, kind in body.get("types") or []]
    rows: list[list[Any]] = (body.get("results") or [])[:_MAX_POINTS]
    columns: list[str] = body.get("columns") or []
    numbers = [index for index, kind in enumerate(types) if index and kind.startswith(_NUMBERS)]
    if not rows or not numbers:
        return None
    kind = "line" if types[0].startswith("Date") else "bar"
    if kind == "line":  # left to right, whatever the query's order
        rows = sorted(rows, key=lambda row: str(row[0]))
    labels = list(dict.fromkeys(_label(row[0]) for row in rows))
    if len(columns) == 3 and numbers == [2]:
        series = _by_name(rows, labels)
    else:
        series = {columns[index]: _values(rows, labels, index) for index in numbers[:_MAX_SERIES]}
    axis_labels = _shortened(labels) if kind == "line" else labels
    return chart_frame(axis_labels) | {
        "series": [
            {"name": name, "type": kind, "data": values, "showSymbol": len(labels) < 100}
            for name, values in series.items()
        ],
    }


def _values(rows: list[list[Any]], labels: list[str], index: int) -> list[Any]:
    values = {_label(row[0]): row[index] for row in rows}
    return [values.get(label) for label in labels]


def _by_name(rows: list[list[Any]], labels: list[str]) -> dict[str, list[Any]]:
    names = list(dict.fromkeys(_label(row[1]) for row in rows))[:_MAX_SERIES]
    return {
        name: _values([row for row in rows if _label(row[1]) == name], labels, 2) for name in names
    }


def _label(value: Any) -> str:
    return "null" if value is None else str(value)


def _shortened(labels: list[str]) -> list[str]:
    """Times without zone and, if all are the same, without time or seconds.

    Example:
        >>> _shortened(["2026-01-05T00:00:00-05:00", "2026-01-06T00:00:00-05:00"])
        ['2026-01-05', '2026-01-06']
    """
    if all(label[10:19] in {"", "T00:00:00"} for label in labels):
        length = len("2026-01-05")
    elif all(label[16:19] in {"", ":00"} for label in labels):
        length = len("2026-01-05T00:00")
    else:
        length = len("2026-01-05T00:00:00")
    shortened = [label[:length].replace("T", " ") for label in labels]
    return shortened if len(set(shortened)) == len(labels) else labels


def _inner(kind: str) -> str:
    for wrapper in ("LowCardinality(", "Nullable("):
        kind = kind.removeprefix(wrapper)
    return kind
