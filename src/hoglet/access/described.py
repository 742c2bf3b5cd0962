"""What the routes of this room take and answer, for the OpenAPI document of the API.

Source: docs/spec/hog-functions.md#14-capture (last table) and 15.
"""

from typing import Any, Literal

from hoglet.access.key_schemas import (
    PersonalKeyChanges,
    PersonalKeyFields,
    SecretKeyChanges,
    SecretKeyFields,
)
from hoglet.access.schemas import (
    NewVariable,
    ProjectChanges,
    VariableChanges,
    VariableType,
)
from hoglet.web.openapi import (
    PAGE,
    DocumentedResponse,
    OpenResponse,
    RouteDoc,
    text,
)
from hoglet.web.paths import PROJECT_PREFIX

type Json = dict[str, Any]


class Page[Item](DocumentedResponse):
    """One page of a list; ``next`` and ``previous`` are whole URLs."""

    count: int
    next: str | None
    previous: str | None
    results: list[Item]


class UserObject(DocumentedResponse):
    """A user as ``created_by`` shows it."""

    id: int
    uuid: str
    distinct_id: str
    first_name: str
    last_name: str
    email: str
    is_email_verified: bool | None
    hedgehog_config: Json | None
    role_at_organization: str | None


class TeamObject(OpenResponse):
    """A project as lists show it."""

    id: int
    uuid: str
    organization: str
    api_token: str
    name: str
    timezone: str
    is_demo: bool
    ingested_event: bool
    completed_snippet_onboarding: bool
    access_control: bool


class GroupType(OpenResponse):
    """A kind of groups."""

    group_type: str
    group_type_index: int
    name_singular: str | None
    name_plural: str | None


class ProjectObject(TeamObject):
    """A project in full."""

    created_at: str
    updated_at: str
    app_urls: list[str]
    test_account_filters: list[Json]
    person_display_name_properties: list[str] | None
    anonymize_ips: bool
    week_start_day: Literal[0, 1]
    group_types: list[GroupType]


class ProjectName(OpenResponse):
    """A project in the list of an organization."""

    id: int
    organization_id: str
    name: str


class OrganizationObject(OpenResponse):
    """An organization in full."""

    id: str
    name: str
    slug: str
    created_at: str
    updated_at: str
    membership_level: int
    plugins_access_level: int
    member_count: int
    available_product_features: list[Any]
    metadata: Json
    teams: list[TeamObject]
    projects: list[ProjectName]


class Membership(OpenResponse):
    """An organization the caller is a member of."""

    id: str
    name: str
    slug: str
    membership_level: int


class MeObject(OpenResponse):
    """The user behind the key."""

    id: int
    uuid: str
    distinct_id: str
    first_name: str
    last_name: str
    email: str
    is_email_verified: bool | None
    is_staff: bool
    date_joined: str
    has_password: bool
    hedgehog_config: Json | None
    role_at_organization: str | None
    theme_mode: str | None
    team: TeamObject | None
    organization: OrganizationObject | None
    organizations: list[Membership]


class KeyObject(OpenResponse):
    """The key that was sent, without its value."""

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


class SecretKeyObject(DocumentedResponse):
    """A project secret key; ``value`` only right after it was made or rolled."""

    id: str
    label: str
    value: str | None
    mask_value: str
    created_at: str
    created_by: UserObject | None
    last_used_at: str | None
    last_rolled_at: str | None
    scopes: list[str]


class VariableObject(OpenResponse):
    """A variable of queries."""

    id: str
    name: str
    type: VariableType
    default_value: Any
    code_name: str
    values: list[Any] | None
    is_multi: bool
    created_by: int | None
    created_at: str


class ActivityChange(DocumentedResponse):
    """One changed field; ``before`` and ``after`` of a secret are ``masked``."""

    type: str
    action: str
    field: str | None
    before: Any
    after: Any


class ActivityDetail(OpenResponse):
    """What an entry of the activity log tells."""

    name: str | None
    changes: list[ActivityChange] | None


class ActivityObject(OpenResponse):
    """An entry of the activity log."""

    id: str
    user: UserObject | None
    activity: str
    scope: str
    item_id: str | None
    created_at: str
    detail: ActivityDetail


class FileObject(OpenResponse):
    """An entry of the file tree."""

    id: str
    path: str
    type: str
    ref: str
    href: str | None
    created_at: str


class SiteApp(DocumentedResponse):
    """A script that posthog-js loads."""

    id: str
    url: str
    type: str


class RemoteConfig(OpenResponse):
    """What posthog-js reads when it starts."""

    token: str
    supportedCompression: list[str]  # noqa: N815 (the name on the wire)
    analytics: dict[str, str]
    elementsChainAsString: bool  # noqa: N815
    defaultIdentifiedOnly: bool  # noqa: N815
    siteApps: list[SiteApp]  # noqa: N815


class Flags(OpenResponse):
    """No flags, in the older form (``featureFlags``) or the newer (``flags``)."""

    errorsWhileComputingFlags: bool  # noqa: N815


class FlagDefinitions(OpenResponse):
    """No flags to decide locally."""

    flags: list[Any]
    group_type_mapping: Json
    cohorts: Json


TOKEN_BODY: Json = {
    "type": "object",
    "properties": {"token": {"type": "string"}, "distinct_id": {"type": "string"}},
}
_ORGANIZATION = "/api/organizations/{organization_id}"
_VARIABLES = PROJECT_PREFIX + "/insight_variables"
_ONE_VARIABLE = _VARIABLES + "/{variable_id}"
_PROJECT = RouteDoc({200: ProjectObject})
_TOKEN = text("token", "Token of the project, where the body has none.")

_KEYS = "/api/personal_api_keys"
_ONE_KEY = _KEYS + "/{key_id}"
_SECRET_KEYS = PROJECT_PREFIX + "/project_secret_api_keys"
_ONE_SECRET_KEY = _SECRET_KEYS + "/{key_id}"

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("GET", "/api/users/@me"): RouteDoc({200: MeObject}),
    ("GET", "/api/personal_api_keys/@current"): RouteDoc({200: KeyObject}),
    ("GET", _KEYS): RouteDoc({200: {"type": "array", "items": {"type": "object"}}}),
    ("POST", _KEYS): RouteDoc({201: KeyObject}, body=PersonalKeyFields),
    ("GET", _ONE_KEY): RouteDoc({200: KeyObject}),
    ("PATCH", _ONE_KEY): RouteDoc({200: KeyObject}, body=PersonalKeyChanges),
    ("PUT", _ONE_KEY): RouteDoc({200: KeyObject}, body=PersonalKeyChanges),
    ("DELETE", _ONE_KEY): RouteDoc({204: None}),
    ("POST", _ONE_KEY + "/roll"): RouteDoc({200: KeyObject}),
    ("GET", _SECRET_KEYS): RouteDoc({200: Page[SecretKeyObject]}, query=PAGE),
    ("POST", _SECRET_KEYS): RouteDoc({201: SecretKeyObject}, body=SecretKeyFields),
    ("GET", _ONE_SECRET_KEY): RouteDoc({200: SecretKeyObject}),
    ("PATCH", _ONE_SECRET_KEY): RouteDoc({200: SecretKeyObject}, body=SecretKeyChanges),
    ("PUT", _ONE_SECRET_KEY): RouteDoc({200: SecretKeyObject}, body=SecretKeyChanges),
    ("DELETE", _ONE_SECRET_KEY): RouteDoc({204: None}),
    ("POST", _ONE_SECRET_KEY + "/roll"): RouteDoc({200: SecretKeyObject}),
    ("GET", "/api/organizations"): RouteDoc({200: Page[OrganizationObject]}, query=PAGE),
    ("GET", _ORGANIZATION): RouteDoc({200: OrganizationObject}),
    ("GET", _ORGANIZATION + "/projects"): RouteDoc({200: Page[TeamObject]}, query=PAGE),
    ("GET", _ORGANIZATION + "/projects/{project_id}"): _PROJECT,
    ("GET", "/api/projects"): RouteDoc({200: Page[TeamObject]}, query=PAGE),
    ("GET", PROJECT_PREFIX): _PROJECT,
    ("PATCH", PROJECT_PREFIX): RouteDoc({200: ProjectObject}, body=ProjectChanges),
    ("PUT", PROJECT_PREFIX): RouteDoc({200: ProjectObject}, body=ProjectChanges),
    ("GET", _VARIABLES): RouteDoc({200: Page[VariableObject]}, query=PAGE),
    ("POST", _VARIABLES): RouteDoc({201: VariableObject}, body=NewVariable),
    ("GET", _ONE_VARIABLE): RouteDoc({200: VariableObject}),
    ("PATCH", _ONE_VARIABLE): RouteDoc({200: VariableObject}, body=VariableChanges),
    ("PUT", _ONE_VARIABLE): RouteDoc({200: VariableObject}, body=VariableChanges),
    ("DELETE", _ONE_VARIABLE): RouteDoc({204: None}),
    ("GET", PROJECT_PREFIX + "/activity_log"): RouteDoc(
        {200: Page[ActivityObject]},
        query=(*PAGE, text("scope", "e.g. HogFunction"), text("item_id")),
    ),
    ("GET", PROJECT_PREFIX + "/file_system"): RouteDoc(
        {200: Page[FileObject]}, query=(*PAGE, text("type"), text("ref"), text("search"))
    ),
    ("POST", "/flags"): RouteDoc(
        {200: Flags}, body=TOKEN_BODY, query=(text("v"), text("config"), _TOKEN), problems=(401,)
    ),
    ("POST", "/decide"): RouteDoc({200: Flags}, body=TOKEN_BODY, query=(_TOKEN,), problems=(401,)),
    ("GET", "/array/{token}/config"): RouteDoc({200: RemoteConfig}),
    ("GET", "/array/{token}/config.js"): RouteDoc({200: "application/javascript"}),
    ("GET", "/flags/definitions"): RouteDoc({200: FlagDefinitions}),
    ("GET", "/api/feature_flag/local_evaluation"): RouteDoc({200: FlagDefinitions}),
}
