"""The project, its users, persons, events, actions, cohorts, integrations and keys."""

from typing import Any, NotRequired, TypedDict

from hoglet.kit.json import JsonObject, Properties

type StoredQuery = JsonObject
"""A query as an endpoint has it, of any kind: ``{"kind": "HogQLQuery", "query": "SELECT 1"}``."""

type RequestBody = JsonObject
"""What a form sends: the fields of a record that it edits, e.g. ``{"name": "x"}``."""

type PropertyCondition = JsonObject
"""A filter on a property, edited in place: ``{"key": "plan", "value": ["pro"]}``."""

type ActionStep = JsonObject
"""A step of an action, edited in place: ``{"event": "$pageview", "url": "/docs"}``."""

type Criterion = JsonObject
"""A criterion of a cohort or a group of them, edited in place."""

type ListedRecord = Any
"""A record of the kind that a page lists, e.g. a ``CohortRecord``."""


class ProjectRecord(TypedDict):
    """A project."""

    id: int
    name: str
    api_token: str
    timezone: str
    test_account_filters: list[PropertyCondition]


class UserRecord(TypedDict, total=False):
    """Who did something."""

    first_name: str
    email: str


class FieldChangeRecord(TypedDict):
    """A field that a change of a record set."""

    field: str
    before: Any
    after: Any


class ChangeDetail(TypedDict, total=False):
    """What a change was about."""

    name: str | None
    changes: list[FieldChangeRecord]


class ActivityRecord(TypedDict):
    """An entry of the activity log."""

    id: str
    activity: str
    scope: str
    item_id: str
    created_at: str
    detail: ChangeDetail
    user: UserRecord | None


class PersonDetails(TypedDict):
    """A person; that of an event has no times."""

    uuid: str
    name: str
    distinct_ids: list[str]
    properties: Properties
    created_at: str
    last_seen_at: str | None


class ElementRecord(TypedDict):
    """A clicked element, or one of its ancestors."""

    order: int
    tag_name: str
    text: str | None
    attributes: dict[str, str]


class EventRecord(TypedDict):
    """A stored event."""

    id: str
    event: str
    distinct_id: str
    timestamp: str
    properties: Properties
    person: PersonDetails | None
    elements: list[ElementRecord]
    elements_chain: str


class ActionRecord(TypedDict):
    """An action."""

    id: int
    name: str
    description: str
    steps: list[ActionStep]
    updated_at: str


class CohortRecord(TypedDict):
    """A cohort."""

    id: int
    name: str
    description: str
    is_static: bool
    filters: JsonObject
    query: NotRequired[StoredQuery | None]
    cohort_type: str
    count: int | None
    is_calculating: bool
    errors_calculating: int
    last_calculation: str | None


class IntegrationRecord(TypedDict):
    """A credential of a service."""

    id: int
    kind: str
    display_name: str
    hosts: list[str] | None
    errors: str
    updated_at: str


class PropertyRecord(TypedDict):
    """A property of events or persons."""

    id: str
    name: str
    description: str
    property_type: str | None
    unconverted_share: NotRequired[float]


class ApiKeyRecord(TypedDict):
    """A personal API key."""

    id: str
    label: str
    mask_value: str
    scopes: list[str]
    created_at: str
    last_used_at: str | None


class SigningKeyRecord(TypedDict):
    """A key that tenant tokens are signed with."""

    id: str
    created_at: str
    expires_at: str | None
