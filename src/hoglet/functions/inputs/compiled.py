"""Validates the inputs of a function and compiles the templates in them.

Works in one pass in schema order, so that the first error in the schema is reported.

Source: docs/spec/hog-functions.md#42-value-validation and
docs/spec/hog-functions.md#43-templating-and-generated-keys.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.functions import types
from hoglet.functions.compile.hog import CompiledTemplate, liquid_references, read_template
from hoglet.functions.compile.site import transpile_value
from hoglet.functions.inputs.types import COMPILED_TYPES
from hoglet.functions.inputs.values import REQUIRED, check_value
from hoglet.functions.json_types import InputSchema, InputValue, InputValues
from hoglet.hog.stdlib.table import STL
from hoglet.kit.errors import Invalid, SourceError
from hoglet.kit.json import is_array, is_object

EMAIL_TYPES = frozenset({"email", "native_email"})
_GLOBALS = {
    types.TRANSFORMATION: ("project", "event", "inputs"),
    types.TRANSFORMATION_LOG: ("project", "record", "inputs"),
}
TRANSFORMATION_HELPERS = frozenset(
    {"geoipLookup", "cleanNullValues", "isKnownBotUserAgent", "isKnownBotIp", "parseUserAgent"}
)
_ACTIONS = frozenset({"fetch", "postHogCapture", "sendEmail"})
_ENTRY_KEYS = ("value", "templating")


class InputRules(msgspec.Struct, frozen=True, kw_only=True):
    """How inputs are compiled.

    Attributes:
        function_type: docs/spec/hog-functions.md#31-types.
        source: ``filters.source``; warehouse sources provide ``record``.
        attr: prefix of errors, ``inputs`` or ``mappings__0__inputs``.
        with_defaults: store defaults of optional items too (mappings).
    """

    function_type: str
    source: str = "events"
    attr: str = "inputs"
    with_defaults: bool = False


def compile_inputs(
    schema: list[InputSchema], inputs: InputValues, rules: InputRules
) -> InputValues:
    """Validate and compile all inputs.

    Args:
        schema: stored ``inputs_schema``.
        inputs: ``{"url": {"value": "https://…"}}``, with plain-text secrets; keys that are not in
            the schema are dropped.
        rules: see :class:`InputRules`.

    Returns:
        The inputs as stored, in evaluation order:
        ``{"url": {"value": "x", "bytecode": ["_H", 1, 32, "x"], "order": 0}}``.

    Raises:
        Invalid: the first error, attr ``inputs__<key>`` (``inputs`` for circular references).
    """
    compiled: dict[str, InputValue] = {}
    references: dict[str, set[str]] = {}
    for item in schema:
        key = item["key"]
        entry = _entry(item, inputs, rules)
        if entry is not None:
            compiled[key], references[key] = _compile_entry(item, entry, rules)
    order = evaluation_order(list(compiled), references, attr=rules.attr)
    return {key: compiled[key] | {"order": position} for position, key in enumerate(order)}


def _entry(item: InputSchema, inputs: InputValues, rules: InputRules) -> InputValue | None:
    """The input object to store, or None if the key has no value."""
    key, default = item["key"], item.get("default")
    attr = f"{rules.attr}__{key}"
    sent = inputs.get(key)
    if sent is not None and not is_object(sent):
        detail = f'Expected a dictionary of items but got type "{type(sent).__name__}".'
        raise Invalid(detail, code="not_a_dict", attr=attr)
    entry = None if sent is None else {name: sent[name] for name in _ENTRY_KEYS if name in sent}
    fills_in = default is not None and (item.get("required") or rules.with_defaults)
    if fills_in and (not entry or "value" not in entry):
        entry = (entry or {}) | {"value": default}
    if item.get("required") and (entry is None or entry.get("value") in (None, "")):
        raise Invalid(REQUIRED, attr=attr)
    return entry


def _compile_entry(
    item: InputSchema, entry: InputValue, rules: InputRules
) -> tuple[InputValue, set[str]]:
    attr = f"{rules.attr}__{item['key']}"
    templating = _templating(item, entry, attr)
    value = entry.get("value")
    if value:
        check_value(item, value, templating=templating, attr=attr)
    stored = {"value": _with_design(item, value)} if "value" in entry else {}
    if templating and _shows_templating(item, entry):
        stored["templating"] = templating
    if not value or templating is None or item["type"] not in COMPILED_TYPES:
        return stored, set()
    if templating == "liquid":
        return stored, _liquid_references(value)
    return _with_code(stored, item, rules, attr)


def _templating(item: InputSchema, entry: InputValue, attr: str) -> str | None:
    """``hog``, ``liquid``, or None if the schema disables templates."""
    own = entry.get("templating")
    if own is not None and own not in ("hog", "liquid"):
        detail = f'"{own}" is not a valid choice.'
        raise Invalid(detail, code="invalid_choice", attr=f"{attr}__templating")
    language = item.get("templating")
    if language is False:
        return None
    if language is True:
        return "hog"
    return language or own or "hog"


def _shows_templating(item: InputSchema, entry: InputValue) -> bool:
    return bool(item.get("templating")) or bool(entry.get("templating"))


def _with_design(item: InputSchema, value: Any) -> Any:
    if item["type"] not in EMAIL_TYPES or not is_object(value):
        return value
    if value.get("html") and not value.get("design"):
        return value | {"design": {"html": value["html"]}}
    return value


def _with_code(
    stored: InputValue, item: InputSchema, rules: InputRules, attr: str
) -> tuple[InputValue, set[str]]:
    value = stored["value"]
    if item["type"] in EMAIL_TYPES and is_object(value):
        value = {name: part for name, part in value.items() if name != "design"}
    templates: list[CompiledTemplate] = []
    bytecode = _mirror(value, templates, rules, attr)
    roots = set[str]().union(*(template.roots for template in templates))
    roots |= _ACTIONS & set[str]().union(*(template.calls for template in templates))
    references = set[str]().union(*(template.references for template in templates))
    allowed = _GLOBALS.get(rules.function_type)
    if allowed is not None:
        _refuse_foreign_globals(roots, allowed, attr)
    if rules.function_type in types.SITE:
        return stored | {"transpiled": transpile_value(value)}, references
    return stored | {"bytecode": bytecode}, references


def _mirror(value: Any, templates: list[CompiledTemplate], rules: InputRules, attr: str) -> Any:
    """A value of the same shape, with each string replaced by its bytecode."""
    if isinstance(value, str):
        template = _template(value, rules, attr)
        templates.append(template)
        return template.bytecode
    if is_object(value):
        return {key: _mirror(part, templates, rules, attr) for key, part in value.items()}
    if is_array(value):
        return [_mirror(part, templates, rules, attr) for part in value]
    return value


def _template(text: str, rules: InputRules, attr: str) -> CompiledTemplate:
    try:
        return read_template(text, with_record=rules.source.startswith("data-warehouse"))
    except SourceError as error:
        advice = (
            "Templates use single braces, such as {event.event}, not double ones. "
            if "{{" in text
            else ""
        )
        raise Invalid(f"{advice}The template does not compile. {error.advice}", attr=attr) from None


def _refuse_foreign_globals(roots: set[str], allowed: tuple[str, ...], attr: str) -> None:
    foreign = sorted(roots - set(allowed) - TRANSFORMATION_HELPERS - library_names())
    if foreign:
        raise Invalid(
            f"Transformations cannot read {', '.join(foreign)}. "
            f"The available globals are {', '.join(allowed[:-1])} and {allowed[-1]}.",
            attr=attr,
        )


def library_names() -> frozenset[str]:
    """The names of the standard library."""
    return frozenset(STL)


def _liquid_references(value: Any) -> set[str]:
    if isinstance(value, str):
        return liquid_references(value)
    if is_object(value):
        value = list(value.values())
    if is_array(value):
        return set[str]().union(*(_liquid_references(part) for part in value))
    return set()


def evaluation_order(
    keys: Sequence[str], references: Mapping[str, set[str]], *, attr: str = "inputs"
) -> list[str]:
    """Sort inputs by their references; otherwise in the order of ``keys``.

    Args:
        keys: the inputs, in schema order.
        references: for each key, the keys its templates read; unknown ones are ignored.
        attr: the field of the error.

    Raises:
        Invalid: the references are circular.

    Example:
        >>> evaluation_order(["a", "b"], {"a": {"b"}})
        ['b', 'a']
    """
    waiting = {key: references.get(key, set()) & set(keys) for key in keys}
    ordered: list[str] = []
    while waiting:
        ready = next((key for key in keys if key in waiting and not waiting[key]), None)
        if ready is None:
            names = ", ".join(waiting)
            raise Invalid(f"Circular dependency between the inputs: {names}.", attr=attr)
        del waiting[ready]
        ordered.append(ready)
        for needed in waiting.values():
            needed.discard(ready)
    return ordered
