"""Bodies of the key routes.

Source: docs/spec/data-and-queries.md#5-keys.
"""

from typing import Annotated
from uuid import UUID

from pydantic import Field, StrictStr

from hoglet.web.validation import Body, Text, Whole

type Label = Annotated[Text, Field(min_length=1, max_length=40)]


class PersonalKeyFields(Body):
    """A personal key to be made."""

    label: Label
    scopes: list[StrictStr]
    scoped_teams: list[Whole] = Field(default_factory=list[int])
    scoped_organizations: list[UUID] = Field(default_factory=list[UUID])


class PersonalKeyChanges(Body):
    """Changes of a personal key; only what is sent changes."""

    label: Label = ""
    scopes: list[StrictStr] = Field(default_factory=list[str])
    scoped_teams: list[Whole] = Field(default_factory=list[int])
    scoped_organizations: list[UUID] = Field(default_factory=list[UUID])


class SecretKeyFields(Body):
    """A project secret key to be made."""

    label: Label
    scopes: list[StrictStr]


class SecretKeyChanges(Body):
    """Changes of a project secret key; only what is sent changes."""

    label: Label = ""
    scopes: list[StrictStr] = Field(default_factory=list[str])
