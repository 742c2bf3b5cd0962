"""Every refresh mode with results of every age, materialized or not.

Source: docs/spec/query-endpoints.md#53-refresh.
"""

import pytest

from support.endpoints import EndpointWorld

SQL = "SELECT count() AS n FROM events"
AGES = {"none": None, "fresh": 100, "stale": 400, "old": 700}  # cache time: 300 s
HIT, NEW, LATER, HIT_AND_LATER = "hit", "new", "later", "hit and later"
# What a run gives for a result of each age: none, fresh, stale (up to twice its time), older.
INLINE = {
    "blocking": (NEW, HIT, NEW, NEW),
    "cache": (NEW, HIT, NEW, NEW),
    "force": (NEW, NEW, NEW, NEW),
    "force_blocking": (NEW, NEW, NEW, NEW),
    "async": (LATER, HIT, LATER, LATER),
    "lazy_async": (LATER, HIT, HIT, LATER),
    "force_async": (LATER, LATER, LATER, LATER),
    "async_except_on_cache_miss": (NEW, HIT, HIT_AND_LATER, HIT_AND_LATER),
    "force_cache": (NEW, HIT, HIT, HIT),
}
CASES = [
    (word, age, expected)
    for word, outcomes in INLINE.items()
    for age, expected in zip(AGES, outcomes, strict=True)
]


async def outcome(endpoints: EndpointWorld, word: str) -> str:
    """What a run of ``a`` did; a background run is done before this returns."""
    answer = await endpoints.run("a", refresh=word)
    body = answer.json()
    status = body.get("query_status")
    if answer.status_code == 202:
        poll = await endpoints.client.get(answer.headers["location"])
        assert poll.status_code == 202
        await endpoints.services.jobs.drain()
        poll = await endpoints.client.get(answer.headers["location"])
        assert poll.status_code == 200
        assert poll.json()["query_status"]["complete"] is True
        assert poll.json()["execution_id"] == body["execution_id"]
        return LATER
    assert answer.status_code == 200, answer.text
    if not body["is_cached"]:
        assert status is None
        return NEW
    return HIT if status is None else HIT_AND_LATER


@pytest.mark.parametrize(("word", "age", "expected"), CASES)
async def test_inline(endpoints: EndpointWorld, word: str, age: str, expected: str) -> None:
    await endpoints.create(SQL, name="a", cache_age_seconds=300)
    seconds = AGES[age]
    if seconds is not None:
        await endpoints.ran("a")
        endpoints.world.clock.advance(seconds=seconds)
    assert await outcome(endpoints, word) == expected
    if expected == HIT_AND_LATER:
        await endpoints.services.jobs.drain()
    if expected in (NEW, LATER, HIT_AND_LATER):
        assert await outcome(endpoints, "blocking") == HIT  # and the result was kept


async def test_direct_is_only_for_materialized_versions(endpoints: EndpointWorld) -> None:
    await endpoints.create(SQL, name="a")
    refused = await endpoints.run("a", refresh="direct")
    assert (refused.status_code, refused.json()["attr"]) == (400, "refresh")
    await endpoints.patch("/a", {"is_materialized": True})
    early = await endpoints.ran("a", refresh="direct")  # before the first build
    assert "endpoint_materialized" not in early
    await endpoints.services.jobs.drain()
    assert "endpoint_materialized" not in await endpoints.ran("a", refresh="direct")


TABLE_WORDS = [word for word in INLINE if word != "force_blocking"]


@pytest.mark.parametrize("word", TABLE_WORDS)
async def test_words_on_a_table(endpoints: EndpointWorld, word: str) -> None:
    await endpoints.create(SQL, name="a", is_materialized=True, sync_frequency="1hour")
    await endpoints.services.jobs.drain()
    for age, seconds in enumerate((0, 100)):  # nothing cached, then a fresh result
        endpoints.world.clock.advance(seconds=seconds)
        answer = await endpoints.run("a", refresh=word)
        if answer.status_code == 202:
            assert INLINE[word][age] == LATER
            await endpoints.services.jobs.drain()
            answer = await endpoints.client.get(answer.headers["location"])
        else:
            assert answer.json()["is_cached"] is (INLINE[word][age] == HIT)
        assert answer.json()["endpoint_materialized"] is True
        assert answer.json()["endpoint_materialized_at"] == "2026-01-05T12:00:00+00:00"
        target = answer.json()["cache_target_age"]
        assert target == "2026-01-05T13:00:00Z"  # last build and interval


async def test_a_new_build_ends_what_was_kept_of_the_old_one(endpoints: EndpointWorld) -> None:
    await endpoints.create(SQL, name="a", is_materialized=True, sync_frequency="1hour")
    await endpoints.services.jobs.drain()
    await endpoints.ran("a")
    assert (await endpoints.ran("a"))["is_cached"] is True
    await endpoints.patch("/a", {"sync_frequency": "6hour"})
    await endpoints.services.jobs.drain()
    assert (await endpoints.ran("a"))["is_cached"] is False
    assert (await endpoints.ran("a", refresh="force_cache"))["is_cached"] is True


async def test_equal_queries_share_what_is_kept(endpoints: EndpointWorld) -> None:
    for name in ("a", "b"):
        await endpoints.create(SQL, name=name)
    await endpoints.ran("a")
    shared = await endpoints.ran("b")
    assert (shared["is_cached"], shared["name"]) == (True, "b")
    assert (await endpoints.ran("b", limit=5))["is_cached"] is False


async def test_what_is_shared_is_as_old_as_each_endpoint_allows(endpoints: EndpointWorld) -> None:
    await endpoints.create(SQL, name="day", cache_age_seconds=86400)
    await endpoints.create(SQL, name="minutes", cache_age_seconds=300)
    first = await endpoints.ran("day")
    assert first["cache_target_age"] == "2026-01-06T12:00:00Z"
    shared = await endpoints.ran("minutes")
    assert (shared["is_cached"], shared["cache_target_age"]) == (True, "2026-01-05T12:05:00Z")
    endpoints.world.clock.advance(seconds=301)
    for refresh, cached in (("lazy_async", True), ("blocking", False), ("blocking", True)):
        run = await endpoints.ran("minutes", refresh=refresh)
        assert run["is_cached"] is cached, refresh
    again = await endpoints.ran("day")
    assert (again["is_cached"], again["cache_target_age"]) == (True, "2026-01-06T12:05:01Z")


async def test_a_shorter_cache_time_counts_at_once(endpoints: EndpointWorld) -> None:
    await endpoints.create(SQL, name="a")
    await endpoints.ran("a")
    endpoints.world.clock.advance(seconds=400)
    assert (await endpoints.ran("a"))["is_cached"] is True
    await endpoints.patch("/a", {"cache_age_seconds": 300})
    assert (await endpoints.ran("a"))["is_cached"] is False
