"""Request bodies and responses of users, organizations, projects, variables and activity."""

from typing import Annotated, Any, Literal, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from hoglet.access.test_account_filters import check_filter
from hoglet.kit.clock import timezone_names
from hoglet.kit.json import JsonObject
from hoglet.web.openapi import documented, extensible
from hoglet.web.validation import Body, Text, not_a_choice


def _known_timezone(name: str) -> str:
    if name not in timezone_names():
        raise PydanticCustomError("literal_error", not_a_choice(name))  # pyright: ignore[reportArgumentType]
    return name


def _no_boolean(value: Any) -> Any:
    """Reject booleans, which pydantic would accept as 0 and 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("literal_error", not_a_choice(value))  # pyright: ignore[reportArgumentType]
    return value


class ProjectChanges(Body):
    """Changes to a project; omitted fields stay as they are."""

    name: Annotated[Text, Field(min_length=1, max_length=200)] = ""
    timezone: Annotated[Text, AfterValidator(_known_timezone)] = "UTC"
    app_urls: list[Text] = Field(default_factory=list[str])
    test_account_filters: list[Annotated[JsonObject, AfterValidator(check_filter)]] = Field(
        default_factory=list[JsonObject]
    )
    person_display_name_properties: list[Text] | None = None
    anonymize_ips: bool = False
    week_start_day: Annotated[Literal[0, 1], BeforeValidator(_no_boolean)] = 0


type VariableType = Literal["String", "Number", "Boolean", "List", "Date"]


class NewVariable(Body):
    """A new variable; ``default_value`` must fit the type, ``values`` the choices of a list.

    With ``is_multi``, a ``List`` variable stands for all of its values instead of one.
    """

    name: Annotated[Text, Field(min_length=1, max_length=400)]
    type: VariableType
    default_value: Any = None
    values: list[Any] | None = None
    is_multi: bool = False


class VariableChanges(Body):
    """Changes to a variable; omitted fields stay as they are."""

    name: Annotated[Text, Field(min_length=1, max_length=400)] = ""
    type: VariableType = "String"
    default_value: Any = None
    values: list[Any] | None = None
    is_multi: bool = False


def code_name(name: str) -> str:
    """The name by which queries refer to a variable.

    Example:
        >>> code_name("Plan (paid) 2")
        'plan_paid_2'
    """
    words = "".join(character for character in name if character.isalnum() or character == " ")
    return words.strip().replace(" ", "_").lower()


@documented
class UserObject(TypedDict):
    """A user in the form of ``created_by`` (docs/spec/hog-functions.md#2-the-function-object)."""

    id: int
    uuid: str
    distinct_id: str
    first_name: str
    last_name: str
    email: str
    is_email_verified: bool | None
    hedgehog_config: JsonObject | None
    role_at_organization: str | None


@documented
class SiteApp(TypedDict):
    """A script that posthog-js loads."""

    id: str
    url: str
    type: str


@extensible
class TeamObject(TypedDict):
    """A project in lists."""

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


@extensible
class GroupType(TypedDict):
    """A group type."""

    group_type: str
    group_type_index: int
    name_singular: str | None
    name_plural: str | None


@extensible
class ProjectObject(TeamObject):
    """A project in full."""

    created_at: str
    updated_at: str
    app_urls: list[str]
    test_account_filters: list[JsonObject]
    person_display_name_properties: list[str] | None
    anonymize_ips: bool
    week_start_day: Literal[0, 1]
    group_types: list[GroupType]


@extensible
class ProjectName(TypedDict):
    """A project in the list of an organization."""

    id: int
    organization_id: str
    name: str


@extensible
class OrganizationObject(TypedDict):
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
    metadata: JsonObject
    teams: list[TeamObject]
    projects: list[ProjectName]


@extensible
class Membership(TypedDict):
    """An organization the caller is a member of."""

    id: str
    name: str
    slug: str
    membership_level: int


@extensible
class MeObject(TypedDict):
    """The user that owns the key."""

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
    hedgehog_config: JsonObject | None
    role_at_organization: str | None
    theme_mode: str | None
    team: TeamObject | None
    organization: OrganizationObject | None
    organizations: list[Membership]


@extensible
class VariableObject(TypedDict):
    """A query variable."""

    id: str
    name: str
    type: VariableType
    default_value: Any
    code_name: str
    values: list[Any] | None
    is_multi: bool
    created_by: int | None
    created_at: str


@documented
class ActivityChange(TypedDict):
    """One changed field; ``before`` and ``after`` of a secret are ``masked``."""

    type: str
    action: str
    field: str | None
    before: Any
    after: Any


@extensible
class ActivityDetail(TypedDict):
    """Details of an entry in the activity log."""

    name: str | None
    changes: list[ActivityChange]


@extensible
class ActivityObject(TypedDict):
    """An entry in the activity log."""

    id: str
    user: UserObject | None
    activity: str
    scope: str
    item_id: str | None
    created_at: str
    detail: ActivityDetail
