"""Secret inputs: which values a request keeps or replaces, and how they are masked. Pure.

Sent mappings are matched with stored ones, so that each keeps its secrets and number: waiting runs
and dead letters refer to a mapping's number, but in the API mappings have no ids. A mapping is
matched by name and filters, by name alone, or by filters alone, where these are unique; otherwise
by position. Each stored mapping is matched at most once, so the secrets of a removed mapping never
move to another.

Source: docs/spec/hog-functions.md#44-secrets and docs/spec/hog-functions.md#45-mappings.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from hoglet.functions.filters.normalize import without_generated
from hoglet.functions.json_types import (
    FunctionMapping,
    InputSchema,
    InputValues,
    MappingMatcher,
    SecretValues,
    StoredMatcher,
)
from hoglet.kit.errors import Invalid
from hoglet.kit.json import is_object

MASK = "********"
STORED_SECRET = {"secret": True}


def stored_identities(
    stored: Sequence[FunctionMapping], sent: Sequence[FunctionMapping]
) -> dict[int, int]:
    """The stored index of each sent mapping; new ones are omitted.

    Example:
        >>> stored_identities([{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "c"}])
        {0: 1, 1: 0}
        >>> stored_identities([{"name": "a"}, {"name": "b"}], [{"name": "b"}])
        {0: 1}
    """
    identities: dict[int, int] = {}
    for identity in (_by_all, _by_name, _by_filters):
        there = _indexes_by(stored, identity, set(identities.values()))
        here = _indexes_by(sent, identity, set(identities))
        identities |= {here[text]: there[text] for text in here.keys() & there.keys()}
    taken = set(identities.values())
    for index in range(min(len(stored), len(sent))):
        if index not in identities and index not in taken:
            identities[index] = index
    return dict(sorted(identities.items()))


def numbered(
    matchers: Sequence[MappingMatcher],
    stored_matcher: StoredMatcher,
    stored: Sequence[FunctionMapping] | None,
    sent: Sequence[FunctionMapping] | None,
) -> StoredMatcher:
    """The matchers of sent mappings with their numbers, and the next free number.

    Numbers are never reused: a run of a removed mapping must not continue with another mapping.

    Returns:
        ``{"mappings": [{"tree": ..., "events": ..., "number": 1}], "next_number": 2}``
    """
    parts = stored_matcher.get("mappings") or []
    stored_indexes = stored_identities(stored or [], sent or [])
    free = max(len(stored or []), stored_matcher.get("next_number", 0))
    parts_with_numbers: list[MappingMatcher] = []
    for index, matcher in enumerate(matchers):
        if index in stored_indexes:
            number = mapping_number(parts, stored_indexes[index])
        else:
            number, free = free, free + 1
        parts_with_numbers.append({**matcher, "number": number})
    return {"mappings": parts_with_numbers, "next_number": free}


def mapping_number(matchers: Sequence[MappingMatcher], index: int) -> int:
    """The number of a stored mapping; its position if it was saved before numbers existed."""
    return matchers[index].get("number", index) if index < len(matchers) else index


def _indexes_by(
    mappings: Sequence[FunctionMapping],
    identity: Callable[[FunctionMapping], str | None],
    done: set[int],
) -> dict[str, int]:
    """Indexes by a key such as the name, for mappings whose key is unique."""
    texts = {i: identity(mapping) for i, mapping in enumerate(mappings) if i not in done}
    numbers = Counter(texts.values())
    return {text: i for i, text in texts.items() if text is not None and numbers[text] == 1}


def _by_all(mapping: FunctionMapping) -> str | None:
    return json.dumps([mapping.get("name"), _by_filters(mapping)])


def _by_name(mapping: FunctionMapping) -> str | None:
    return mapping.get("name") or None


def _by_filters(mapping: FunctionMapping) -> str | None:
    return json.dumps(without_generated(mapping.get("filters") or {}), sort_keys=True)


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

    A null secret is dropped, because it would look as if it were set.
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
        key: STORED_SECRET if key in secrets else {k: v for k, v in entry.items() if v is not None}
        for key, entry in together
    }
    for item in schema:
        if not item.get("secret") and item["key"] not in visible:
            visible[item["key"]] = None
    return visible
