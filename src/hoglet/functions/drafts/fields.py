"""The fields of drafts: which ones a draft may change, and how its secrets are kept. Pure.

A draft stores the fields that differ from the live function, with secrets in plain text, and is
encrypted as a whole. So publishing it does not undo live changes of other fields.
"""

from typing import Any, cast

from hoglet.functions.filters.normalize import without_generated
from hoglet.functions.inputs.secrets import MASK, STORED_SECRET, secret_keys
from hoglet.functions.json_types import (
    FunctionMapping,
    InputSchema,
    InputValues,
    MaskingSettings,
    SentFields,
)
from hoglet.functions.schemas import read_fields
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.errors import Invalid
from hoglet.kit.json import is_object
from hoglet.kit.suggestions import near
from hoglet.web.validation import not_a_dict

DRAFTED = (
    "name",
    "description",
    "hog",
    "inputs_schema",
    "inputs",
    "filters",
    "masking",
    "mappings",
    "icon_url",
    "retry",
    "delivery",
)


def read_draft(draft: Any) -> SentFields:
    """The fields of a draft in a request.

    Raises:
        Invalid: not an object, or a field that drafts do not have; attr is relative to ``draft``.
    """
    if not is_object(draft):
        raise Invalid(not_a_dict(draft), code="not_a_dict", attr="draft")
    for name in draft:
        if name not in DRAFTED:
            detail = f'A draft has no field "{name}".{near(name, DRAFTED)}'
            raise Invalid(detail, attr=f"draft__{name}")
    try:
        return read_fields(draft)
    except Invalid as error:
        raise of_draft(error) from None


def of_draft(error: Invalid) -> Invalid:
    """The error with ``draft__`` prepended to its attr."""
    attr = "draft" if error.attr is None else f"draft__{error.attr}"
    return Invalid(error.detail, code=error.error_code, attr=attr)


def merged(row: HogFunctionRow, earlier: SentFields, sent: SentFields) -> SentFields:
    """The draft after a change; secrets that the request marks as set keep their drafted value."""
    fields: SentFields = {**earlier, **sent}
    if "inputs" in sent:
        schema = fields.get("inputs_schema", row.inputs_schema)
        fields["inputs"] = _with_drafted_secrets(schema, sent["inputs"], earlier.get("inputs"))
    if mappings := sent.get("mappings"):
        before = earlier.get("mappings") or []
        fields["mappings"] = [
            _with_drafted_inputs(mapping, before[index] if index < len(before) else {})
            for index, mapping in enumerate(mappings)
        ]
    return fields


def visible(
    row: HogFunctionRow,
    live_inputs: InputValues,
    live_mappings: list[FunctionMapping] | None,
    draft: SentFields,
) -> SentFields:
    """The complete next version in the form of the API, with secrets masked.

    Args:
        row: the live function.
        live_inputs: its inputs, masked.
        live_mappings: its mappings, with masked inputs.
        draft: the drafted fields.
    """
    live = {"inputs": live_inputs, "mappings": live_mappings}
    current = {name: live.get(name, getattr(row, name)) for name in DRAFTED}
    fields = cast("SentFields", current | {n: v for n, v in draft.items() if n in DRAFTED})
    fields["filters"] = without_generated(fields.get("filters", {}))
    if masking := fields.get("masking"):
        fields["masking"] = cast("MaskingSettings", without_generated({**masking}))
    if "inputs" in draft:
        schema = fields.get("inputs_schema", [])
        fields["inputs"] = _masked(schema, draft["inputs"], live_inputs)
    if mappings := draft.get("mappings"):
        fields["mappings"] = [
            {**mapping, "inputs": _masked(mapping.get("inputs_schema") or [], inputs, {})}
            if (inputs := mapping.get("inputs"))
            else mapping
            for mapping in mappings
        ]
    return fields


def _with_drafted_inputs(mapping: FunctionMapping, before: FunctionMapping) -> FunctionMapping:
    inputs, schema = mapping.get("inputs"), mapping.get("inputs_schema") or []
    if not inputs:
        return mapping
    return {**mapping, "inputs": _with_drafted_secrets(schema, inputs, before.get("inputs"))}


def _with_drafted_secrets(
    schema: list[InputSchema], sent: InputValues, before: InputValues | None
) -> InputValues:
    """The inputs with drafted secrets in place of their marks."""
    inputs, drafted = dict(sent), before or {}
    for key in secret_keys(schema):
        if _is_kept(inputs.get(key)) and not _is_kept(drafted.get(key)):
            inputs[key] = drafted[key]
    return inputs


def _is_kept(entry: Any) -> bool:
    """Whether an entry has no value of its own: it is missing, or marks a value as set."""
    if not is_object(entry):
        return True
    return "value" not in entry or (entry.get("secret") is True and entry["value"] == MASK)


def _masked(schema: list[InputSchema], inputs: InputValues, live: InputValues) -> InputValues:
    """Inputs with ``{"secret": true}`` for every secret that will be set."""
    secret = secret_keys(schema)
    visible = {key: STORED_SECRET if key in secret else entry for key, entry in inputs.items()}
    for key in sorted(secret - inputs.keys()):
        if live.get(key) == STORED_SECRET:
            visible[key] = STORED_SECRET
    return visible
