"""The form for the schema of inputs."""

from typing import get_args

import pytest

from hoglet.console.pages.functions.forms.schema_form import (
    TYPES,
    default_of,
    default_text,
)
from hoglet.functions.schemas import InputType


def test_every_type_of_an_input_can_be_chosen() -> None:
    assert set(TYPES) == set(get_args(InputType.__value__))
    assert len(set(TYPES.values())) == len(TYPES)


@pytest.mark.parametrize(
    ("kind", "value"), [("string", "12"), ("number", 1.5), ("boolean", False), ("json", ["é"])]
)
def test_a_default_survives_the_form(kind: str, value: object) -> None:
    assert default_of(kind, default_text(value)) == value


def test_a_default_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        default_of("dictionary", "{a}")
