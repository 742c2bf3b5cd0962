"""Hints for names that other languages have and Hog does not.

They parse as ordinary names, so they fail only when the program runs.
"""

from hoglet.syntax import tree

_FUNCTION = "A function is written `fun f(x) { ... }`, one without a name `x -> { ... }`"
_WAITS = "Nothing is asynchronous: `fetch` waits for its response"
_NULL = "Write `null`"
_INSTEAD = {
    "undefined": _NULL,
    "None": _NULL,
    "nil": _NULL,
    "True": "Write `true`",
    "False": "Write `false`",
    "function": _FUNCTION,
    "def": _FUNCTION,
    "const": "Write `let`",
    "var": "Write `let`",
    "async": _WAITS,
    "await": _WAITS,
    "import": "Hog has no imports",
    "export": "Hog has no exports",
    "require": "Hog has no imports",
    "console": "Write `print(...)`",
    "Math": "Write `round(x)`, `floor(x)`, `min2(x, y)` or `max2(x, y)`",
    "JSON": "Write `jsonParse(text)` or `jsonStringify(x)`",
    "Date": "Write `now()` or `toDateTime(text)`",
    "Object": "Write `keys(x)` or `values(x)`",
    "elif": "Write `else if`",
    "elseif": "Write `else if`",
    "foreach": "Write `for (let x in list) { ... }`",
}


def hint_for_name(node: tree.Node, name: str) -> str | None:
    """What to write instead of an unknown name of another language, or of text in double quotes.

    Args:
        node: the name as written.
        name: without its quotes.
    """
    if name in _INSTEAD:
        return _INSTEAD[name]
    if not _is_quoted(node, name):
        return None
    if "${" in name:
        return "A template is written f'{name}'"
    return f"Strings use single quotes: '{name}'"


def _is_quoted(node: tree.Node, name: str) -> bool:
    if not isinstance(node, tree.Field) or node.start is None or node.end is None:
        return False
    return node.end.offset - node.start.offset > len(name) and len(node.chain) == 1
