"""The fields of drafts: which a draft may change, and how its secrets are kept. Pure.

A draft stores the fields that differ from the live function, with secrets in plain text, and is
encrypted as a whole. Live changes of other fields are therefore not undone by publishing it.
"""

from typing import Any

from hoglet.functions.filters.normalize import GENERATED
from hoglet.functions.inputs.secrets import MASK, SHOWN, secret_keys
from hoglet.functions.schemas import read_fields
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.errors import Invalid
from hoglet.kit.json_values import array_at, is_object, object_at
from hoglet.kit.suggestions import near
from hoglet.web.validation import not_a_dict

type Fields = dict[str, Any]

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


def read_draft(draft: Any) -> Fields:
    """The fields of a draft in a request.

    Raises:
        Invalid: not an object, or a field that drafts do not have; attr is that in ``draft``.
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
    """The error with ``draft__`` before its attr."""
    attr = "draft" if error.attr is None else f"draft__{error.attr}"
    return Invalid(error.detail, code=error.error_code, attr=attr)


def merged(row: HogFunctionRow, earlier: Fields, sent: Fields) -> Fields:
    """The draft after a change; secrets that the request marks as set keep their drafted value."""
    fields = {**earlier, **sent}
    schema = fields.get("inputs_schema", row.inputs_schema)
    if "inputs" in sent:
        fields["inputs"] = _with_drafted_secrets(
            schema, sent["inputs"], object_at(earlier, "inputs")
        )
    if sent.get("mappings"):
        before: list[Fields] = array_at(earlier, "mappings")
        fields["mappings"] = [
            _mapping(mapping, before[index] if index < len(before) else {})
            for index, mapping in enumerate(sent["mappings"])
        ]
    return fields


def visible(row: HogFunctionRow, live: Fields, draft: Fields) -> Fields:
    """The complete next version in the form of the API, with secrets masked.

    Args:
        row: the live function.
        live: its masked ``inputs`` and ``mappings``.
        draft: the drafted fields.
    """
    fields = {name: draft.get(name, live.get(name, getattr(row, name))) for name in DRAFTED}
    fields["filters"] = _without_generated(fields["filters"])
    if fields["masking"]:
        fields["masking"] = _without_generated(fields["masking"])
    if "inputs" in draft:
        fields["inputs"] = _masked(fields["inputs_schema"], draft["inputs"], live["inputs"])
    if draft.get("mappings"):
        fields["mappings"] = [
            mapping | {"inputs": _masked(array_at(mapping, "inputs_schema"), mapping["inputs"], {})}
            if mapping.get("inputs")
            else mapping
            for mapping in draft["mappings"]
        ]
    return fields


def _mapping(mapping: Fields, before: Fields) -> Fields:
    if not mapping.get("inputs"):
        return mapping
    schema = array_at(mapping, "inputs_schema")
    return mapping | {
        "inputs": _with_drafted_secrets(schema, mapping["inputs"], object_at(before, "inputs"))
    }


def _with_drafted_secrets(schema: list[Fields], sent: Fields, before: Fields) -> Fields:
    """The inputs with drafted secrets in place of their marks."""
    inputs = dict(sent)
    for key in secret_keys(schema):
        if _is_kept(inputs.get(key)) and not _is_kept(before.get(key)):
            inputs[key] = before[key]
    return inputs


def _is_kept(entry: Any) -> bool:
    """Whether an entry has no value of its own: it is missing, or marks a value as set."""
    if not is_object(entry):
        return True
    return "value" not in entry or (entry.get("secret") is True and entry["value"] == MASK)


def _masked(schema: list[Fields], inputs: Fields, live: Fields) -> Fields:
    """Inputs with every secret that will be set as ``{"secret": true}``."""
    secret = secret_keys(schema)
    visible = {key: SHOWN if key in secret else entry for key, entry in inputs.items()}
    for key in sorted(secret - inputs.keys()):
        if live.get(key) == SHOWN:
            visible[key] = SHOWN
    return visible


def _without_generated(part: Fields) -> Fields:
    return {name: value for name, value in part.items() if name not in GENERATED}
