"""Generates the JavaScript of site functions: source, inputs, filters. Pure.

Source: docs/spec/hog-functions.md#32-compilation,
docs/spec/hog-functions.md#43-templating-and-generated-keys and
docs/spec/hog-functions.md#138-site-functions; docs/spec/hog-language.md#14-javascript.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from hoglet.functions.filters.javascript import for_browsers
from hoglet.functions.json_types import ConditionTree, InputValues
from hoglet.hog.compile import bind_expression
from hoglet.hog.javascript import (
    expression_javascript,
    site_function_javascript,
    template_javascript,
)
from hoglet.hog.javascript.printer import literal
from hoglet.hog.javascript.site import SiteMapping
from hoglet.kit.errors import Invalid, SourceError
from hoglet.kit.json import JsonObject, is_array, is_object
from hoglet.syntax import tree


def site_script(
    source: str,
    inputs: InputValues,
    condition: ConditionTree | None,
    mappings: Sequence[tuple[InputValues, ConditionTree | None, bool]],
) -> str:
    """The script of a site function: a function in parentheses that returns ``{init}``.

    Args:
        source: TypeScript with ``onLoad`` or ``onEvent``.
        inputs: stored inputs without secrets.
        condition: the filter as JSON of the tree; None (it did not compile) never matches.
        mappings: inputs, condition and ``disabled`` of each mapping.

    Raises:
        Invalid: attr ``hog``; the code is not valid TypeScript.
    """
    parts = [
        SiteMapping(inputs=own, filters=_condition(filters), disabled=disabled)
        for own, filters, disabled in mappings
    ]
    try:
        return site_function_javascript(source, inputs, _condition(condition), parts)
    except SourceError as error:
        raise Invalid(f"There is an error in the TypeScript code. {error}", attr="hog") from None


def _condition(stored: ConditionTree | None) -> "tree.Expression":
    if stored is None:
        return tree.Constant(value=False)
    condition: tree.Expression = msgspec.convert(stored, tree.Expression)
    return for_browsers(condition)


def transpile_value(value: Any) -> JsonObject:
    """An input value: ``{"lang": "ts", "code": "concat(...)", "stl": ["concat"]}``.

    Lists and dictionaries keep their shape; every string in them is a template.
    """
    used: dict[str, None] = {}
    return {"lang": "ts", "code": _code(value, used), "stl": list(used)}


def transpile_filter(condition: "tree.Expression") -> JsonObject:
    """A filter, in the form that :func:`transpile_value` returns."""
    printed = expression_javascript(bind_expression(for_browsers(condition)))
    return {"lang": "ts", "code": printed.code, "stl": list(printed.helpers)}


def _code(value: Any, used: dict[str, None]) -> str:
    if isinstance(value, str):
        printed = template_javascript(value)
        used.update(dict.fromkeys(printed.helpers))
        return printed.code
    if is_object(value):
        parts = (f"{literal(str(key))}: {_code(part, used)}" for key, part in value.items())
        return "{" + ", ".join(parts) + "}"
    if is_array(value):
        return "[" + ", ".join(_code(part, used) for part in value) + "]"
    return literal(value)
