"""Response models of the function routes (docs/spec/hog-functions.md#2-the-function-object)."""

from typing import Literal, NotRequired, TypedDict

from hoglet.access.schemas import UserObject
from hoglet.functions.json_types import (
    Bytecode,
    DeliverySettings,
    FunctionFilters,
    FunctionMapping,
    InputSchema,
    InputValues,
    MaskingSettings,
    RetrySettings,
    SentFields,
)
from hoglet.functions.types import FunctionType, WatcherState
from hoglet.kit.json import JsonObject
from hoglet.web.openapi import documented


@documented
class Status(TypedDict):
    """The watcher's state: 0, 1, 2, 3, 11 or 12."""

    state: WatcherState
    tokens: int


@documented
class TemplateObject(TypedDict):
    """A template, with its code."""

    id: str
    name: str
    description: str
    code: str
    code_language: str
    inputs_schema: list[InputSchema]
    type: str
    status: str
    category: list[str]
    free: bool
    icon_url: str | None
    filters: FunctionFilters | None
    masking: MaskingSettings | None
    mapping_templates: list[JsonObject] | None


@documented
class SaveWarning(TypedDict):
    """A warning about code, a template or a filter; ``line`` and ``column`` count from 1."""

    message: str
    hint: str | None
    line: int
    column: int
    attr: str


@documented
class FunctionOverview(TypedDict):
    """The fields that a function has both in lists and on its own."""

    id: str
    type: FunctionType
    name: str | None
    description: str
    created_at: str
    created_by: UserObject | None
    updated_at: str
    enabled: bool
    hog: str
    filters: FunctionFilters
    icon_url: str | None
    template: TemplateObject | None
    status: Status
    execution_order: int | None


@documented
class FunctionItem(FunctionOverview):
    """A function in a list."""

    search_match_type: NotRequired[Literal["exact", "similar"]]


@documented
class FunctionObject(FunctionOverview):
    """A function in full; ``retry``, ``delivery`` and ``warnings`` only if there are any."""

    deleted: bool
    bytecode: Bytecode | None
    transpiled: str | None
    inputs_schema: list[InputSchema]
    inputs: InputValues
    masking: MaskingSettings | None
    mappings: list[FunctionMapping] | None
    template_id: str | None
    _create_in_folder: str | None
    batch_export_id: str | None
    retry: NotRequired[RetrySettings]
    draft: NotRequired[SentFields | None]
    draft_updated_at: NotRequired[str | None]
    version: NotRequired[int]
    delivery: NotRequired[DeliverySettings]
    warnings: NotRequired[list[SaveWarning]]


@documented
class FunctionFullItem(FunctionObject):
    """A function in a list with ``full=true``."""

    search_match_type: NotRequired[Literal["exact", "similar"]]
