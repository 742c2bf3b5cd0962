"""Unknown keys of bodies are refused with the nearest key."""

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
