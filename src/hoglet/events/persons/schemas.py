"""Bodies of the routes of persons.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from hoglet.kit.errors import Invalid
from hoglet.web.openapi import DocumentedResponse
from hoglet.web.validation import NULL, REQUIRED, Body, Text

type PropertyKey = Annotated[Text, Field(strict=True, min_length=1)]


class _PersonBody(Body):
    """Whitespace in property names is preserved."""

    model_config = ConfigDict(str_strip_whitespace=False, coerce_numbers_to_str=False)


class PropertyChange(_PersonBody):
    """Body of ``update_property``."""

    key: PropertyKey
    value: Any


class PropertyRemoval(_PersonBody):
    """Body of ``delete_property``."""

    unset: PropertyKey = Field(alias="$unset")


class PersonChanges(_PersonBody):
    """Body of ``PATCH``; the properties are merged into those of the person."""

    properties: dict[Text, Any]


def refuse_missing(data: dict[str, Any], *names: str) -> None:
    """Reject a body without one of these fields.

    Raises:
        Invalid: attr is the field.
    """
    for name in names:
        if name not in data:
            raise Invalid(REQUIRED, code="required", attr=name)
        if data[name] is None and name != "value":
            raise Invalid(NULL, code="null", attr=name)


class PersonAnswer(DocumentedResponse):
    """A person."""

    id: int
    uuid: str
    name: str
    distinct_ids: list[str]
    properties: dict[str, Any]
    created_at: str
    last_seen_at: str | None


class Succeeded(DocumentedResponse):
    """Done, or on disk to be done."""

    success: bool
