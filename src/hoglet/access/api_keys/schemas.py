"""Request bodies and responses of the key routes.

Source: docs/spec/data-and-queries.md#5-keys.
"""

from typing import Annotated, Any, TypedDict
from uuid import UUID

from pydantic import BeforeValidator, Field, StrictStr

from hoglet.access.schemas import UserObject
from hoglet.web.openapi import documented, extensible
from hoglet.web.validation import Body, Text, Whole

type Label = Annotated[Text, Field(min_length=1, max_length=40)]


def _list_or_none(value: Any) -> Any:
    """Replace null by an empty list, which means no restriction, as in PostHog."""
    return [] if value is None else value


type Projects = Annotated[list[Whole], BeforeValidator(_list_or_none)]
type Organizations = Annotated[list[UUID], BeforeValidator(_list_or_none)]


class PersonalKeyFields(Body):
    """Fields of a new personal key."""

    label: Label
    scopes: list[StrictStr]
    scoped_teams: Projects = Field(default_factory=list[int])
    scoped_organizations: Organizations = Field(default_factory=list[UUID])


class PersonalKeyChanges(Body):
    """Changes to a personal key; omitted fields stay as they are."""

    label: Label = ""
    scopes: list[StrictStr] = Field(default_factory=list[str])
    scoped_teams: Projects = Field(default_factory=list[int])
    scoped_organizations: Organizations = Field(default_factory=list[UUID])


class SecretKeyFields(Body):
    """Fields of a new project secret key."""

    label: Label
    scopes: list[StrictStr]


class SecretKeyChanges(Body):
    """Changes to a project secret key; omitted fields stay as they are."""

    label: Label = ""
    scopes: list[StrictStr] = Field(default_factory=list[str])


@extensible
class KeyObject(TypedDict):
    """An API key; ``value`` is set only in responses to create and roll."""

    id: str
    label: str
    value: str | None
    mask_value: str
    created_at: str
    last_used_at: str | None
    last_rolled_at: str | None
    user_id: int
    scopes: list[str]
    scoped_teams: list[int]
    scoped_organizations: list[str]


@documented
class SecretKeyObject(TypedDict):
    """A project secret key; ``value`` is set only in responses to create and roll."""

    id: str
    label: str
    value: str | None
    mask_value: str
    created_at: str
    created_by: UserObject | None
    last_used_at: str | None
    last_rolled_at: str | None
    scopes: list[str]
