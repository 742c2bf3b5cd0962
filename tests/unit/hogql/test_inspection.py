"""Inspection for editors: all errors, property reads, time bounds, the plan."""

import pytest

from hoglet.hogql.context import QueryContext, SavedColumn, SavedTable
from hoglet.hogql.inspection import inspect_query
from hoglet.hogql.types import DATE

CONTEXT = QueryContext(
    project_id=1,
    property_types={
        ("event", "price"): "Numeric",
        ("person", "price"): "String",
        ("group_0", "price"): "Boolean",
    },
    group_types={"company": 0},
    saved_tables={"daily_v1": SavedTable("endpoint_table_123", (SavedColumn("day", DATE),))},
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT properties.price FROM events", [("event", "Numeric")]),
        ("SELECT person.properties.price FROM events", [("person", "String")]),
        ("SELECT poe.properties.price FROM events", [("person", "String")]),
        ("SELECT company.properties.price FROM events", [("group_0", "Boolean")]),
        ("SELECT group_0.properties.price FROM events", [("group_0", "Boolean")]),
        ("SELECT group_1.properties.price FROM events", [("group_1", None)]),
        ("SELECT properties.price FROM persons", [("person", "String")]),
        ("SELECT properties['price'] FROM events", [("event", "Numeric")]),
        ("SELECT x FROM (SELECT properties.price AS x FROM persons)", [("person", "String")]),
        (
            "SELECT (SELECT properties.price FROM events WHERE p.properties.price) FROM persons p",
            [("event", "Numeric"), ("person", "String")],
        ),
        ("SELECT properties FROM events", []),
        ("SELECT 'properties.price' FROM events", []),
    ],
)
def test_reads_of_properties(text: str, expected: list[tuple[str, str | None]]) -> None:
    reads = inspect_query(text, CONTEXT).reads
    assert [(read.kind, read.type) for read in reads] == expected
    assert all("propert" in text[read.start : read.end] for read in reads)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("SELECT 1", ["Limit 100", "  Read one row"]),
        (
            "SELECT number FROM numbers(3) LIMIT 2 OFFSET 1",
            ["Limit 2 from row 2", "  Generate numbers"],
        ),
        ("SELECT day FROM daily_v1", ["Limit 100", "  Read a materialized endpoint: day"]),
        (
            "SELECT 1 UNION ALL SELECT 2",
            ["Limit 100", "  Union all", "    Read one row", "    Read one row"],
        ),
        (
            "SELECT DISTINCT properties.a FROM events WHERE event = 'x' ORDER BY 1 LIMIT 1",
            [
                "Limit 1",
                "  Sort by 1 expression",
                "    Remove duplicates",
                "      Filter",
                "        Read events: event, properties.a",
            ],
        ),
    ],
)
def test_plans_have_no_physical_names(text: str, lines: list[str]) -> None:
    assert list(inspect_query(text, CONTEXT).plan) == lines


def test_errors_are_each_told_once_and_bounded() -> None:
    inspection = inspect_query("SELECT nope, nope AS b FROM events WHERE nope = 1", CONTEXT).errors
    assert [error.start for error in inspection] == [7, 13, 41]
    many = ", ".join(f"nope_{number}" for number in range(200))
    assert len(inspect_query(f"SELECT {many} FROM events", CONTEXT).errors) == 50


def test_deep_and_broken_texts_are_answered() -> None:
    for text in (
        "SELECT " + "(" * 5_000,
        "SELECT " + "-" * 300 + "1",
        "WITH a AS (SELECT * FROM a)",
    ):
        inspection = inspect_query(text, CONTEXT)
        assert inspection.errors
        assert not inspection.plan
