"""Unknown keys of bodies are refused with the nearest key."""

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from hoglet.kit.errors import Invalid
from hoglet.web.validation import validate


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    refresh: str | None = None
    is_async: bool | None = Field(default=None, alias="async")


@pytest.mark.parametrize(
    ("key", "hint"),
    [("Refresh", " Did you mean 'refresh'?"), ("asynk", " Did you mean 'async'?"), ("foo", "")],
)
def test_unknown_keys_name_the_nearest_one(key: str, hint: str) -> None:
    with pytest.raises(Invalid) as error:
        validate(Closed, {key: 1})

    assert error.value.attr == key
    assert error.value.detail == f'"{key}" is not a known field.{hint}'


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")

    max_events: int
    max_seconds: float = 1


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    part: Part | None = None
    parts: list[Part] = []


GOOD = {"max_events": 1}
ODD = {"max_evnts": 1}


@pytest.mark.parametrize(
    ("body", "attr", "code", "hint"),
    [
        ({"nam": "x"}, "nam", "invalid_input", "'name'"),
        ({"colour": "x"}, "name", "required", ""),
        ({"name": "x", "part": {"max_event": 1}}, "part__max_event", "invalid_input", "s'?"),
        ({"name": "x", "part": {"other": 1}}, "part__max_events", "required", ""),
        ({"name": "x", "part": GOOD | {"max_secnd": 1}}, "part__max_secnd", "invalid_input", "s'?"),
        ({"name": "x", "parts": [GOOD, ODD]}, "parts__1__max_evnts", "invalid_input", "s'?"),
        ({"name": "x", "parts": [GOOD, GOOD | {"a": 1}]}, "parts__1__a", "invalid_input", ""),
        ({"nam": "x", "part": {"max_events": "x"}}, "nam", "invalid_input", "'name'"),
        ({"part": {"nam": 1}}, "name", "required", ""),
    ],
)  # fmt: skip
def test_a_misspelt_key_is_named_before_the_one_it_leaves_out(
    body: dict[str, Any], attr: str, code: str, hint: str
) -> None:
    with pytest.raises(Invalid) as error:
        validate(Whole, body)

    assert (error.value.attr, error.value.error_code) == (attr, code)
    assert hint in error.value.detail
    assert ("Did you mean" in error.value.detail) is bool(hint)
