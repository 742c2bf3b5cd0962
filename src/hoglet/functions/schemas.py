"""Request bodies of function routes.

Source: docs/spec/hog-functions.md#3-writing-rows-2-and-4,
docs/spec/hog-functions.md#41-schema-item, docs/spec/hog-functions.md#45-mappings,
docs/spec/hog-functions.md#6-masking and docs/spec/hog-functions.md#134-retries-hoglet-goes-further.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from hoglet.functions.errors import wrong_type
from hoglet.functions.filters.normalize import normalize_filters
from hoglet.functions.json_types import (
    DeliverySettings,
    FunctionMapping,
    InputSchema,
    InputValues,
    MaskingSettings,
    RetrySettings,
    SentFields,
)
from hoglet.functions.types import MAX_EXECUTION_ORDER, FunctionType
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_array, is_object
from hoglet.web.validation import Body, Text, Whole, not_a_choice, validate

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


def _no_number(value: Any) -> Any:
    """Reject 1 and 0, which pydantic would accept as the booleans that they equal."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise PydanticCustomError("literal_error", not_a_choice(value))  # pyright: ignore[reportArgumentType]
    return value


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
    templating: Annotated[
        Literal[True, False, "hog", "liquid"] | None, BeforeValidator(_no_number)
    ] = None


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


MAX_MAPPINGS = 100  # each is compiled on every save


class FunctionFields(Body):
    """Writable fields; omitted ones are not in ``model_fields_set``."""

    type: FunctionType | None = None
    name: Text | None = Field(default=None, max_length=400)
    description: Text = ""
    enabled: bool = False
    deleted: bool = False
    hog: Text = ""
    inputs_schema: Any = None
    inputs: Any = None
    filters: Any = None
    masking: Any = None
    mappings: Any = None
    icon_url: Text | None = None
    template_id: Text | None = None
    execution_order: Whole | None = Field(default=None, ge=0, le=MAX_EXECUTION_ORDER)
    folder: Text | None = Field(default=None, alias="_create_in_folder")
    retry: Any = None
    delivery: Any = None
    base_updated_at: datetime | None = None


class FunctionChanges(FunctionFields):
    """Body of an update: writable fields, or ``draft`` alone; null discards the draft."""

    draft: JsonObject | None = None


class MaskingFields(Body):
    """``masking``; ``bytecode`` is generated and ignored here."""

    ttl: Whole = Field(ge=60, le=86400)
    threshold: Whole | None = None
    hash: Text = Field(min_length=1)


class RetryFields(Body):
    """The retry policy of one function.

    Source: docs/spec/hog-functions.md#134-retries-hoglet-goes-further (the bounds).
    """

    model_config = ConfigDict(extra="forbid")

    max_attempts: Whole = Field(default=20, ge=1, le=100)
    initial_delay_seconds: float = Field(default=1, ge=0.1, le=3600)
    multiplier: float = Field(default=2, ge=1, le=10)
    max_delay_seconds: float = Field(default=1800, ge=1, le=86400)
    max_elapsed_seconds: float = Field(default=21600, ge=0, le=604800)
    respect_retry_after: bool = True


class BatchFields(Body):
    """One run for up to ``max_events`` events, which waits up to ``max_seconds`` for them."""

    model_config = ConfigDict(extra="forbid")

    max_events: Whole = Field(ge=1, le=1000)
    max_seconds: float = Field(ge=0.1, le=300)


class DeliveryFields(Body):
    """Delivery limits of a function; see docs/adr/0009-delivery.md."""

    model_config = ConfigDict(extra="forbid")

    ordered_by: Literal["distinct_id"] | None = None
    concurrency: Whole | None = Field(default=None, ge=1, le=256)
    requests_per_minute: Whole | None = Field(default=None, ge=1, le=60_000)
    batch: BatchFields | None = None


class MappingFields(Body):
    """One mapping, before its parts are validated."""

    name: Text | None = None
    inputs_schema: Any = None
    inputs: Any = None
    filters: Any = None
    disabled: bool | None = None


def read_fields(body: JsonObject) -> SentFields:
    """Validate the shape of a body.

    Returns:
        The fields that were sent, by their stored names, normalized:
        ``{"name": "x", "filters": {"source": "events"}}``.

    Raises:
        Invalid: the first error in field order.
    """
    fields = validate(FunctionFields, body)
    sent = {name: getattr(fields, name) for name in FunctionFields.model_fields}
    sent = {name: value for name, value in sent.items() if name in fields.model_fields_set}
    for name, read in _PARTS.items():
        if name in sent:
            sent[name] = read(sent[name])
    return cast("SentFields", sent)


def _read_inputs(value: Any, attr: str = "inputs") -> InputValues:
    if value is None:
        raise Invalid("This field may not be null.", code="null", attr=attr)
    if not is_object(value):
        raise wrong_type("a dictionary", value, code="not_a_dict", attr=attr)
    return value


def _read_inputs_schema(value: Any) -> list[InputSchema]:
    if value is None:
        raise Invalid("This field may not be null.", code="null", attr="inputs_schema")
    return read_schema(value)


def _read_masking(value: Any) -> MaskingSettings | None:
    if value is None:
        return None
    fields = validate(MaskingFields, value, prefix="masking")
    return cast("MaskingSettings", fields.model_dump(exclude_unset=True))


def _read_retry(value: Any) -> RetrySettings | None:
    if value is None:
        return None
    fields = validate(RetryFields, value, prefix="retry")
    return cast("RetrySettings", fields.model_dump(exclude_unset=True))


def _read_delivery(value: Any) -> DeliverySettings | None:
    if value is None:
        return None
    fields = validate(DeliveryFields, value, prefix="delivery")
    if fields.batch is not None and fields.ordered_by is not None:
        raise Invalid(
            "Ordered events run one at a time: remove delivery.ordered_by or delivery.batch.",
            attr="delivery__batch",
        )
    return cast("DeliverySettings", fields.model_dump(exclude_unset=True))


def _read_mappings(value: Any) -> list[FunctionMapping] | None:
    if value is None:
        return None
    if not is_array(value):
        raise wrong_type("a list", value, code="not_a_list", attr="mappings")
    if len(value) > MAX_MAPPINGS:
        raise Invalid(f"A function can have at most {MAX_MAPPINGS} mappings.", attr="mappings")
    return [_read_mapping(item, f"mappings__{index}") for index, item in enumerate(value)]


def _read_mapping(value: Any, attr: str) -> FunctionMapping:
    fields = validate(MappingFields, value, prefix=attr)
    mapping = cast("FunctionMapping", fields.model_dump(exclude_unset=True))
    if fields.inputs_schema is not None:
        mapping["inputs_schema"] = read_schema(fields.inputs_schema, attr=f"{attr}__inputs_schema")
    if fields.inputs is not None:
        mapping["inputs"] = _read_inputs(fields.inputs, f"{attr}__inputs")
    if "filters" in mapping:
        mapping["filters"] = normalize_filters(fields.filters, prefix=f"{attr}__filters")
    return mapping


_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "inputs_schema": _read_inputs_schema,
    "inputs": _read_inputs,
    "filters": normalize_filters,
    "masking": _read_masking,
    "mappings": _read_mappings,
    "retry": _read_retry,
    "delivery": _read_delivery,
}
