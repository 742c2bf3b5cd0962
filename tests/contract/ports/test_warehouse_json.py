"""Rows encoded by the engine equal rows encoded in Python."""

import asyncio
import re
from typing import Any

import orjson
import pytest

from hoglet.endpoints.encoding.json import encode_rows
from hoglet.warehouse import JsonRows, QueryBudget, QueryResult, Warehouse
from hoglet.warehouse.errors import QueryCancelled, QueryRefused, QueryTooCostly

ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kolkata", "Pacific/Apia")
TIMES = "arrayJoin(['2026-01-01 00:00:00.5', '2026-07-01 23:59:59', '1950-07-01 00:00:00.000001'])"
ZONE_OF_TIME = re.compile(r"DateTime\('[^']+'\)")  # the client drops it
WRITTEN = [
    "1, -5, toUInt64(18446744073709551615), toInt64(-9223372036854775808)",
    "1.5, 1 / 0, -1 / 0, 0 / 0, 1e300, 0.1, -0.0, 12345678901234567.0",
    "'', 'it''s', 'a\\n\\t],\\n\\t\\t[\"b\"', '\\0\\x01\\x1f\\x7f', 'é☃😀', '</script>', '\\\\'",
    "true, false, NULL, toNullable(5), CAST(NULL AS Nullable(String))",
    "toUUID('0199c7b2-0000-7000-8000-000000000001'), toDate('2026-01-05'), toIPv4('1.2.3.4')",
    "CAST('a', 'Enum8(\\'a\\' = 1, \\'b\\' = 2)'), toLowCardinality('x')",
    "[1, 2], ['a\"\\n', 'b'], [[1.5, 0 / 0], []], [true, NULL]",
    f"toDateTime64({TIMES}, 6, 'UTC')",
    f"toDateTime64({TIMES}, 3), toNullable(toDateTime64({TIMES}, 6, 'Asia/Tokyo'))",
    "toDateTime('2026-03-29 00:30:00') + toIntervalMinute(arrayJoin(range(0, 180, 15)))",
    "toDateTime('2026-10-25 00:30:00', 'America/New_York'), CAST(NULL AS Nullable(DateTime))",
    "toStartOfDay(toDateTime('2026-10-25 00:30:00'), 'Europe/Berlin')",
    f"toDateTime64({TIMES}, 6, 'UTC'), toNullable(toDateTime('1970-01-01 00:00:00')), 'a'",
]
NOT_WRITTEN = [
    "toDecimal64(1.5, 3)",
    "(1, 'a')",
    "map('a', 1)",
    "[toDateTime64('2026-01-01 00:00:00', 6)]",
    "CAST('{\"a\":1}', 'JSON')",
    "toInt128('170141183460469231731687303715884105727')",
]


def as_values(answer: QueryResult, zone: str) -> Any:
    return orjson.loads(encode_rows(answer.columns, answer.rows, zone))


def as_written(answer: JsonRows | QueryResult) -> Any:
    assert isinstance(answer, JsonRows)
    rows = [row for part in answer.parts for row in orjson.loads(part)]
    assert orjson.loads(b"".join(answer.parts.pieces())) == rows
    return rows


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("columns", WRITTEN)
async def test_the_engine_writes_what_the_long_way_writes(
    warehouse: Warehouse, columns: str, zone: str
) -> None:
    sql = f"SELECT {columns}"

    long_way, written = await warehouse.query(sql), await warehouse.query_json(sql, zone=zone)

    assert as_written(written) == as_values(long_way, zone)
    assert [
        (column.name, ZONE_OF_TIME.sub("DateTime", column.type)) for column in written.columns
    ] == [(column.name, column.type) for column in long_way.columns]


@pytest.mark.parametrize("columns", NOT_WRITTEN)
async def test_other_types_come_as_values(warehouse: Warehouse, columns: str) -> None:
    answer = await warehouse.query_json(f"SELECT {columns}", zone="UTC")

    assert isinstance(answer, QueryResult)


@pytest.mark.parametrize("most_rows", [None, 1_000, 1_001, 50_000])
async def test_no_rows_and_many_keep_their_columns_order_and_cost(
    warehouse: Warehouse, most_rows: int | None
) -> None:
    sql = "SELECT number AS n, toDateTime(number) AS at FROM numbers(30000) WHERE n < {most:Int64}"
    for most in (0, 1, 0, 25_000):
        answer = await warehouse.query_json(
            f"{sql} ORDER BY n DESC", {"most": most}, zone="Europe/Berlin", most_rows=most_rows
        )
        assert [row[0] for row in as_written(answer)] == list(reversed(range(most)))[:most_rows]
        assert isinstance(answer, JsonRows)
        assert answer.count == most
        assert [(column.name, column.type) for column in answer.columns] == [
            ("n", "UInt64"),
            ("at", "DateTime"),
        ]
    assert answer.statistics.rows_read == 25_000


@pytest.mark.parametrize(("most", "matches"), [(2, 20_000), (0, 0)])
async def test_results_read_at_once_report_all_rows_that_the_engine_read(
    warehouse: Warehouse, most: int, matches: int
) -> None:
    sql = "SELECT number FROM numbers(20000) WHERE sipHash64(number) % 2 < {most:Int64}"

    answers = [
        answer
        for _ in range(5)
        for answer in await asyncio.gather(
            *(
                warehouse.query_json(sql, {"most": most}, zone="UTC", most_rows=20_000)
                for _ in range(12)
            )
        )
    ]

    assert {len(as_written(answer)) for answer in answers} == {matches}
    assert {answer.statistics.rows_read for answer in answers} == {20_000}
    assert {answer.statistics.bytes_read for answer in answers} == {160_000}


async def test_a_result_in_blocks_that_fails_before_its_first_row(warehouse: Warehouse) -> None:
    with pytest.raises(QueryRefused):
        await warehouse.query_json(
            "SELECT throwIf(number = 15000) FROM numbers(20000) WHERE number > 14999", zone="UTC"
        )


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("dateTrunc({v:String}, toDateTime64('2026-07-05 12:30:00', 6))", ["month", "hour"]),
        ("dateTrunc({v:String}, toDateTime64('2026-07-05 12:30:01', 6))", ["hour", "month"]),
        ("JSONExtract('{\"a\":\"5\"}', 'a', {v:String})", ["String", "Int64", "Decimal(9, 2)"]),
        ("toTimeZone(toDateTime(0), {v:String})", ["Asia/Tokyo", "Europe/Berlin"]),
    ],
)
async def test_bound_texts_may_decide_on_types(
    warehouse: Warehouse, sql: str, values: list[str]
) -> None:
    for value in values:
        bound, sql_bound = {"v": value}, f"SELECT {sql} AS x"
        long_way = await warehouse.query(sql_bound, bound)
        answer = await warehouse.query_json(sql_bound, bound, zone="UTC")

        seen = as_values(answer, "UTC") if isinstance(answer, QueryResult) else as_written(answer)
        assert seen == as_values(long_way, "UTC")
        kind = ZONE_OF_TIME.sub("DateTime", answer.columns[0].type)
        assert kind == ZONE_OF_TIME.sub("DateTime", long_way.columns[0].type)


async def test_odd_names_of_columns(warehouse: Warehouse) -> None:
    sql = 'SELECT now() AS `a``b\\\\c\n"d`, 1 AS `data\n\t],`'

    answer = await warehouse.query_json(sql, zone="Asia/Kolkata")

    assert [column.name for column in answer.columns] == ['a`b\\c\n"d', "data\n\t],"]
    assert as_written(answer)[0][1] == 1


async def test_text_that_is_not_utf_8_stays_json(warehouse: Warehouse) -> None:
    answer = await warehouse.query_json("SELECT unhex('ff41')", zone="UTC")

    assert as_written(answer) == [["\ufffdA"]]


async def test_errors_are_those_of_queries(warehouse: Warehouse) -> None:
    with pytest.raises(QueryRefused) as refused:
        await warehouse.query_json("SELECT nothing FROM events", zone="UTC")
    assert "nothing" in str(refused.value)
    with pytest.raises(QueryTooCostly):
        await warehouse.query_json(
            "SELECT number FROM numbers(100)", zone="UTC", budget=QueryBudget(result_rows=10)
        )
    for text in ("repeat('x', 1000)", "concat(toString(number), repeat('x', 1000))"):
        with pytest.raises(QueryTooCostly):
            await warehouse.query_json(
                f"SELECT {text} FROM numbers(1000)",
                zone="UTC",
                budget=QueryBudget(result_bytes=100_000),
            )
    for most_rows in (10, 5_000, 50_000):  # read as a whole, in blocks, in small blocks
        with pytest.raises(QueryRefused):
            await warehouse.query_json(
                "SELECT throwIf(number = 70000) FROM numbers(100000)",
                zone="UTC",
                most_rows=most_rows,
            )
        answer = await warehouse.query_json(
            "SELECT number FROM numbers(3)", zone="UTC", most_rows=most_rows
        )
        assert as_written(answer) == [[0], [1], [2]]


@pytest.mark.parametrize("most_rows", [20_000, 5_000])  # in small blocks, and cut in large ones
@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT number FROM numbers(10) WHERE number > 20", 0),
        ("SELECT arrayJoin([1, 2, 3]), 'a\nb' FROM numbers(2000)", 6_000),
        ("SELECT number FROM numbers(100000) WHERE number % 7 = 3", 14_286),
        ("SELECT number FROM numbers(5) UNION ALL SELECT number FROM numbers(6000)", 6_005),
        ("SELECT number AS n, count() FROM numbers(9000) GROUP BY n WITH ROLLUP", 9_001),
    ],
)
async def test_rows_of_blocks_are_counted(
    warehouse: Warehouse, sql: str, count: int, most_rows: int
) -> None:
    answer = await warehouse.query_json(sql, zone="UTC", most_rows=most_rows)
    assert isinstance(answer, JsonRows)
    assert answer.count == count
    assert len(as_written(answer)) == min(count, most_rows)


async def test_a_result_that_is_read_in_blocks_has_a_time_limit(warehouse: Warehouse) -> None:
    with pytest.raises(QueryTooCostly):
        await warehouse.query_json(
            "SELECT count() FROM numbers(1e12) WHERE sipHash64(number) = 1",
            zone="UTC",
            most_rows=50_000,
            budget=QueryBudget(seconds=0.3),
        )


async def test_a_result_that_is_read_in_blocks_can_be_cancelled(warehouse: Warehouse) -> None:
    sql = "SELECT number, sleepEachRow(0.001) FROM numbers(1000000) SETTINGS max_block_size = 100"
    budget = QueryBudget(seconds=60, read_only=False)
    running = asyncio.create_task(
        warehouse.query_json(sql, zone="UTC", most_rows=50_000, budget=budget, query_id="in-blocks")
    )
    await asyncio.sleep(0.5)
    await warehouse.cancel("in-blocks")

    with pytest.raises(QueryCancelled):
        await running
