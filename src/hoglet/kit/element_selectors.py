"""CSS-like selectors and tag names as regular expressions over ``elements_chain``.

The chain lists the clicked element first, then its ancestors, separated by ``;``:
``button.primary:attr_id="go"nth-child="1"text="Go";div:nth-child="2"``. Selectors are processed
from the right, because their last part is the clicked element. Patterns are RE2: no look-around.
"""

import itertools
import re

_QUOTED = r'"(?:\\[\s\S]|[^"\\])*"'
_REST = rf'(?:[^;"]|{_QUOTED})*'
_UNTIL_NAME = rf"(?:{_REST}{_QUOTED})?"
"""Matches everything before an attribute's name: another attribute's value, or nothing."""
_ELEMENT_END = r"(?:;|$)"
_PIECE = re.compile(r"""(?:\[(?:"[^"]*"|'[^']*'|[^\]"'])*\]|[^\s>\[])+|>""")
_PART = re.compile(
    r"(?P<tag>\*|[A-Za-z][\w-]*)?"
    r"(?P<rules>(?:\.[\w-]+|#[\w-]+|\[[\w:-]+=(?:\"[^\"]*\"|'[^']*'|[^\]]*)\]"
    r"|:nth-child\(\d+\)|:nth-of-type\(\d+\))*)"
)
_RULE = re.compile(
    r"\.(?P<class>[\w-]+)|#(?P<id>[\w-]+)|\[(?P<name>[\w:-]+)=(?P<value>\"[^\"]*\"|'[^']*'|[^\]]*)\]"
    r"|:(?P<nth>nth-child|nth-of-type)\((?P<position>\d+)\)"
)
MAX_SELECTOR_LENGTH = 1000


class BadSelector(ValueError):
    """A selector that cannot be matched on a chain; the message says why."""


def tag_name_pattern(tag: str) -> str:
    """A pattern for chains that contain an element with this tag."""
    return rf"^(?:{_REST};)*{re.escape(tag)}(?:[.;:]|$)"


def selector_pattern(selector: str) -> str:
    """A pattern for chains that contain an element matching the selector.

    Args:
        selector: ``div.card > button#go[href="/x"]:nth-child(2)``; ``>`` means direct parent.

    Raises:
        BadSelector: the selector uses syntax that cannot be matched on a chain.
    """
    if len(selector) > MAX_SELECTOR_LENGTH:
        raise BadSelector(f"A selector can have at most {MAX_SELECTOR_LENGTH} characters")
    pieces = _PIECE.findall(selector)
    if not pieces:
        raise BadSelector("The selector is empty")
    if _PIECE.sub("", selector).strip():
        raise BadSelector(f'The selector "{selector}" is not supported')
    if ">" in {pieces[0], pieces[-1]} or (">", ">") in itertools.pairwise(pieces):
        raise BadSelector("'>' must be between two elements of the selector")
    pattern = rf"^(?:{_REST};)*"
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
        raise BadSelector(f'The selector part "{piece}" is not supported')
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
    inner = _UNTIL_NAME.join(
        rf'{re.escape(key)}="{re.escape(_escaped(value))}"' for key, value in attributes
    )
    return pattern + rf":{_UNTIL_NAME}{inner}{_REST}"


def _escaped(value: str) -> str:
    """Escape a value as in the chain."""
    return value.replace('"', '\\"')


def _read_rule(rule: re.Match[str], classes: list[str], attributes: list[tuple[str, str]]) -> None:
    if rule["class"]:
        classes.append(rule["class"])
    elif rule["id"]:
        attributes.append(("attr_id", rule["id"]))
    elif rule["name"] == "id":
        attributes.append(("attr_id", _unquoted(rule["value"])))
    elif rule["nth"]:
        attributes.append((rule["nth"], rule["position"]))
    else:
        name = rule["name"] if rule["name"] in {"href", "text"} else f"attr__{rule['name']}"
        attributes.append((name, _unquoted(rule["value"])))
    attributes.sort()  # the chain lists attributes by name


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] in "\"'" and value[0] == value[-1]
    return value[1:-1] if is_quoted else value
