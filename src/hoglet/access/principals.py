"""Projects, users and callers as other packages see them."""

from collections.abc import Iterable
from datetime import datetime
from enum import IntEnum
from hashlib import blake2b
from typing import Any, Literal
from uuid import UUID

import msgspec
import orjson

from hoglet.access.schemas import UserObject
from hoglet.kit.json import JsonObject

ANY_SCOPE = "*"


class Level(IntEnum):
    """A user's membership level in an organization."""

    MEMBER = 1
    ADMIN = 8
    OWNER = 15


class Project(msgspec.Struct, frozen=True):
    """A project; every stored object belongs to exactly one.

    ``api_token`` (``phc_…``) is the token for capture. ``test_account_filters`` is a list of
    property filters. With ``anonymize_ips``, events do not get the client's address. Weeks start
    on Sunday if ``week_start_day`` is 0, on Monday if it is 1. ``definitions_version`` counts
    changes of property types and deletions of definitions by users.
    """

    id: int
    uuid: UUID
    organization_id: UUID
    api_token: str
    name: str
    timezone: str
    created_at: datetime
    updated_at: datetime
    app_urls: list[str] = msgspec.field(default_factory=list[str])
    test_account_filters: list[Any] = msgspec.field(default_factory=list[Any])
    person_display_name_properties: list[str] | None = None
    anonymize_ips: bool = False
    week_start_day: Literal[0, 1] = 0
    is_demo: bool = False
    ingested_event: bool = False
    definitions_version: int = 0


class User(msgspec.Struct, frozen=True):
    """A user; owns keys and objects."""

    id: int
    uuid: UUID
    distinct_id: str
    first_name: str
    last_name: str
    email: str
    date_joined: datetime
    is_email_verified: bool | None = None
    is_staff: bool = False
    hedgehog_config: JsonObject | None = None
    theme_mode: str | None = None
    current_project_id: int | None = None


type VariableValues = dict[str, Any]
"""Values of variables by code name, each a scalar or a list of scalars: ``{"tenant": "acme"}``."""


class TenantGrant(msgspec.Struct, frozen=True):
    """What a tenant token may do: run ``endpoints`` with these values of ``variables``.

    ``fingerprint`` is equal for equal variables.
    """

    endpoints: frozenset[str]
    variables: VariableValues
    fingerprint: str

    @classmethod
    def of(cls, endpoints: Iterable[str], variables: VariableValues) -> "TenantGrant":
        """A grant, e.g. of ``["by_plan"]`` with ``{"tenant": "acme"}``."""
        text = orjson.dumps(variables, option=orjson.OPT_SORT_KEYS)
        return cls(frozenset(endpoints), variables, blake2b(text, digest_size=12).hexdigest())


class Principal(msgspec.Struct, frozen=True):
    """The caller: a user's personal key, a project's secret key, or a tenant token.

    ``user`` is set for personal keys, ``tenant`` for tenant tokens.
    """

    kind: Literal["personal", "secret", "tenant"]
    key_id: str
    scopes: frozenset[str]
    user: User | None = None
    scoped_teams: frozenset[int] = frozenset()
    scoped_organizations: frozenset[UUID] = frozenset()
    organizations: frozenset[UUID] = frozenset()
    project_id: int | None = None  # for secret keys and tenant tokens
    tenant: TenantGrant | None = None

    def may(self, scope: str) -> bool:
        """Whether the key has the scope ``object:action``; write implies read, ``*`` is all."""
        if scope in self.scopes or ANY_SCOPE in self.scopes:
            return True
        thing, _, action = scope.partition(":")
        return action == "read" and f"{thing}:write" in self.scopes


class ProjectScope(msgspec.Struct, frozen=True):
    """Project and caller of a request."""

    project: Project
    principal: Principal

    @property
    def user_id(self) -> int | None:
        """The user behind the key, for ``created_by``; None for a secret key."""
        return None if self.principal.user is None else self.principal.user.id


def user_object(user: User | None) -> UserObject | None:
    """A user in the form of ``created_by`` (docs/spec/hog-functions.md#2-the-function-object)."""
    if user is None:
        return None
    return {
        "id": user.id,
        "uuid": str(user.uuid),
        "distinct_id": user.distinct_id,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "email": user.email,
        "is_email_verified": user.is_email_verified,
        "hedgehog_config": user.hedgehog_config,
        "role_at_organization": None,  # an answer to PostHog's sign-up survey; never set here
    }
