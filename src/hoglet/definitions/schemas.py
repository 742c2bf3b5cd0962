"""Bodies of the definition routes.

Source: docs/spec/data-and-queries.md#23-patch.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from hoglet.web.validation import Body, Text, Whole

type PropertyType = Literal["DateTime", "String", "Numeric", "Boolean", "Duration"]
type Name = Annotated[Text, Field(min_length=1, max_length=400)]
type Tag = Annotated[Text, Field(min_length=1, max_length=255)]


class DefinitionChanges(Body):
    """What people may say about any definition."""

    description: Annotated[Text, Field(max_length=10_000)] | None = None
    tags: Annotated[list[Tag], Field(max_length=100)] = Field(default_factory=list[str])
    verified: bool = False
    hidden: bool = False


class PropertyChanges(DefinitionChanges):
    """A change of a property definition; what is left out stays."""

    property_type: PropertyType | None = None


class EventChanges(DefinitionChanges):
    """A change of an event definition; ``owner`` is the id of a user."""

    owner: Whole | None = None
    default_columns: Annotated[list[Text], Field(max_length=100)] = Field(default_factory=list[str])


class NewEvent(EventChanges):
    """An event that is announced before it is seen."""

    name: Name


def sent(body: Body) -> dict[str, Any]:
    """The fields that the body has, by name."""
    return {name: getattr(body, name) for name in body.model_fields_set}
