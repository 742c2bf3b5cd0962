"""CSS-like selectors and tag names as regular expressions over ``elements_chain``.

The chain lists the clicked element first, then its parents, separated by ``;``:
``button.primary:attr_id="go"nth-child="1"text="Go";div:nth-child="2"``. Selectors are processed
from the right, because the last part is the clicked element. RE2 syntax: no look-around.
"""

import re

from hoglet.functions.errors import FilterRefused

_QUOTED = r'"(?:\\.|[^"\\])*"'
_REST = rf'(?:[^;"]|{_QUOTED})*'
_ELEMENT_END = r"(?:;|$)"
_PART = re.compile(
    r"(?P<tag>\*|[A-Za-z][\w-]*)?"
    r"(?P<rules>(?:\.[\w-]+|#[\w-]+|\[[\w:-]+=(?:\"[^\"]*\"|'[^']*'|[^\]]*)\]"
    r"|:nth-child\(\d+\)|:nth-of-type\(\d+\))*)"
)
_RULE = re.compile(
    r"\.(?P<class>[\w-]+)|#(?P<id>[\w-]+)|\[(?P<name>[\w:-]+)=(?P<value>[^\]]*)\]"
    r"|:(?P<nth>nth-child|nth-of-type)\((?P<position>\d+)\)"
)
MAX_SELECTOR_LENGTH = 1000


def tag_name_pattern(tag: str) -> str:
    """A pattern for chains with an element of this tag."""
    return rf"(^|;){re.escape(tag)}(\.|$|;|:)"


def selector_pattern(selector: str) -> str:
    """A pattern for chains with an element that the selector describes.

    Args:
        selector: ``div.card > button#go[href="/x"]:nth-child(2)``; ``>`` means direct parent.

    Raises:
        FilterRefused: the selector uses syntax that cannot be matched on a chain.
    """
    if len(selector) > MAX_SELECTOR_LENGTH:
        raise FilterRefused(f"A selector can have at most {MAX_SELECTOR_LENGTH} characters")
    pieces = re.sub(r"\s*>\s*", " > ", selector.strip()).split()
    if not pieces:
        raise FilterRefused("The selector is empty")
    pattern = "(?:^|;)"
    for position, piece in enumerate(reversed(pieces)):
        if piece == ">":
            continue
        is_direct = position > 0 and pieces[len(pieces) - position] == ">"
        if position and not is_direct:
            pattern += rf"(?:{_REST};)*"
        pattern += _element(piece) + _ELEMENT_END
    return pattern


def _element(piece: str) -> str:
    match = _PART.fullmatch(piece)
    if match is None or not piece:
        raise FilterRefused(f'The selector part "{piece}" is not supported')
    classes: list[str] = []
    attributes: list[tuple[str, str]] = []
    for rule in _RULE.finditer(match["rules"]):
        _read_rule(rule, classes, attributes)
    tag = match["tag"]
    pattern = re.escape(tag) if tag and tag != "*" else r'[^.:;"]*'
    for name in sorted(classes):
        pattern += rf'(?:\.[^.:;"]+)*\.{re.escape(name)}'
    pattern += r'(?:\.[^.:;"]+)*'
    if not attributes:
        return pattern + rf"(?::{_REST})?"
    inner = _REST.join(rf'{re.escape(key)}="{re.escape(value)}"' for key, value in attributes)
    return pattern + rf":{_REST}{inner}{_REST}"


def _read_rule(rule: re.Match[str], classes: list[str], attributes: list[tuple[str, str]]) -> None:
    if rule["class"]:
        classes.append(rule["class"])
    elif rule["id"]:
        attributes.append(("attr_id", rule["id"]))
    elif rule["name"] == "id":
        attributes.append(("attr_id", rule["value"].strip("\"'")))
    elif rule["nth"]:
        attributes.append((rule["nth"], rule["position"]))
    else:
        name = rule["name"] if rule["name"] in {"href", "text"} else f"attr__{rule['name']}"
        attributes.append((name, rule["value"].strip("\"'")))
    attributes.sort()  # the chain lists attributes by name
