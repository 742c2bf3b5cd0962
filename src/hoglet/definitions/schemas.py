"""Request bodies of the definition routes.

Source: docs/spec/data-and-queries.md#23-patch.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from hoglet.web.openapi import DocumentedResponse, OpenResponse
from hoglet.web.validation import Body, Text, Whole

type PropertyType = Literal["DateTime", "String", "Numeric", "Boolean", "Duration"]
type DefinitionName = Annotated[Text, Field(min_length=1, max_length=400)]
type Flag = Annotated[bool, BeforeValidator(lambda value: False if value is None else value)]
type Tag = Annotated[Text, Field(min_length=1, max_length=255)]


class DefinitionChanges(Body):
    """Changes to any definition."""

    description: Annotated[Text, Field(max_length=10_000)] | None = None
    tags: Annotated[list[Tag], Field(max_length=100)] = Field(default_factory=list[str])
    verified: bool = False
    hidden: Flag = False


class PropertyChanges(DefinitionChanges):
    """Changes to a property definition; omitted fields stay as they are."""

    property_type: PropertyType | None = None


class EventChanges(DefinitionChanges):
    """Changes to an event definition; ``owner`` is the id of a user."""

    owner: Whole | None = None
    default_columns: Annotated[list[Text], Field(max_length=100)] = Field(default_factory=list[str])


class NewEvent(EventChanges):
    """An event to define before it is seen."""

    name: DefinitionName


def sent(body: Body) -> dict[str, Any]:
    """The fields in the body, by name."""
    return {name: getattr(body, name) for name in body.model_fields_set}


class DefinitionUser(OpenResponse):
    """A user."""

    id: int
    email: str


class PropertyDefinition(DocumentedResponse):
    """A property; ``unconverted_share`` of its last 10,000 values do not convert to its type."""

    id: str
    name: str
    description: str
    tags: list[str]
    is_numerical: bool
    property_type: PropertyType | None
    is_seen_on_filtered_events: bool | None
    updated_at: str | None
    updated_by: DefinitionUser | None
    verified: bool
    verified_at: str | None
    verified_by: DefinitionUser | None
    hidden: bool
    unconverted_share: Annotated[float, Field(ge=0, le=1)] | None


class PropertyForm(DocumentedResponse):
    """How some values are written in JSON: how many, and how many read as null."""

    form: Literal["string", "number", "boolean", "array", "object"]
    rows: int
    unconverted: int
    examples: list[str]


class PropertyForms(DocumentedResponse):
    """The forms of the last 10,000 values, the most frequent first."""

    property_type: PropertyType | None
    looked_at: int
    forms: list[PropertyForm]


class EventDefinition(DocumentedResponse):
    """An event."""

    id: str
    name: str
    owner: DefinitionUser | None
    description: str
    tags: list[str]
    created_at: str | None
    updated_at: str | None
    updated_by: DefinitionUser | None
    last_seen_at: str | None
    last_updated_at: str | None
    verified: bool
    verified_at: str | None
    verified_by: DefinitionUser | None
    hidden: bool
    is_action: Literal[False]
    action_id: None
    is_calculating: Literal[False]
    last_calculated_at: None
    created_by: DefinitionUser | None
    post_to_slack: Literal[False]
    default_columns: list[Any]


class PropertyDefinitions(DocumentedResponse):
    """A page of property definitions."""

    count: int
    next: str | None
    previous: str | None
    results: list[PropertyDefinition]


class EventDefinitions(DocumentedResponse):
    """A page of event definitions."""

    count: int
    next: str | None
    previous: str | None
    results: list[EventDefinition]
