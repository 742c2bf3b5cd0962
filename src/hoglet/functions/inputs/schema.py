"""The items of ``inputs_schema``.

Source: docs/spec/hog-functions.md#41-schema-item.
"""

from typing import Any, Literal, cast

from pydantic import Field

from hoglet.functions.errors import wrong_type
from hoglet.functions.json_types import InputSchema
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_array
from hoglet.web.validation import Body, Text, validate

type InputType = Literal[
    "string",
    "number",
    "boolean",
    "dictionary",
    "choice",
    "json",
    "integration",
    "integration_multi",
    "integration_field",
    "email",
    "native_email",
    "posthog_assignee",
    "posthog_ticket_tags",
    "posthog_business_hours",
    "non_failure_status_codes",
    "customer_analytics_account_properties",
    "customer_analytics_account_relationships",
    "task_model",
    "task_repository",
    "task_mcp_installations",
    "push_subscription",
]

MAX_ITEMS = 200  # far above any template; bounds the work of a save


class SchemaItem(Body):
    """One item; keys that were not sent are not stored, except the four with defaults."""

    type: InputType
    key: Text = Field(min_length=1, max_length=400)
    label: Text | None = None
    choices: list[JsonObject] | None = None
    required: bool = False
    default: Any = None
    secret: bool = False
    hidden: bool = False
    searchable: bool | None = None
    description: Text | None = None
    integration: Text | None = None
    integration_key: Text | None = None
    requires_field: Text | None = None
    integration_field: Text | None = None
    requiredScopes: Text | None = None  # noqa: N815 (a key of the wire)
    templating: Literal[True, False, "hog", "liquid"] | None = None


def read_schema(value: Any, *, attr: str = "inputs_schema") -> list[InputSchema]:
    """Validate an ``inputs_schema``.

    Returns:
        The items as stored: as sent, with ``required``, ``secret`` and ``hidden`` filled in.

    Raises:
        Invalid: the first error, e.g. attr ``inputs_schema__0__type``.
    """
    if not is_array(value):
        raise wrong_type("a list", value, code="not_a_list", attr=attr)
    if len(value) > MAX_ITEMS:
        raise Invalid(f"A function can have at most {MAX_ITEMS} inputs.", attr=attr)
    return [_item(item, f"{attr}__{index}") for index, item in enumerate(value)]


def _item(value: Any, attr: str) -> InputSchema:
    item = validate(SchemaItem, value, prefix=attr)
    stored = cast("InputSchema", item.model_dump(exclude_unset=True))
    return {**stored, "required": item.required, "secret": item.secret, "hidden": item.hidden}
