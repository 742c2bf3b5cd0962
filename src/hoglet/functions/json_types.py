"""JSON types of the parts of functions: as sent, stored, compiled and run.

Parts that request schemas check completely are a ``TypedDict``. Filters, and inputs before they are
compiled, may have additional keys, which are stored as sent, so they are plain objects here.
"""

from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

from hoglet.functions.types import FunctionType
from hoglet.kit.json import JsonObject, Properties

type Bytecode = list[Any]
"""A compiled program or template: ``["_H", 1, 32, "x"]``."""

type FunctionFilters = JsonObject
"""Filters: ``{"events": [{"id": "paid", "type": "events"}], "properties": [...]}``.

Source: docs/spec/hog-functions.md#5-filters.
"""

type FilterEntry = JsonObject
"""An event, action or table in filters: ``{"id": "paid", "type": "events"}``."""

type PropertyFilter = JsonObject
"""A condition on a property: ``{"key": "plan", "type": "event", "value": "pro"}``, or a group."""

type ActionStep = JsonObject
"""A step of an action: ``{"event": "$pageview", "url": "docs", "url_matching": "contains"}``."""

type InputValue = dict[str, Any]
"""An input: ``{"value": "https://example.com"}``.

A compiled one also has ``order``, and ``templating``, ``bytecode`` or ``transpiled`` where it has
templates.
"""

type InputValues = dict[str, Any]
"""Inputs by key: ``{"url": {"value": "https://example.com"}}``; a run sees the values alone."""

type BuiltInputs = dict[str, Any]
"""The global ``inputs``: values by key, with templates evaluated: ``{"url": "https://…"}``."""

type SecretValues = dict[str, Any]
"""Values of secret inputs by key, in the form of ``InputValues``; stored encrypted."""

type MappingSecrets = dict[str, SecretValues]
"""``SecretValues`` of mappings, by index as text; stored encrypted."""

type ConditionTree = dict[str, Any]
"""A node of a compiled condition, see ``hoglet.syntax.tree``, as plain data."""

type Globals = dict[str, Any]
"""The globals of a run by name: ``{"event": {...}, "person": {...}, "project": {...}}``."""

type EventGlobal = JsonObject
"""The global ``event``: ``{"uuid": "…", "event": "paid", "properties": {...}, ...}``."""


type HostRequest = JsonObject
"""A normalized ``FetchRequest`` or ``Email`` as plain values."""


class ProjectGlobal(TypedDict):
    """The global ``project``: ``{"id": 1, "name": "Shop", "url": "https://host/project/1"}``."""

    id: int
    name: str
    url: str


class SourceGlobal(TypedDict):
    """The global ``source``: the function that runs."""

    name: str
    url: str


class PersonGlobal(TypedDict):
    """The global ``person``."""

    id: str
    name: str
    url: str
    properties: Properties
    distinct_id: str


class GroupGlobal(TypedDict):
    """A member of the global ``groups``."""

    id: str
    type: str
    index: int
    url: str
    properties: Properties


class InputSchema(TypedDict):
    """An item of ``inputs_schema``.

    Source: docs/spec/hog-functions.md#41-schema-item.
    """

    key: str
    type: str
    required: NotRequired[bool]
    secret: NotRequired[bool]
    hidden: NotRequired[bool]
    label: NotRequired[str | None]
    choices: NotRequired[list[JsonObject] | None]
    default: NotRequired[Any]
    searchable: NotRequired[bool | None]
    description: NotRequired[str | None]
    integration: NotRequired[str | None]
    integration_key: NotRequired[str | None]
    requires_field: NotRequired[str | None]
    integration_field: NotRequired[str | None]
    requiredScopes: NotRequired[str | None]
    templating: NotRequired[bool | str | None]


class FunctionMapping(TypedDict, total=False):
    """A mapping (docs/spec/hog-functions.md#45-mappings)."""

    name: str | None
    inputs_schema: list[InputSchema] | None
    inputs: InputValues | None
    filters: FunctionFilters | None
    disabled: bool | None


class MaskingSettings(TypedDict):
    """``masking``: at most one run per hash in ``ttl`` seconds, or one in ``threshold``.

    Source: docs/spec/hog-functions.md#6-masking.
    """

    hash: str
    ttl: int
    threshold: NotRequired[int | None]
    bytecode: NotRequired[Bytecode]


class RetrySettings(TypedDict, total=False):
    """``retry``: the fields of the retry policy that were set.

    Source: docs/spec/hog-functions.md#134-retries-hoglet-goes-further.
    """

    max_attempts: int
    initial_delay_seconds: float
    multiplier: float
    max_delay_seconds: float
    max_elapsed_seconds: float
    respect_retry_after: bool


class BatchSettings(TypedDict):
    """One run for up to ``max_events`` events, which waits up to ``max_seconds`` for them."""

    max_events: int
    max_seconds: float


class DeliverySettings(TypedDict, total=False):
    """``delivery``: the limits that were set (docs/adr/0009-delivery.md)."""

    ordered_by: Literal["distinct_id"] | None
    concurrency: int | None
    requests_per_minute: int | None
    batch: BatchSettings | None


class MappingMatcher(TypedDict):
    """The run-time form of a mapping's filters; ``number`` identifies the mapping."""

    tree: ConditionTree | None
    events: list[str] | None
    number: NotRequired[int]


class StoredMatcher(TypedDict, total=False):
    """The run-time form of a function's filters and of those of its mappings.

    ``events`` are the names that can match, None for any. ``next_number`` is the number of the next
    mapping.
    """

    tree: ConditionTree | None
    events: list[str] | None
    mappings: list[MappingMatcher]
    next_number: int


class LoggedFields(TypedDict, total=False):
    """The fields of a function whose changes are logged, or those of an earlier state."""

    name: str | None
    description: str
    enabled: bool
    deleted: bool
    hog: str
    inputs_schema: list[InputSchema]
    inputs: InputValues
    filters: FunctionFilters
    masking: MaskingSettings | None
    mappings: list[FunctionMapping] | None
    icon_url: str | None
    execution_order: int | None
    retry: RetrySettings | None
    delivery: DeliverySettings | None


class SentFields(LoggedFields, total=False):
    """The fields of a function that a request sent or a draft holds, by column name, normalized."""

    type: FunctionType | None
    template_id: str | None
    folder: str | None
    base_updated_at: datetime | None


class FunctionColumns(TypedDict):
    """The columns of a function that a save reads and writes, by name."""

    type: FunctionType
    name: str | None
    description: str
    enabled: bool
    deleted: bool
    hog: str
    bytecode: Bytecode | None
    transpiled: str | None
    inputs_schema: list[InputSchema]
    inputs: InputValues
    filters: FunctionFilters
    masking: MaskingSettings | None
    mappings: list[FunctionMapping] | None
    icon_url: str | None
    template_id: str | None
    execution_order: int | None
    retry: RetrySettings | None
    delivery: DeliverySettings | None
    folder: str | None
    batch_export_id: UUID | None
    state: int


class CompiledColumns(FunctionColumns):
    """The columns after compiling, with what only runs need; secrets are in plain text."""

    secrets: SecretValues
    mapping_secrets: MappingSecrets
    matcher: StoredMatcher
