"""Random property values read by every type from every table, recomputed in Python."""

import json
import random
import re
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import update

from hoglet.definitions import repository
from hoglet.definitions.tables import PropertyDefinitionRow
from hoglet.hogql.compile import compile_query
from hoglet.hogql.context import QueryContext
from hoglet.kit.clock import FixedClock
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line
from support.seeds import thinned

NOW = at("2026-05-01T12:00:00+00:00")
DAY = datetime(2023, 12, 13, tzinfo=UTC)
NUMBERS = [0, 5, -3, 2.5, -0.25, 1e21, 12345, 2**53 + 1, 10.0]
LARGE = [2**63, 2**64 - 1]
TEXTS = ["a", "", "AB1 2CD", "ab1 2cd", "5", "2.5", "-3", "1e3", " 5", "5x", "nan", "inf", "-inf",
         "True", "x%y", "2023-12-13", "2023-12-13T00:00:00Z", 'say "hi"', "ä"]  # fmt: skip
BOOLEANS = [True, False]
OTHERS = [
    None, [], [1, "a"], ["x"], [None], [[], {}], [{"x": None}], [2**53 + 1, 2**64 - 1],
    {}, {"a": {}}, {"a": None}, {"a": ["c"], "b": 1}, {"b": 1, "a": {"d": None, "c": 2}},
]  # fmt: skip
MIXES: dict[str, list[Any]] = {
    "text": [*TEXTS, "true", "false", None],
    "integer": [0, 5, -3, 12345, 2**53 + 1, -(2**63), None],
    "number": [*NUMBERS, None],
    "boolean": [*BOOLEANS, None],
    "mixed": [*NUMBERS, *LARGE, *TEXTS, *BOOLEANS, "true", "false", *OTHERS],
}
CONSTANTS = ["a", "5", "AB1 2CD", "true", "", "2.5", "nan", "2023-12-13", '["x"]', "nope"]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

# A key that the typed column cannot be asked for is read from the JSON text instead.
KEYS = ["k", "odd\\key", "it's", 'say "k"', "schlüssel", "a.b", "{v0:String}", "100%"]
SOURCES = {
    "event": ("events", "properties", "event = 'e'"),
    "alias": ("events as e", "e.properties", "event = 'e'"),
    "subquery": ("(select * from events) as e", "e.properties", "event = 'e'"),
    "person": ("events", "person.properties", "event = 'e'"),
    "person_on_event": ("events", "poe.properties", "event = 'e'"),
    "persons": ("persons", "properties", "properties.here = 1"),
    "group": ("events", "company.properties", "event = 'e'"),
    "groups": ("groups", "properties", "index = 0"),
}


def text_of(value: Any) -> str | None:
    """The text of a value, as the specification defines it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and value < 1e16:
        return str(int(value))
    if isinstance(value, float) and value == 1e21:
        return "1e21"
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def number_of(value: Any) -> float | None:
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def boolean_of(value: Any) -> bool | None:
    return {"true": True, "false": False}.get(text_of(value) or "")


def time_of(value: Any) -> datetime | None:
    return DAY if isinstance(value, str) and value.startswith("2023-12-13") else None


READERS: dict[str | None, Callable[[Any], Any]] = {
    None: text_of,
    "String": text_of,
    "Numeric": number_of,
    "Duration": number_of,
    "Boolean": boolean_of,
    "DateTime": time_of,
}


@pytest.fixture
async def line(
    sqlite_database: Database, warehouse: Any, fresh_project_id: int
) -> AsyncGenerator[Line]:
    async with open_line(sqlite_database, warehouse, FixedClock(NOW), fresh_project_id) as opened:
        yield opened


async def _store(line: Line, values: list[Any]) -> None:
    events: list[dict[str, Any]] = []
    for index, value in enumerate(values):
        bag = {**dict.fromkeys(KEYS, value), "here": 1}
        group = {"$group_type": "company", "$group_key": f"c{index}", "$group_set": bag}
        events.append({"event": "$groupidentify", "distinct_id": "g", "properties": group})
        properties = {**bag, "$set": bag, "$groups": {"company": f"c{index}"}}
        events.append({"event": "e", "distinct_id": f"u{index}", "properties": properties})
    await line.capture(*events)
    await line.work()


async def _set_type(line: Line, property_type: str | None) -> None:
    row = PropertyDefinitionRow
    async with line.database.write() as session:
        mine = update(row).where(row.project_id == line.project_id, row.name.in_(KEYS))
        await session.execute(mine.values(property_type=property_type))


async def _query(line: Line, source: str, key: str, expressions: list[str]) -> list[Any]:
    table, bag, where = SOURCES[source]
    escaped = _escaped(key)
    columns = ", ".join(each.replace("{k}", f"{bag}['{escaped}']") for each in expressions)
    async with line.database.read() as session:
        context = QueryContext(
            project_id=line.project_id,
            now=NOW,
            group_types={"company": 0},
            property_types=await repository.property_types(session, line.project_id),
            property_forms=await repository.property_forms(session, line.project_id),
        )
    query = compile_query(
        f"SELECT {columns} FROM {table} WHERE {where} LIMIT 1000", context=context
    )
    answer = await line.warehouse.query(query.sql, query.params)
    return [list(row) for row in answer.rows]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _like(text: str | None, needle: str, *, fold: bool = False) -> bool:
    if text is None:
        return False
    return needle.lower() in text.lower() if fold else needle in text


def _counts(values: list[Any]) -> list[tuple[str, int]]:
    """Conditions that compare with texts, and how many values meet them."""
    texts = [text_of(value) for value in values]
    counts: list[tuple[str, int]] = []
    for constant in CONSTANTS:
        quoted = f"'{_escaped(constant)}'"
        equal = sum(text == constant for text in texts)
        counts += [
            (f"{{k}} = {quoted}", equal),
            (f"{quoted} = {{k}}", equal),
            (f"equals({{k}}, {quoted})", equal),
            (f"{{k}} in ({quoted})", equal),
            (f"{{k}} in [{quoted}, 'zz']", equal),
            (f"{{k}} != {quoted}", len(texts) - equal),
            (f"{{k}} not in ({quoted}, 'zz')", len(texts) - equal),
        ]
    for needle in ("b1", "5", "tru", "ä"):
        plain = sum(_like(text, needle) for text in texts)
        folded = sum(_like(text, needle, fold=True) for text in texts)
        counts += [
            (f"{{k}} like '%{needle}%'", plain),
            (f"{{k}} not like '%{needle}%'", len(texts) - plain),
            (f"{{k}} ilike '%{needle}%'", folded),
            (f"like({{k}}, '%{needle}%')", plain),
            (f"{{k}} =~ '{needle}'", plain),
            (f"{{k}} !~ '{needle}'", len(texts) - plain),
            (f"match({{k}}, '{needle}')", plain),
            (f"position({{k}}, '{needle}') > 0", plain),
            (f"ifNull({{k}}, 'none') ilike '%{needle}%'", folded),
        ]
    counts.append(("coalesce({k}, 'none') = 'none'", sum(text is None for text in texts)))
    return counts


@pytest.mark.parametrize(
    ("source", "mix"),
    [
        pytest.param(source, mix, marks=() if source in {"event", "person"} else pytest.mark.slow)
        for source in SOURCES
        for mix in MIXES
        if source == "event" or mix == "mixed"
    ],
)
async def test_every_value_is_read_as_the_specification_says(
    line: Line, mix: str, source: str
) -> None:
    key = KEYS[len(mix + source) % len(KEYS)]  # a different one with each source and mix
    different = {each: READERS[each] for each in (None, "Numeric", "Boolean", "DateTime")}
    await _read_as_specified(line, mix, source, [key], different)


@pytest.mark.long
@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("source", SOURCES)
async def test_every_value_is_read_by_every_type_and_key(line: Line, mix: str, source: str) -> None:
    await _read_as_specified(line, mix, source, KEYS, READERS)


async def _read_as_specified(
    line: Line,
    mix: str,
    source: str,
    keys: list[str],
    readers: dict[str | None, Callable[[Any], Any]],
) -> None:
    chance = random.Random(f"{mix}{source}")  # noqa: S311 (test data)
    values = [chance.choice(MIXES[mix]) for _ in range(60)] + MIXES[mix]
    await _store(line, values)
    conditions = _counts(values)
    sums = [f"countIf({sql})" for sql, _ in conditions]
    for property_type, reader in readers.items():
        await _set_type(line, property_type)
        for key in keys:
            rows = await _query(line, source, key, ["{k}", "toString({k})"])
            read = [(_plain(value), text) for value, text in rows]
            expected = [(_plain(reader(value)), text_of(value)) for value in values]
            if property_type == "DateTime":
                read, expected = _without_numbers(read), _without_numbers(expected)
            assert sorted(map(repr, read)) == sorted(map(repr, expected)), (property_type, key)
            (counted,) = await _query(line, source, key, sums)
            counts = dict(zip([sql for sql, _ in conditions], counted, strict=True))
            assert counts == dict(conditions), (property_type, key)


@pytest.mark.parametrize("mix", MIXES)
async def test_sums_orders_and_conversions_go_by_the_type(line: Line, mix: str) -> None:
    values = MIXES[mix] * 2
    await _store(line, values)
    await _set_type(line, "Numeric")
    numbers = [number for value in values if (number := number_of(value)) is not None]
    small = [number for number in numbers if abs(number) < 1e6]
    plain = [value for value in values if isinstance(value, str)]
    for key in KEYS:
        quoted = _escaped(key)
        (row,) = await _query(
            line,
            "event",
            key,
            [
                "sumIf({k}, {k} < 1000000 and {k} > -1000000)",
                "countIf({k} > 2)",
                "countIf({k} <= 2.5)",
                "countIf({k} between 0 and 5)",
                "countIf({k} = 5)",
                "countIf({k} in (5, 'a'))",
                "countIf({k} is null)",
                "countIf({k} > '2')",
                "sumIf(toFloatOrZero({k}), toFloatOrZero({k}) between -1000000 and 1000000)",
                "countIf(toFloatOrDefault({k}, toFloat64OrZero('7')) = 7)",
                f"countIf(JSONExtractString(properties, '{quoted}') = 'a')",
            ],
        )
        assert row == [
            sum(small) if small else None,
            sum(number > 2 for number in numbers),
            sum(number <= 2.5 for number in numbers),
            sum(0 <= number <= 5 for number in numbers),
            sum(number == 5 for number in numbers),
            sum(number == 5 for number in numbers) + plain.count("a"),
            len(values) - len(numbers),
            sum(number > 2 for number in numbers),
            sum(small),
            sum(number_of(value) is None and str(value) not in {"nan", "inf", "-inf"}
                for value in values),
            plain.count("a"),
        ]  # fmt: skip


FILTERED = {
    "event": {"type": "event"},
    "person": {"type": "person"},
    "group": {"type": "group", "group_type_index": 0},
}


@pytest.mark.parametrize("kind", FILTERED)
@pytest.mark.parametrize("property_type", thinned(READERS, 3))
async def test_property_filters_compare_the_text(
    line: Line, kind: str, property_type: str | None
) -> None:
    values = MIXES["mixed"]
    await _store(line, values)
    await _set_type(line, property_type)
    texts = [text_of(value) for value in values]
    expected: list[tuple[str, Any, int]] = [
        ("exact", "AB1 2CD", texts.count("AB1 2CD")),
        ("exact", "5", texts.count("5")),
        (
            "exact",
            ["5", "AB1 2CD", "true"],
            sum(text in {"5", "AB1 2CD", "true"} for text in texts),
        ),
        ("exact", True, texts.count("true")),
        ("exact", ["false"], texts.count("false")),
        ("is_not", "5", len(texts) - texts.count("5")),
        ("is_not", ["5", "a"], sum(text not in {"5", "a"} for text in texts)),
        ("in", ["5", "a"], sum(text in {"5", "a"} for text in texts)),
        ("not_in", ["5", "a"], sum(text not in {"5", "a"} for text in texts)),
        ("icontains", "b1", sum(_like(text, "b1", fold=True) for text in texts)),
        ("not_icontains", "b1", sum(not _like(text, "b1", fold=True) for text in texts)),
        ("regex", "^[0-9]+$", sum(bool(re.search("^[0-9]+$", text or "")) for text in texts)),
        ("not_regex", "^[0-9]+$", sum(not re.search("^[0-9]+$", text or "") for text in texts)),
        ("is_set", None, sum(text is not None for text in texts)),
        ("is_not_set", None, sum(text is None for text in texts)),
    ]
    for operator, value, count in expected:
        item = {"key": "k", "operator": operator, "value": value, **FILTERED[kind]}
        async with line.database.read() as session:
            context = QueryContext(
                project_id=line.project_id,
                now=NOW,
                group_types={"company": 0},
                property_types=await repository.property_types(session, line.project_id),
                property_forms=await repository.property_forms(session, line.project_id),
            )
        query = compile_query(
            "SELECT count() FROM events WHERE event = 'e' AND {filters}",
            context=context,
            filters={"properties": [item]},
        )
        answer = await line.warehouse.query(query.sql, query.params)
        assert (operator, value, answer.rows[0][0]) == (operator, value, count)


def _without_numbers(rows: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """What numbers are as times is the engine's best effort."""
    return [(value, text) for value, text in rows if not _NUMBER.match((text or "").strip("[ "))
            or (text or "").startswith("2023")]  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
