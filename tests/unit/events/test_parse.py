"""Token, batch, and the fields of one event (docs/spec/hog-functions.md#14-capture)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from hoglet.events import parse as incoming
from hoglet.events.errors import (
    InvalidPayload,
    MissingDistinctId,
    MissingEventName,
)
from hoglet.events.parse import read_time

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MADE_UP = UUID(int=7)


def _accept(raw: dict[str, Any], sent_at: datetime | None = None) -> incoming.Event:
    full = {"event": "e", "distinct_id": "d", **raw}
    return incoming.accept(full, sent_at=sent_at, received_at=NOW, made_up=MADE_UP.int)[0]


@pytest.mark.parametrize(
    ("body", "query", "token"),
    [
        ({"api_key": "a", "batch": []}, {}, "a"),
        ({"token": "a"}, {}, "a"),
        ({"batch": [{"token": "a"}]}, {}, "a"),
        ([{"$token": "a"}], {}, "a"),
        ([{"properties": {"token": "a"}}], {}, "a"),
        ({"properties": {"token": "a"}}, {"token": "b"}, "a"),
        ([{"event": "x"}], {"token": "b"}, "b"),
        ({"api_key": 5}, {}, None),
        (["odd"], {}, None),
    ],
)
def test_the_token_is_found(body: Any, query: dict[str, str], token: str | None):
    assert incoming.token_of(body, query) == token


def test_one_object_an_array_and_a_batch_are_batches():
    assert len(incoming.batch_of({"event": "x"}, {}).events) == 1
    assert len(incoming.batch_of([{}, {}], {}).events) == 2
    assert incoming.batch_of({"batch": [{}], "historical_migration": True}, {}).historical


@pytest.mark.parametrize("body", [{"batch": []}, [], {"batch": "x"}, "text", 5, None])
def test_no_events_are_refused(body: Any):
    with pytest.raises(InvalidPayload):
        incoming.batch_of(body, {})


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("text", InvalidPayload),
        ({"distinct_id": "d"}, MissingEventName),
        ({"event": " ", "distinct_id": "d"}, MissingEventName),
        ({"event": 5, "distinct_id": "d"}, MissingEventName),
        ({"event": "e"}, MissingDistinctId),
        ({"event": "e", "distinct_id": ""}, MissingDistinctId),
        ({"event": "e", "distinct_id": {}}, MissingDistinctId),
        ({"event": "e" * 201, "distinct_id": "d"}, InvalidPayload),
        ({"event": "e", "distinct_id": "d" * 201}, InvalidPayload),
        ({"event": "e", "distinct_id": "d", "properties": []}, InvalidPayload),
    ],
)
def test_an_event_is_refused(raw: Any, kind: type[Exception]):
    assert type(incoming.refusal_of(raw)) is kind


def test_names_and_distinct_ids_of_the_greatest_length_are_accepted():
    assert incoming.refusal_of({"event": "e" * 200, "distinct_id": "d" * 200}) is None


@pytest.mark.parametrize(
    ("raw", "distinct_id"),
    [
        ({"distinct_id": "d"}, "d"),
        ({"distinct_id": 12}, "12"),
        ({"distinct_id": 1.5}, "1.5"),
        ({"$distinct_id": "d"}, "d"),
        ({"properties": {"distinct_id": "d"}}, "d"),
        ({"properties": {"$distinct_id": 3}}, "3"),
    ],
)
def test_the_distinct_id_is_found_and_becomes_text(raw: dict[str, Any], distinct_id: str):
    assert incoming.refusal_of({"event": "e", **raw}) is None
    assert incoming.distinct_id_of(raw) == distinct_id


def test_the_clients_clock_is_corrected_by_sent_at():
    reported = {"timestamp": "2026-05-01T10:00:00Z"}

    assert _accept(reported).timestamp == NOW - timedelta(hours=2)
    assert _accept(reported, NOW - timedelta(hours=1)).timestamp == NOW - timedelta(hours=1)


def test_an_offset_counts_back_from_now():
    assert _accept({"offset": 1500}).timestamp == NOW - timedelta(milliseconds=1500)


@pytest.mark.parametrize(
    "timestamp", ["2026-05-03T00:00:00Z", "garbage", 10**30, "0001-01-01", None]
)
def test_a_broken_or_future_time_is_now(timestamp: Any):
    assert _accept({"timestamp": timestamp}).timestamp == NOW


def test_a_time_less_than_a_day_ahead_is_kept():
    assert _accept({"timestamp": "2026-05-02T10:59:00Z"}).timestamp == NOW + timedelta(
        hours=22, minutes=59
    )


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("2026-05-02T11:00:00Z", datetime(2026, 5, 2, 11, tzinfo=UTC)),  # 23 hours ahead
        ("2026-05-02T11:00:00.000001Z", NOW),
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("1969-12-31T23:59:59Z", NOW),
        (1767225600, datetime(2026, 1, 1, tzinfo=UTC)),
        (1767225600000, datetime(2026, 1, 1, tzinfo=UTC)),  # Date.now() and its like
        (1767225600000.5, datetime(2026, 1, 1, 0, 0, 0, 500, tzinfo=UTC)),
    ],
)
def test_the_bounds_of_times_that_are_believed(sent: object, stored: datetime):
    assert _accept({"timestamp": sent}).timestamp == stored


def test_a_valid_uuid_is_kept_and_another_replaced():
    given = UUID("0193e8c6-0000-7000-8000-000000000001")

    assert _accept({"uuid": str(given)}).uuid == given
    assert _accept({"uuid": "nope"}).uuid == MADE_UP
    assert _accept({}).uuid == MADE_UP


def test_person_keys_at_the_top_join_those_in_the_properties():
    event = _accept({"$set": {"a": 1, "b": 1}, "properties": {"$set": {"b": 2}, "p": 3}})

    assert event.properties == {"$set": {"a": 1, "b": 2}, "p": 3}


def test_an_engage_item_without_a_name_identifies():
    assert incoming.name_of({"$distinct_id": "d", "$set": {"a": 1}}) == "$identify"


def test_a_small_z_is_utc():
    assert read_time("2026-01-02t03:04:05.5z") == datetime(2026, 1, 2, 3, 4, 5, 500000, UTC)
