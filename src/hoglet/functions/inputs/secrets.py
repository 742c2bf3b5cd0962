"""Secret inputs: which values a request keeps or replaces, and how they are masked.

Source: docs/spec/hog-functions.md#44-secrets.
"""

from typing import Any

from hoglet.functions.json_types import InputSchema, InputValues, SecretValues
from hoglet.kit.errors import Invalid
from hoglet.kit.json_values import is_object

MASK = "********"
SHOWN = {"secret": True}


def secret_keys(schema: list[InputSchema]) -> set[str]:
    """The keys of secret inputs."""
    return {item["key"] for item in schema if item.get("secret")}


def merge_secrets(
    schema: list[InputSchema],
    inputs: InputValues,
    stored: SecretValues,
    *,
    attr: str = "inputs",
) -> InputValues:
    """The inputs with kept secrets filled in from storage.

    Args:
        schema: the ``inputs_schema`` after the change.
        inputs: the inputs in the request.
        stored: decrypted secrets, ``{"token": {"value": "x", "bytecode": [...]}}``.
        attr: prefix of errors.

    Raises:
        Invalid: a secret to be kept is not stored, or the mask itself would be stored.
    """
    merged = dict(inputs)
    for key in secret_keys(schema):
        sent = inputs.get(key)
        if _keeps(sent):
            _keep(merged, key, stored, is_marked=_is_marked(sent), attr=attr)
        elif is_object(sent) and _is_mask(sent.get("value")):
            raise _enter_again(f"{attr}__{key}")
    return merged


def _keeps(sent: Any) -> bool:
    """Whether the stored value is kept: only a value that is not a mask replaces it."""
    if sent is None:
        return True
    if not is_object(sent):
        return False
    return "value" not in sent or (_is_marked(sent) and _is_mask(sent["value"]))


def _is_marked(sent: Any) -> bool:
    """Whether the request marks a value as already set."""
    return is_object(sent) and sent.get("secret") is True


def _keep(
    merged: InputValues, key: str, stored: SecretValues, *, is_marked: bool, attr: str
) -> None:
    if key in stored:
        merged[key] = stored[key]
    elif is_marked:
        raise _enter_again(f"{attr}__{key}")
    else:
        merged.pop(key, None)


def _is_mask(value: Any) -> bool:
    return value == MASK


def _enter_again(attr: str) -> Invalid:
    return Invalid("Please enter the value of this secret again.", attr=attr)


def split_secrets(
    schema: list[InputSchema], inputs: InputValues
) -> tuple[InputValues, SecretValues]:
    """Split compiled inputs into ``(plain, secret)``; only the second may contain secret values.

    A null secret is dropped; it would look as if it were set.
    """
    secret = secret_keys(schema)
    plain = {key: entry for key, entry in inputs.items() if key not in secret}
    hidden = {key: entry for key, entry in inputs.items() if key in secret}
    return plain, {key: entry for key, entry in hidden.items() if entry.get("value") is not None}


def visible_inputs(
    schema: list[InputSchema], inputs: InputValues, secrets: SecretValues
) -> InputValues:
    """The inputs in the form of the API: in order, secrets masked, null members dropped.

    Returns:
        ``{"url": {"value": "x", "order": 0}, "token": {"secret": True}, "unset": None}``.
    """
    together = sorted([*inputs.items(), *secrets.items()], key=lambda pair: pair[1].get("order", 0))
    visible: InputValues = {
        key: SHOWN if key in secrets else {k: v for k, v in entry.items() if v is not None}
        for key, entry in together
    }
    for item in schema:
        if not item.get("secret") and item["key"] not in visible:
            visible[item["key"]] = None
    return visible
