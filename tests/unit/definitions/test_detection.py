"""Property type detection, case by case."""

from datetime import UTC, datetime
from typing import Any

import pytest

from hoglet.definitions.detection import (
    MAX_TIMESTAMP_AGE,
    detect_type,
    is_date_like,
)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
SECONDS = int(NOW)

BY_KEY: list[tuple[str, Any, str | None]] = [
    # rule 1: the key alone decides
    ("utm_source", 5, "String"),
    ("utm_source", None, "String"),
    ("utm_x", ["a"], "String"),
    ("UTM_medium", True, "String"),
    ("utm", 5, "Numeric"),
    ("my_utm_source", 5, "Numeric"),
    ("$utm_source", 5, "Numeric"),
    ("$Initial_UTM_Campaign", "2023-12-13", "String"),
    ("$initial_utm_source", {}, "String"),
    ("$initial_referrer", True, "Boolean"),
    ("$feature/x", True, "String"),
    ("$feature/", 1, "String"),
    ("$feature_flag_response", False, "String"),
    ("$feature_flag_responses", False, "Boolean"),
    ("$feature_flag", "a", "String"),
    ("$survey_response", 7, "String"),
    ("$survey_response_2", 7, "String"),
    ("utm_created_at", SECONDS, "String"),
    # rule 2: the key names a time
    ("sent_at", SECONDS, "DateTime"),
    ("sent_at", SECONDS - MAX_TIMESTAMP_AGE, "DateTime"),
    ("sent_at", SECONDS - MAX_TIMESTAMP_AGE - 1, "Numeric"),
    ("sent_at", 1639400730, "Numeric"),
    ("sent_at", SECONDS * 1000, "DateTime"),
    ("sent_at", -SECONDS, "Numeric"),
    ("sent_at", SECONDS + 0.5, "Numeric"),
    ("sent_at", True, "Boolean"),
    ("sent_at", None, None),
    ("sent_at", [], None),
    ("sent_at", "2023-12-13", "DateTime"),
    ("sent_at", "soon", "String"),
    ("sent_at", "true", "Boolean"),
    ("Created_At", SECONDS, "DateTime"),
    ("createdAt", SECONDS, "DateTime"),
    ("updatedat", SECONDS, "DateTime"),
    ("last-at", SECONDS, "DateTime"),
    ("timestamp", SECONDS, "DateTime"),
    ("birthDate", SECONDS, "DateTime"),
    ("sometimes", SECONDS, "DateTime"),
    ("hedgehogs", SECONDS, "Numeric"),
    ("at", SECONDS, "Numeric"),
    ("latitude", SECONDS, "Numeric"),
]

BY_VALUE: list[tuple[Any, str | None]] = [
    # rule 3
    ("TRUE", "Boolean"),
    ("true", "Boolean"),
    ("false", "Boolean"),
    ("FALSE", "Boolean"),
    (" true\n", "Boolean"),
    ("True", "String"),
    ("False", "String"),
    ("tRUE", "String"),
    ("yes", "String"),
    # rules 4 and 5
    ("2023-12-13", "DateTime"),
    (" 2023-12-13 ", "DateTime"),
    ("12/13/2023T15:45:30", "DateTime"),
    ("42", "String"),
    ("4.2", "String"),
    ("", "String"),
    ("null", "String"),
    # rule 6
    (42, "Numeric"),
    (0, "Numeric"),
    (-1.5, "Numeric"),
    (2**63, "Numeric"),
    (True, "Boolean"),
    (False, "Boolean"),
    (None, None),
    ([], None),
    ([1], None),
    ({}, None),
    ({"a": 1}, None),
]

DATE_LIKE = [
    "2023-12-13",
    "2023/12/13",
    "2023-12/13",
    "12-13-2023",
    "12/13/2023",
    "2023-12-13 15:45:30",
    "2023-12-13T15:45:30",
    "2023-12-13T15:45:30Z",
    "2023-12-13T15:45:30.123456+02:00",
    "2023-12-13T15:45:30 and anything\nbehind",
    "12/13/2023 15:45:30",
    "2023-13-12T15:45:30",
    "2023-29-39",
    "00-00-0000",
    "2023-12-13T99:99:99",
    "2023-12-13t15:45:30z",
    "2024-02-29t00:00:60.5+23:59",
    "Wed, 13 Dec 2023 15:45:30 +0000",
    "wed, 13 dec 2023 15:45:30 gmt",
    "13 Dec 2023 15:45 EST",
    "1 Jan 70 00:00 Z",
]
NO_DATES = [
    "15:45:30",
    "31-12-2023",
    "2023-12-13T15:45",
    "2023-12-13T",
    "2023-12-13 ",
    "2023-12-13x",
    "2023-12-1",
    "2023-3-1",
    "2023-30-01",
    "2023-12-40",
    "40-13-2023",
    "20231213",
    "2023.12.13",
    "23-12-13",
    "v2023-12-13",
    "2023-02-30t15:45:30z",
    "2023-12-13t15:45:30",
    "2023-12-13t24:00:00z",
    "Thu, 13 Dec 2023 15:45:30 +0000",
    "Wed, 32 Dec 2023 15:45:30 +0000",
    "Wed, 13 Dec 2023 15:45:30",
    "Wed, 13 Dez 2023 15:45:30 +0000",
    "Wed, 13 Dec 2023",
    "٢٠٢٣-١٢-١٣",
    "",
]


@pytest.mark.parametrize(("key", "value", "expected"), BY_KEY)
def test_the_key_and_the_value_decide(key: str, value: Any, expected: str | None):
    assert detect_type(key, value, now=NOW) == expected


@pytest.mark.parametrize(("value", "expected"), BY_VALUE)
def test_the_value_decides(value: Any, expected: str | None):
    assert detect_type("plan", value, now=NOW) == expected


@pytest.mark.parametrize("text", DATE_LIKE)
def test_texts_that_read_as_dates(text: str):
    assert is_date_like(text)


@pytest.mark.parametrize("text", NO_DATES)
def test_texts_that_do_not(text: str):
    assert not is_date_like(text)
