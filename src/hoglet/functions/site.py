"""JavaScript of site functions: their source, their inputs, their filters. Pure.

Source: spec/hog-functions.md sections 3.2, 4.3 and 13.8; hog-language.md section 14.
"""

from typing import Any

from hoglet.hog.compile import bind_expression
from hoglet.kit.errors import Invalid, SourceError
from hoglet.syntax import tree


def transpile_source(source: str) -> str:
    """The JavaScript of a site function written in TypeScript.

    Raises:
        Invalid: attr ``hog``; the code is not TypeScript.
    """
    from hoglet.hog.javascript import transpile_site_source

    try:
        return transpile_site_source(source)
    except SourceError as error:
        raise Invalid(f"There is an error in the TypeScript code. {error}", attr="hog") from None


def transpile_value(value: Any) -> dict[str, Any]:
    """An input value: ``{"lang": "ts", "code": "concat(...)", "stl": ["concat"]}``.

    Lists and dictionaries keep their shape; each text in them is a template.
    """
    used: dict[str, None] = {}
    return {"lang": "ts", "code": _code(value, used), "stl": list(used)}


def transpile_filter(condition: "tree.Expression") -> dict[str, Any]:
    """A filter, in the same form."""
    from hoglet.hog.javascript import expression_javascript

    printed = expression_javascript(bind_expression(condition))
    return {"lang": "ts", "code": printed.code, "stl": list(printed.helpers)}


def _code(value: Any, used: dict[str, None]) -> str:
    from hoglet.hog.javascript import template_javascript
    from hoglet.hog.javascript.printer import literal

    if isinstance(value, str):
        printed = template_javascript(value)
        used.update(dict.fromkeys(printed.helpers))
        return printed.code
    if isinstance(value, dict):
        parts = (f"{literal(str(key))}: {_code(part, used)}" for key, part in value.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_code(part, used) for part in value) + "]"
    return literal(value)
