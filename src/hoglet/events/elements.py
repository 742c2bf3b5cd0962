"""Converts the elements of autocapture events to ``elements_chain``. Pure.

Source: docs/spec/data-and-queries.md#77-elements--elements_chain
"""

import re
from typing import Any

MAX_TEXT_LENGTH = 400
MAX_HREF_LENGTH = 2048
_ATTRIBUTE = "attr__"


def chain_elements(properties: dict[str, Any]) -> None:
    """Replace a list in ``$elements`` by ``$elements_chain``, unless that is set."""
    elements = properties.get("$elements")
    if not isinstance(elements, list):
        return
    del properties["$elements"]
    sent = properties.get("$elements_chain")
    if not isinstance(sent, str) or not sent:
        properties["$elements_chain"] = elements_chain(elements)


def chain_of(properties: dict[str, Any]) -> str:
    """The chain that :func:`chain_elements` would produce, or ""; without side effects."""
    sent, elements = properties.get("$elements_chain"), properties.get("$elements")
    if isinstance(sent, str) and sent:
        return sent
    return elements_chain(elements) if isinstance(elements, list) else ""


def elements_chain(elements: list[Any]) -> str:
    """A list of elements as a chain.

    Example:
        >>> elements_chain([{"tag_name": "a", "$el_text": "Go", "attr__class": "b a"}])
        'a.a.b:attr__class="b a"nth-child="0"nth-of-type="0"text="Go"'
    """
    return ";".join(_element(element) for element in elements if isinstance(element, dict))


def _element(element: dict[str, Any]) -> str:
    classes = "".join(f".{name.replace(chr(34), '')}" for name in sorted(_classes(element)))
    attributes = "".join(
        f'{_escape(key)}="{_escape(value)}"' for key, value in sorted(_attributes(element).items())
    )
    return f"{_text(element.get('tag_name'))}{classes}:{attributes}"


def _classes(element: dict[str, Any]) -> list[str]:
    given = element.get("attr__class")
    if isinstance(given, list):
        return [name for each in given for name in _text(each).split()]
    return _text(given).split()


def _attributes(element: dict[str, Any]) -> dict[str, str]:
    attributes = {
        "text": _text(element.get("$el_text"))[:MAX_TEXT_LENGTH],
        "href": _text(element.get("attr__href"))[:MAX_HREF_LENGTH],
        "attr_id": _text(element.get("attr__id")),
    }
    attributes = {key: value for key, value in attributes.items() if value}
    attributes["nth-child"] = _text(element.get("nth_child")) or "0"
    attributes["nth-of-type"] = _text(element.get("nth_of_type")) or "0"
    for key, value in element.items():
        if key.startswith(_ATTRIBUTE) and value is not None:
            attributes[key] = _text(value)
    return attributes


def _text(value: Any) -> str:
    """An attribute as text; lists are joined by spaces."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else ""


def _escape(text: str) -> str:
    return text.replace('"', '\\"')


_PART = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<end>;)|(?P<plain>[^";]+|")', re.DOTALL)
_ATTRIBUTES = re.compile(r'(?P<key>[^"=]*?)="(?P<value>(?:[^"\\]|\\.)*)"', re.DOTALL)
_OWN_KEYS = ("text", "href", "attr_id", "nth-child", "nth-of-type")


def read_chain(chain: str) -> list[dict[str, Any]]:
    """The elements of a chain, in the form of the events API.

    Example:
        >>> read_chain('a.b:href="/x"nth-child="2"nth-of-type="1"text="Go"')[0]["tag_name"]
        'a'
    """
    elements: list[dict[str, Any]] = []
    current = ""
    for part in _PART.finditer(chain):
        if part["end"]:
            elements.append(_read_element(current, len(elements)))
            current = ""
        else:
            current += part[0]
    return [*elements, _read_element(current, len(elements))] if current else elements


def _read_element(text: str, order: int) -> dict[str, Any]:
    head, _, rest = text.partition(":")
    tag, *classes = head.split(".")
    attributes = {each["key"]: _unescaped(each["value"]) for each in _ATTRIBUTES.finditer(rest)}
    return {
        "text": attributes.get("text"),
        "tag_name": tag,
        "attr_class": [name for name in classes if name] or None,
        "href": attributes.get("href"),
        "attr_id": attributes.get("attr_id"),
        "nth_child": _number(attributes.get("nth-child")),
        "nth_of_type": _number(attributes.get("nth-of-type")),
        "attributes": {key: value for key, value in attributes.items() if key not in _OWN_KEYS},
        "order": order,
    }


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"')


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
