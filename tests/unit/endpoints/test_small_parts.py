"""Parts of endpoint runs without dependencies."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson
import pytest
from msgspec.structs import replace

from hoglet.access.principals import Project
from hoglet.access.variable_values import convert
from hoglet.endpoints.encoding.json import encode_rows
from hoglet.endpoints.errors import TooManyQueries
from hoglet.endpoints.insights.variables import bind, breakdown_names, eligibility
from hoglet.endpoints.query_schema import expand
from hoglet.endpoints.run.cache import ConcurrencyLimiter, Result, ResultCache
from hoglet.endpoints.run.plan import depends_on
from hoglet.endpoints.worker.compiler import ProjectSchema, ProjectSchemas, cache_key
from hoglet.endpoints.worker.messages import CompileContext
from hoglet.hogql.context import SavedTable
from hoglet.kit.cache import SingleFlight
from hoglet.kit.errors import Invalid
from hoglet.warehouse import JsonParts, ResultColumn

AT = datetime(2026, 1, 5, 12, tzinfo=UTC)
TEST_ACCOUNTS = [{"key": "email", "type": "person", "operator": "icontains", "value": "@test"}]
PROJECT = Project(
    id=1, uuid=UUID(int=1), organization_id=UUID(int=2), api_token="phc_a", name="Shop",
    timezone="UTC", created_at=AT, updated_at=AT, test_account_filters=TEST_ACCOUNTS,
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value", "timezone", "expected"),
    [
        ("DateTime64(6, 'UTC')", AT, "UTC", "2026-01-05T12:00:00Z"),
        ("DateTime64(6, 'UTC')", AT, "Europe/Berlin", "2026-01-05T13:00:00+01:00"),
        ("Nullable(DateTime)", None, "Europe/Berlin", None),
        ("Array(DateTime)", [AT], "Asia/Tokyo", ["2026-01-05T21:00:00+09:00"]),
        ("Float64", float("nan"), "UTC", None),
        ("Float64", float("inf"), "UTC", None),
        ("Decimal(18, 2)", Decimal("1.50"), "UTC", "1.50"),
        ("UUID", UUID(int=1), "UTC", "00000000-0000-0000-0000-000000000001"),
        ("JSON", {"a": {"b": 1}}, "UTC", '{"a":{"b":1}}'),
        ("Map(UInt8, String)", {1: "a"}, "UTC", {"1": "a"}),
        ("Map(Bool, UInt8)", {True: 1}, "UTC", {"true": 1}),
        ("Map(Tuple(UInt8, String), UInt8)", {(1, "a"): 2}, "UTC", {'[1,"a"]': 2}),
        ("Tuple(UInt8, DateTime)", (1, AT), "UTC", [1, "2026-01-05T12:00:00Z"]),
        ("UInt256", 2**200, "UTC", None),
    ],
)
def test_values_become_json(kind: str, value: Any, timezone: str, expected: Any) -> None:
    text = encode_rows([ResultColumn("x", kind)], [(value,)], timezone)

    if kind == "UInt256":
        assert text == f"[[{2**200}]]".encode()
    else:
        assert orjson.loads(text) == [[expected]]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("5", "Number", 5),
        ("-5.5", "Number", -5.5),
        (" 7 ", "Number", 7),
        ("TRUE", "Boolean", True),
        ("0", "Boolean", False),
        ("a, b", "List", ["a", "b"]),
        ('["a,b", 1]', "List", ["a,b", 1]),
        ("", "List", []),
        ("2026-01-05", "Date", "2026-01-05"),
        ("2026-01-05T10:00:00Z", "Date", "2026-01-05T10:00:00Z"),
        (5, "String", 5),
        (None, "Number", None),
        ([1, None], "List", [1, None]),
    ],
)
def test_text_is_converted(value: Any, kind: str, expected: Any) -> None:
    assert convert("x", value, kind) == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("inf", "Number"),
        ("nan", "Number"),
        ("1e999", "Number"),
        ("", "Number"),
        ("maybe", "Boolean"),
        ("05.01.2026", "Date"),
        ("2026-13-01", "Date"),
        ({}, "String"),
        ([[1]], "List"),
        ("x" * 200_000, "String"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_text_that_does_not_fit_is_refused(value: Any, kind: str) -> None:
    with pytest.raises(Invalid) as refused:
        convert("x", value, kind)

    assert refused.value.attr == "variables"


def test_a_refused_object_is_not_repeated() -> None:
    with pytest.raises(Invalid) as refused:
        convert("plan", {"a": "x" * 1000}, "String")
    assert refused.value.detail == (
        "The value of variable plan is an object or a nested list, not a String."
    )


def test_text_that_is_too_long_is_refused_as_such() -> None:
    with pytest.raises(Invalid) as refused:
        convert("name", "x" * 100_001, "String")
    assert refused.value.detail == "The value of variable name is longer than 100000 characters."


def result(size: int) -> Result:
    return Result(JsonParts((b"x" * size,)), [], [], 0, None, 0, False, AT, 60)


def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    cache = ResultCache(30_000)
    for key in "abc":
        cache.put(key, result(5_000))
    cache.get("a")
    cache.put("d", result(5_000))
    cache.put("e", result(5_000))

    assert [cache.get(key) is not None for key in "abcde"] == [True, False, True, True, True]
    assert cache.size_bytes <= 30_000
    cache.put("huge", result(20_000))
    assert cache.get("huge") is None


async def test_a_computation_is_shared_and_cancelled_with_its_last_waiter() -> None:
    computations = SingleFlight[str, int]()
    started = cancelled = 0

    async def work() -> int:
        nonlocal started, cancelled
        started += 1
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled += 1
            raise
        return 1

    waiters = [asyncio.ensure_future(computations.join("k", work)) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waiters[0].cancel()
    await asyncio.sleep(0)
    assert (started, cancelled) == (1, 0)
    for waiter in waiters:
        waiter.cancel()
    await asyncio.gather(*waiters, return_exceptions=True)
    await asyncio.sleep(0)
    assert cancelled == 1
    restarted = asyncio.ensure_future(computations.join("k", work))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert started == 2
    restarted.cancel()
    await asyncio.gather(restarted, return_exceptions=True)


async def test_a_computation_that_ends_late_leaves_the_next_one_shared() -> None:
    computations = SingleFlight[str, int]()
    stopped, done = asyncio.Event(), asyncio.Event()
    started = 0

    async def stop_slowly() -> int:
        try:
            await asyncio.Event().wait()
        finally:
            await stopped.wait()
        return 0

    async def work() -> int:
        nonlocal started
        started += 1
        await done.wait()
        return 1

    cancelled = asyncio.ensure_future(computations.join("k", stop_slowly))
    await asyncio.sleep(0.01)
    cancelled.cancel()
    await asyncio.sleep(0.01)
    waiters = [asyncio.ensure_future(computations.join("k", work))]
    await asyncio.sleep(0.01)
    stopped.set()
    await asyncio.gather(cancelled, return_exceptions=True)
    waiters.append(asyncio.ensure_future(computations.join("k", work)))
    await asyncio.sleep(0.01)
    done.set()

    assert await asyncio.gather(*waiters) == [1, 1]
    assert started == 1


async def test_an_error_reaches_everybody_who_waits() -> None:
    computations = SingleFlight[str, int]()

    async def fail() -> int:
        await asyncio.sleep(0)
        raise Invalid("no")

    outcomes = await asyncio.gather(
        *(computations.join("k", fail) for _ in range(3)), return_exceptions=True
    )
    assert all(isinstance(outcome, Invalid) for outcome in outcomes)


async def test_a_schema_is_loaded_once_for_all_who_wait_unless_it_was_changed() -> None:
    """A load reads six tables, and expires for all clients of a busy server at the same time."""
    answering = asyncio.Event()
    types = "String"
    loads = 0

    async def load(_: Project) -> ProjectSchema:
        nonlocal loads
        loads += 1
        schema = ProjectSchema(property_types={("event", "price"): types})
        await answering.wait()
        return schema

    schemas = ProjectSchemas(load)
    before = [asyncio.ensure_future(schemas.get(PROJECT)) for _ in range(16)]
    await asyncio.sleep(0.01)
    types = "Numeric"
    schemas.forget_project(PROJECT.id)
    after = [asyncio.ensure_future(schemas.get(PROJECT)) for _ in range(16)]
    await asyncio.sleep(0.01)
    answering.set()
    results = await asyncio.gather(*before, *after)

    assert loads == 2
    assert {each.property_types["event", "price"] for each in results[16:]} == {"Numeric"}
    assert await schemas.get(PROJECT) is results[-1]


def test_the_cache_key_of_a_context_has_all_its_fields_but_only_the_digest_of_the_schema() -> None:
    schema = ProjectSchema(property_types={("event", "price"): "String"}).message
    context = CompileContext(
        project_id=1, timezone="UTC", week_start_day=0, schema=schema, saved_tables={},
        test_account_filters=[], unlimited=False, readable_system_tables=[],
    )  # fmt: skip
    other = {"project_id": 2, "timezone": "Asia/Tokyo", "week_start_day": 1, "unlimited": True,
             "saved_tables": {"a": SavedTable("t", ())}, "test_account_filters": TEST_ACCOUNTS,
             "readable_system_tables": ["system.actions"], "now": AT, "is_now_pinned": True,
             "is_sharded": True, "schema": ProjectSchema().message}  # fmt: skip
    changed = [cache_key(replace(context, **{name: value})) for name, value in other.items()]

    assert other.keys() == set(CompileContext.__struct_fields__)
    assert len({cache_key(context), *changed}) == len(changed) + 1
    assert cache_key(replace(context)) == cache_key(context)
    assert b"price" not in cache_key(context)


async def test_a_slot_is_waited_for_only_so_long() -> None:
    slots = ConcurrencyLimiter(1, wait_seconds=0.05)
    await slots.acquire()
    with pytest.raises(TooManyQueries):
        await slots.acquire()
    waiting = asyncio.ensure_future(slots.acquire())
    await asyncio.sleep(0)
    slots.release()
    await waiting
    slots.release()
    await slots.acquire()


async def test_slots_are_given_in_order_of_arrival() -> None:
    slots, order = ConcurrencyLimiter(1, wait_seconds=5), list[int]()

    async def take(number: int) -> None:
        await slots.acquire()
        order.append(number)
        slots.release()

    await slots.acquire()
    waiting = [asyncio.ensure_future(take(number)) for number in range(4)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    slots.release()
    await asyncio.wait(waiting)
    assert order == [0, 2, 3]


async def test_a_slot_given_to_somebody_who_is_being_cancelled_is_not_lost() -> None:
    slots = ConcurrencyLimiter(1, wait_seconds=5)
    for is_given_first in (True, False):
        await slots.acquire()
        leaving, staying = (asyncio.ensure_future(slots.acquire()) for _ in range(2))
        await asyncio.sleep(0)
        if is_given_first:
            slots.release()
            leaving.cancel()
        else:
            leaving.cancel()
            slots.release()
        await asyncio.wait({leaving, staying})
        assert leaving.cancelled()
        slots.release()


def test_an_old_comparison_moves_to_its_own_place() -> None:
    query = {
        "kind": "TrendsQuery",
        "series": [],
        "trendsFilter": {"compare": True, "decimalPlaces": 1},
    }
    expanded = expand(query)

    assert expanded["compareFilter"] == {"compare": True}
    assert expanded["trendsFilter"] == {"decimalPlaces": 1}
    assert query["trendsFilter"] == {"compare": True, "decimalPlaces": 1}


@pytest.mark.parametrize(
    ("query", "attr"),
    [
        ({"kind": "TrendsQuery"}, "query__series"),
        ({"kind": "TrendsQuery", "series": {}}, "query__series"),
        ({"kind": "TrendsQuery", "series": [1]}, "query__series__0"),
        (
            {"kind": "TrendsQuery", "series": [{"kind": "DataWarehouseNode"}]},
            "query__series__0__kind",
        ),
        ({"kind": "TrendsQuery", "series": [], "interval": "decade"}, "query__interval"),
        ({"kind": "TrendsQuery", "series": [], "samplingFactor": "x"}, "query__samplingFactor"),
        ({"kind": "HogQLQuery", "query": "x", "variables": {"k": 1}}, "query__variables__k"),
        ({"kind": "PathsQuery"}, "query__pathsFilter"),
    ],
)
def test_forms_of_queries_are_checked(query: dict[str, Any], attr: str) -> None:
    with pytest.raises(Invalid) as refused:
        expand(query)

    assert refused.value.attr == attr


def test_breakdown_values_become_filters() -> None:
    query: dict[str, Any] = {
        "kind": "TrendsQuery",
        "breakdownFilter": {
            "breakdowns": [
                {"property": "$browser", "type": "event"},
                {"property": "properties.x", "type": "hogql"},
            ]
        },
        "properties": [{"key": "a"}],
    }
    bound = bind(query, {"$browser": "", "properties.x": "it's \\"}, dates=True)

    assert breakdown_names(query) == ["$browser", "properties.x"]
    assert bound["properties"][0] == {"key": "a"}
    assert bound["properties"][1]["operator"] == "is_not_set"
    assert bound["properties"][2]["key"] == "(toString(properties.x)) = 'it\\'s \\\\'"
    assert eligibility(query).can_materialize


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"kind": "TrendsQuery", "filterTestAccounts": True}, {"test_account_filters"}),
        ({"kind": "TrendsQuery", "filterTestAccounts": False}, set()),
        ({"kind": "HogQLQuery", "filters": {"filterTestAccounts": True}}, {"test_account_filters"}),
        ({"kind": "HogQLQuery", "filterTestAccounts": True}, set()),
        ({"kind": "HogQLQuery", "filters": None}, set()),
    ],
)
def test_results_depend_on_test_accounts_only_if_the_query_filters_them(
    query: dict[str, Any], names: set[str]
) -> None:
    assert depends_on(query, PROJECT).keys() == {"timezone"} | names
