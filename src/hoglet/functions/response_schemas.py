"""Response models of the function routes (docs/spec/hog-functions.md#2-the-function-object)."""

from typing import Any, Literal

from pydantic import Field

from hoglet.access.schemas import UserObject
from hoglet.functions.schemas import FunctionType
from hoglet.web.openapi import DocumentedResponse, Json


class Status(DocumentedResponse):
    """The watcher's state: 0, 1, 2, 3, 11 or 12."""

    state: Literal[0, 1, 2, 3, 11, 12]
    tokens: int


class TemplateObject(DocumentedResponse):
    """A template, with its code."""

    id: str
    name: str
    description: str
    code: str
    code_language: str
    inputs_schema: list[Json]
    type: str
    status: str
    category: list[str]
    free: bool
    icon_url: str | None
    filters: Json | None
    masking: Json | None
    mapping_templates: list[Json] | None


class FunctionOverview(DocumentedResponse):
    """What a function has in lists and alone."""

    id: str
    type: FunctionType
    name: str | None
    description: str
    created_at: str
    created_by: UserObject | None
    updated_at: str
    enabled: bool


class FunctionItem(FunctionOverview):
    """A function in a list."""

    hog: str
    filters: Json
    icon_url: str | None
    template: TemplateObject | None
    status: Status
    execution_order: int | None
    search_match_type: Literal["exact", "similar"] = Field(default="exact")


class FunctionObject(FunctionOverview):
    """A function in full; ``retry``, ``delivery`` and ``warnings`` only if there are any."""

    deleted: bool
    hog: str
    bytecode: list[Any] | None
    transpiled: str | None
    inputs_schema: list[Json]
    inputs: Json
    filters: Json
    masking: Json | None
    mappings: list[Json] | None
    icon_url: str | None
    template: TemplateObject | None
    template_id: str | None
    status: Status
    execution_order: int | None
    create_in_folder: str | None = Field(alias="_create_in_folder")
    batch_export_id: str | None
    retry: Json = Field(default_factory=dict[str, Any])
    draft: Json | None = Field(default=None)
    draft_updated_at: str | None = Field(default=None)
    version: int = Field(default=1)
    delivery: Json = Field(default_factory=dict[str, Any])
    warnings: list[Json] = Field(default_factory=list[Json])


class FunctionFullItem(FunctionObject):
    """A function in a list with ``full=true``."""

    search_match_type: Literal["exact", "similar"] = Field(default="exact")
