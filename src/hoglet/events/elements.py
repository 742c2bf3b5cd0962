"""The elements of an autocaptured event as ``elements_chain``. Pure.

Source: docs/spec/data-and-queries.md#77-elements--elements_chain
"""

from typing import Any

MAX_TEXT_LENGTH = 400
MAX_HREF_LENGTH = 2048
_ATTRIBUTE = "attr__"


def chain_elements(properties: dict[str, Any]) -> None:
    """Replace a list in ``$elements`` by its ``$elements_chain``; a chain that was sent wins."""
    elements = properties.get("$elements")
    if not isinstance(elements, list):
        return
    del properties["$elements"]
    sent = properties.get("$elements_chain")
    if not isinstance(sent, str) or not sent:
        properties["$elements_chain"] = elements_chain(elements)


def chain_of(properties: dict[str, Any]) -> str:
    """The chain that :func:`chain_elements` would leave, or an empty text; changes nothing."""
    sent, elements = properties.get("$elements_chain"), properties.get("$elements")
    if isinstance(sent, str) and sent:
        return sent
    return elements_chain(elements) if isinstance(elements, list) else ""


def elements_chain(elements: list[Any]) -> str:
    """A list of elements as one text.

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
    found = {
        "text": _text(element.get("$el_text"))[:MAX_TEXT_LENGTH],
        "href": _text(element.get("attr__href"))[:MAX_HREF_LENGTH],
        "attr_id": _text(element.get("attr__id")),
    }
    found = {key: value for key, value in found.items() if value}
    found["nth-child"] = _text(element.get("nth_child")) or "0"
    found["nth-of-type"] = _text(element.get("nth_of_type")) or "0"
    for key, value in element.items():
        if key.startswith(_ATTRIBUTE) and value is not None:
            found[key] = _text(value)
    return found


def _text(value: Any) -> str:
    """An attribute as text; a list is joined by blanks."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(_text(item) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else ""


def _escape(text: str) -> str:
    return text.replace('"', '\\"')
