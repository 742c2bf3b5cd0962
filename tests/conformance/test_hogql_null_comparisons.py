"""Comparisons with NULL and concatenation: every operator, function form and kind of operand.

The expectation is computed in plain Python from the table of
docs/spec/data-and-queries.md#71-concatenation-and-comparisons-with-null.
"""

import itertools
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import pytest

from support.hogql_world import HogqlWorld
from support.seeds import thinned

type Truth = Callable[[Any, Any], bool]

# The event with plan 'pro'; ``t`` is a subquery with one nullable column each.
FROM = (
    "(SELECT properties, toUUID('10000000-0000-0000-0000-000000000004') AS id, uuid, "
    "properties.plan AS filled, properties.nope AS hollow, event AS name FROM events) AS t "
    "WHERE uuid = id"
)
PRO = {
    "literal": "'pro'",
    "column": "t.filled",
    "property": "t.properties.plan",
    "expression": "lower(upper(t.properties.plan))",
    "constant expression": "substring('xpro', 2)",
    "not null": "ifNull(t.properties.plan, '')",
}
NULL = {
    "literal": "null",
    "column": "t.hollow",
    "property": "t.properties.nope",
    "expression": "lower(t.properties.nope)",
    "constant expression": "nullIf('pro', 'pro')",
}
OTHER = {"literal": "'basic'", "expression": "concat(t.properties.nope, 'basic')"}
TEXTS: list[tuple[str, str | None]] = [
    *((sql, "pro") for sql in PRO.values()),
    *((sql, None) for sql in NULL.values()),
    *((sql, "basic") for sql in OTHER.values()),
]


def same(hit: Truth) -> Truth:
    """False where one side is NULL, true where both are."""

    def truth(left: Any, right: Any) -> bool:
        return left is right if left is None or right is None else hit(left, right)

    return truth


def ordered(hit: Truth) -> Truth:
    """False where any side is NULL."""
    return lambda left, right: left is not None and right is not None and hit(left, right)


def opposite(truth: Truth) -> Truth:
    """The negated form."""
    return lambda left, right: not truth(left, right)


EQUAL = same(lambda left, right: left == right)
LIKE = same(fnmatchcase)
REGEX = same(lambda left, right: re.search(right, left) is not None)

OPERATORS: dict[str, tuple[str, Truth]] = {
    "=": ("{} = {}", EQUAL),
    "==": ("{} == {}", EQUAL),
    "equals": ("equals({}, {})", EQUAL),
    "!=": ("{} != {}", opposite(EQUAL)),
    "<>": ("{} <> {}", opposite(EQUAL)),
    "notEquals": ("notEquals({}, {})", opposite(EQUAL)),
    "not =": ("not ({} = {})", opposite(EQUAL)),
    "is not distinct from": ("{} is not distinct from {}", EQUAL),
    "is distinct from": ("{} is distinct from {}", opposite(EQUAL)),
    "like": ("{} like {}", LIKE),
    "like function": ("like({}, {})", LIKE),
    "not like": ("{} not like {}", opposite(LIKE)),
    "notLike": ("notLike({}, {})", opposite(LIKE)),
    "not (like)": ("not ({} like {})", opposite(LIKE)),
    "ilike": ("{} ilike {}", LIKE),
    "ilike function": ("ilike({}, {})", LIKE),
    "not ilike": ("{} not ilike {}", opposite(LIKE)),
    "notILike": ("notILike({}, {})", opposite(LIKE)),
    "=~": ("{} =~ {}", REGEX),
    "match": ("match({}, {})", REGEX),
    "!~": ("{} !~ {}", opposite(REGEX)),
    "not match": ("not match({}, {})", opposite(REGEX)),
    "=~*": ("{} =~* {}", REGEX),
    "!~*": ("{} !~* {}", opposite(REGEX)),
    "<": ("{} < {}", ordered(lambda left, right: left < right)),
    "less": ("less({}, {})", ordered(lambda left, right: left < right)),
    "<=": ("{} <= {}", ordered(lambda left, right: left <= right)),
    "lessOrEquals": ("lessOrEquals({}, {})", ordered(lambda left, right: left <= right)),
    ">": ("{} > {}", ordered(lambda left, right: left > right)),
    "greater": ("greater({}, {})", ordered(lambda left, right: left > right)),
    ">=": ("{} >= {}", ordered(lambda left, right: left >= right)),
    "greaterOrEquals": ("greaterOrEquals({}, {})", ordered(lambda left, right: left >= right)),
    "in": ("{} in ({})", EQUAL),
    "in function": ("in({}, tuple({}))", EQUAL),
    "in array": ("{} in [{}]", EQUAL),
    "not in": ("{} not in ({})", opposite(EQUAL)),
    "notIn": ("notIn({}, tuple({}))", opposite(EQUAL)),
    "not (in)": ("not ({} in ({}))", opposite(EQUAL)),
    "in query": ("{} in (select {} from " + FROM + ")", EQUAL),
    "not in query": ("{} not in (select {} from " + FROM + ")", opposite(EQUAL)),
}  # fmt: skip


def evaluate(world: HogqlWorld, expressions: list[str], source: str = FROM) -> list[Any]:
    """The values of many expressions over one row."""
    values: list[Any] = []
    for start in range(0, len(expressions), 50):
        part = expressions[start : start + 50]
        columns = ", ".join(f"{sql} AS c{index}" for index, sql in enumerate(part))
        [row] = world.rows(f"SELECT {columns} FROM {source}")
        values += row
    return values


@pytest.mark.parametrize("name", thinned(OPERATORS, 3))
def test_every_pair_of_texts(name: str, hogql_world: HogqlWorld) -> None:
    form, truth = OPERATORS[name]
    pairs = list(itertools.product(TEXTS, TEXTS))
    expressions = [form.format(left, right) for (left, _), (right, _) in pairs]
    values = evaluate(hogql_world, expressions)

    wrong = {
        sql: value
        for sql, value, ((_, left), (_, right)) in zip(expressions, values, pairs, strict=True)
        if value is None or bool(value) is not truth(left, right)
    }
    assert wrong == {}


NUMBERS: list[tuple[str, float | None]] = [
    ("100", 100),
    ("t.properties.price", 100),
    ("t.properties.price + 0", 100),
    ("toInt(t.properties.price)", 100),
    ("7.5", 7.5),
    ("null", None),
    ("t.properties.nope", None),
    ("toFloat(t.properties.nope)", None),
    ("toFloat(t.properties.nope) * 2", None),
]
_OF_NUMBERS = ("=", "!=", "<", "<=", ">", ">=", "less", "notEquals", "in", "not in", "in array")


@pytest.mark.parametrize("name", thinned(_OF_NUMBERS, 3))
def test_every_pair_of_numbers(name: str, hogql_world: HogqlWorld) -> None:
    form, truth = OPERATORS[name]
    pairs = [
        (first, two)
        for first, two in itertools.product(NUMBERS, NUMBERS)
        if "nope * 2" not in first[0] + two[0] or first[1] is None or two[1] is None
    ]
    expressions = [form.format(left, right) for (left, _), (right, _) in pairs]
    values = evaluate(hogql_world, expressions)

    wrong = {
        sql: value
        for sql, value, ((_, left), (_, right)) in zip(expressions, values, pairs, strict=True)
        if value is None or bool(value) is not truth(left, right)
    }
    assert wrong == {}


@pytest.mark.parametrize("word", ["between", "not between"])
def test_between(word: str, hogql_world: HogqlWorld) -> None:
    operands: list[tuple[str, float | None]] = [
        ("5", 5), ("t.properties.price", 100), ("200", 200),
        ("null", None), ("t.properties.nope", None), ("toFloat(t.properties.nope)", None),
    ]  # fmt: skip
    triples = list(itertools.product(operands, repeat=3))
    expressions = [f"{x} {word} {low} and {high}" for (x, _), (low, _), (high, _) in triples]
    values = evaluate(hogql_world, expressions)

    def truth(value: float | None, low: float | None, high: float | None) -> bool:
        if value is None or low is None or high is None:
            return False
        return (low <= value <= high) is (word == "between")

    assert {
        sql: value
        for sql, value, each in zip(expressions, values, triples, strict=True)
        if value is None or bool(value) is not truth(*[known for _, known in each])
    } == {}


def test_lists_of_several_items(hogql_world: HogqlWorld) -> None:
    lists = {
        "('pro', 'x')": {"pro", "x"},
        "('x', null)": {"x", None},
        "[null, 'pro']": {"pro", None},
        "(null, null)": {None},
        "('x', t.properties.nope)": {"x", None},
        "(t.properties.plan, t.properties.nope)": {"pro", None},
        "(select arrayJoin(['pro', 'x']))": {"pro", "x"},
        "(select nullIf(arrayJoin(['pro', 'x']), 'x'))": {"pro", None},
        "splitByString(',', 'pro,x')": {"pro", "x"},
        "[]": set[Any](),
    }
    pairs = list(itertools.product(TEXTS, lists.items()))
    expressions = [
        sql
        for (left, _), (items, _) in pairs
        for sql in (f"{left} in {items}", f"{left} not in {items}")
    ]
    values = evaluate(hogql_world, expressions)
    expected = [
        truth for (_, value), (_, known) in pairs for truth in (value in known, value not in known)
    ]

    assert {
        sql: value
        for sql, value, truth in zip(expressions, values, expected, strict=True)
        if value is None or bool(value) is not truth
    } == {}


def test_tuples_in_lists(hogql_world: HogqlWorld) -> None:
    values = evaluate(
        hogql_world,
        [
            "(t.properties.nope, 1) in ((null, 1), ('a', 2))",
            "(t.properties.nope, 2) in ((null, 1), ('a', 2))",
            "(t.properties.plan, 1) in (('pro', 1))",
            "(t.properties.plan, t.properties.nope) in (('pro', null), ('x', 'y'))",
            "(t.properties.plan, t.properties.nope) not in (('pro', 'x'), ('x', 'y'))",
            "(t.properties.nope, 1) in (select t.properties.nope, 1 from " + FROM + ")",
            "(t.properties.nope, 1) not in (select t.properties.nope, 2 from " + FROM + ")",
        ],
    )

    assert [bool(value) for value in values] == [True, False, True, True, True, True, True]


def test_inside_lambdas_null_is_no_different(hogql_world: HogqlWorld) -> None:
    rows = hogql_world.rows(
        "SELECT arrayMap(x -> x = null, [1, null]), arrayMap(x -> x != 1, [1, null]), "
        "arrayMap(x -> x < 2, [1, null]), arrayMap(x -> x in (1, null), [1, null]), "
        "arrayFilter(x -> x not in (1, 2), [1, null])"
    )

    assert rows == [[[0, 1], [0, 1], [1, 0], [1, 1], [None]]]


_EQUAL_PLANS = "e.properties.plan = p.properties.plan"


@pytest.mark.parametrize(
    ("condition", "pairs"),
    [
        (_EQUAL_PLANS, 1),
        (f"equals({_EQUAL_PLANS.replace(' = ', ', ')})", 1),
        ("e.properties.nope = p.properties.nope", 0),
        ("e.properties.nope != p.properties.nope", 0),
        ("e.properties.plan != p.properties.plan", 0),
        (f"not ({_EQUAL_PLANS})", 0),
        ("e.properties.nope like p.properties.nope", 0),
        ("e.properties.plan not like p.properties.plan", 0),
        ("e.properties.plan not in ('x', null)", 0),
        ("e.properties.plan in ('pro', null)", 1),
        ("e.properties.plan = null", 0),
        ("e.properties.plan is null", 5),
        ("e.properties.plan is not distinct from p.properties.plan", 3),
        ("e.properties.price not between 200 and p.properties.nope", 4),
    ],
)
def test_joins_know_null_as_standard_sql(
    condition: str, pairs: int, hogql_world: HogqlWorld
) -> None:
    """Ann has the plan 'pro' and four events, of which one says 'pro'; Bob has neither."""
    query = f"SELECT count() FROM events e JOIN persons p ON e.person_id = p.id AND {condition}"

    assert hogql_world.rows(query) == [[pairs]]


def test_a_null_condition_is_no_match(hogql_world: HogqlWorld) -> None:
    counts = [
        hogql_world.rows(f"SELECT count() FROM events WHERE {condition}")[0][0]
        for condition in (
            "properties.paid",
            "not properties.paid",
            "properties.paid or properties.paid is null",
            "properties.paid and true",
            "not (properties.paid and false)",
            "if(properties.paid, true, null)",
        )
    ]

    assert counts == [1, 1, 5, 1, 6, 1]


PARTS: list[tuple[str, str]] = [
    ("'a'", "a"),
    ("null", ""),
    ("1", "1"),
    ("1.5", "1.5"),
    ("true", "true"),
    ("t.properties.plan", "pro"),
    ("t.properties.nope", ""),
    ("t.properties.price", "100"),
    ("toDate('2026-01-05')", "2026-01-05"),
    ("nullIf('pro', 'pro')", ""),
    ("[1, 2]", "[1,2]"),
    ("toUUID('x')", ""),
]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_concatenation_is_never_null(count: int, hogql_world: HogqlWorld) -> None:
    chosen = list(itertools.product(PARTS, repeat=count))[:: 1 if count < 3 else 7]
    texts = [", ".join(sql for sql, _ in parts) for parts in chosen]
    expressions = [f"concat({text})" for text in texts] + [f"CONCAT({text})" for text in texts]
    if count > 1:
        expressions += [" || ".join(sql for sql, _ in parts) for parts in chosen]
    values = evaluate(hogql_world, expressions)
    expected = ["".join(text for _, text in parts) for parts in chosen]

    assert values == expected * (3 if count > 1 else 2)


def test_interpolated_text_treats_null_the_same(hogql_world: HogqlWorld) -> None:
    assert evaluate(hogql_world, ["f'<{t.properties.nope}-{t.properties.plan}>'"]) == ["<-pro>"]


def test_joining_with_a_separator_and_lists_keep_their_own_rules(hogql_world: HogqlWorld) -> None:
    assert hogql_world.rows("SELECT concat_ws('-', 'a', 'b'), arrayConcat([1], [2])") == [
        ["a-b", [1, 2]]
    ]
