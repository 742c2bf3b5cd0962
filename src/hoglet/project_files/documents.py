"""The shapes of a project's documents: read from files, and compared with a server's.

A document is a YAML mapping with names instead of ids: ``{"type": "actions", "action": "Docs"}``.
Keys of file formats are those of the API, see docs/project-files.md.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

type Kind = Literal["variable", "action", "cohort", "function", "draft", "endpoint"]

type Document = Mapping[str, Any]
"""A document of any kind, for code that treats all kinds alike: comparing, printing, resolving
references."""

type QueryDocument = Mapping[str, Any]
"""A query with names instead of ids: ``{"kind": "HogQLQuery", "query": "select 1"}``."""


class InputDocument(TypedDict, total=False):
    """An input: its value, or for a secret in files the name of a variable, ``env:SLACK_TOKEN``.

    Documents of a server have ``secret`` true; the value of a secret is never read.
    """

    value: Any
    secret: str | bool


type InputDocuments = dict[str, InputDocument]
"""Inputs by key: ``{"url": {"value": "https://example.com"}}``."""

type InputSchemaItem = dict[str, Any]
"""An item of ``inputs_schema``, unchecked: ``{"key": "url", "type": "string"}``."""


class FilterDocument(TypedDict, total=False):
    """What triggers a function: events or actions, and conditions on their properties."""

    source: str
    events: list[Document]
    actions: list[Document]
    properties: list[Document]
    filter_test_accounts: bool


class MappingDocument(TypedDict, total=False):
    """One of several configurations of a function, each with filters and inputs of its own."""

    name: str
    filters: FilterDocument
    inputs_schema: list[InputSchemaItem]
    inputs: InputDocuments


class FunctionDocument(TypedDict):
    """``function.yaml``, every key, and the code."""

    type: str
    name: str
    description: str
    enabled: bool
    icon_url: str | None
    template_id: str | None
    execution_order: int | None
    filters: FilterDocument
    inputs_schema: list[InputSchemaItem]
    inputs: InputDocuments
    masking: Document | None
    mappings: list[MappingDocument]
    retry: Document | None
    delivery: Document | None
    hog: str


class DraftDocument(TypedDict, total=False):
    """``draft.yaml`` and the code: the fields that a draft changes."""

    name: str
    description: str
    icon_url: str | None
    filters: FilterDocument
    inputs_schema: list[InputSchemaItem]
    inputs: InputDocuments
    masking: Document | None
    mappings: list[MappingDocument]
    retry: Document | None
    delivery: Document | None
    hog: str


class VariableDocument(TypedDict):
    """A variable of queries; ``value`` is that of one endpoint, if it differs from the default."""

    type: str
    default: Any
    name: NotRequired[str]
    choices: NotRequired[list[Any]]
    multi: NotRequired[bool]
    value: NotRequired[Any]


class EndpointDocument(TypedDict):
    """The content of an endpoint's file, with every key; its query does not define variables."""

    name: str
    description: str
    query: QueryDocument
    variables: dict[str, VariableDocument]
    tags: list[str]
    is_active: bool
    cache_age_seconds: int | None
    data_freshness_seconds: int
    is_materialized: bool
    sync_frequency: str | None
    bucket_overrides: dict[str, str]
    optional_breakdown_properties: list[str]


class ActionDocument(TypedDict):
    """An item of ``actions.yaml``."""

    name: str
    description: NotRequired[str]
    steps: NotRequired[list[Document]]


class CohortDocument(TypedDict):
    """An item of ``cohorts.yaml``."""

    name: str
    description: NotRequired[str]
    filters: NotRequired[Document]


class SettingsDocument(TypedDict, total=False):
    """``hoglet.yaml``."""

    name: str
    timezone: str
    week_start_day: Literal[0, 1]
    test_account_filters: list[Document]
    person_display_name_properties: list[str] | None
