"""Which results can be drawn, and how."""

from typing import Any

from hoglet.console.query_chart import query_chart


def drawn(types: list[str], rows: list[list[Any]]) -> Any:
    columns = [f"c{index}" for index in range(len(types))]
    pairs = [list(pair) for pair in zip(columns, types, strict=True)]
    chart = query_chart({"columns": columns, "types": pairs, "results": rows})
    if chart is None:
        return None
    series = [(each["name"], each["type"], each["data"]) for each in chart["series"]]
    return chart["xAxis"]["data"], series


def test_names_become_bars() -> None:
    rows = [["b", 2], ["a", 1], [None, 3]]
    assert drawn(["Nullable(String)", "UInt64"], rows) == (
        ["b", "a", "null"],
        [("c1", "bar", [2, 1, 3])],
    )


def test_dates_become_lines_in_order_of_time() -> None:
    rows = [["2026-01-02", 5], ["2026-01-01", 4]]
    expected = (["2026-01-01", "2026-01-02"], [("c1", "line", [4, 5])])
    assert drawn(["Date", "Int64"], rows) == expected


def test_times_are_as_short_as_they_can_be() -> None:
    def labels(*times: str) -> Any:
        return drawn(["DateTime", "UInt64"], [[time, 1] for time in times])[0]

    days = labels("2026-03-08T00:00:00-05:00", "2026-03-09T00:00:00-04:00")
    hours = labels("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z")
    seconds = labels("2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z")
    within = ["2026-01-01T00:00:01.250000Z", "2026-01-01T00:00:01.500000Z"]
    assert days == ["2026-03-08", "2026-03-09"]
    assert hours == ["2026-01-01 00:00", "2026-01-01 01:00"]
    assert seconds == ["2026-01-01 00:00:01", "2026-01-01 00:00:02"]
    assert labels(*within) == within


def test_a_column_of_names_becomes_series() -> None:
    rows = [["2026-01-01", "x", 1], ["2026-01-02", "x", 2], ["2026-01-02", "y", 3]]
    assert drawn(["DateTime", "String", "Float64"], rows) == (
        ["2026-01-01", "2026-01-02"],
        [("x", "line", [1, 2]), ("y", "line", [None, 3])],
    )


def test_each_column_of_numbers_is_a_series() -> None:
    rows = [["a", 1, "text", 2]]
    assert drawn(["String", "Int64", "String", "Decimal(9, 2)"], rows) == (
        ["a"],
        [("c1", "bar", [1]), ("c3", "bar", [2])],
    )


def test_results_without_numbers_or_rows_are_not_drawn() -> None:
    assert drawn(["String", "String"], [["a", "b"]]) is None
    assert drawn(["UInt64"], [[1]]) is None
    assert drawn(["String", "UInt64"], []) is None
