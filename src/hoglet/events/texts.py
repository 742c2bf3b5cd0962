"""Texts that every part of hoglet can store and read again, whatever was sent or made."""

from typing import Any


def id_text(value: Any) -> str:
    """An id as text, numbers and booleans as JSON writes them; ``""`` for anything else.

    Example:
        >>> id_text(12345678)
        '12345678'
    """
    if type(value) is str:
        return sanitize(value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if type(value) is int else ""


def sanitize(text: str) -> str:
    """PostgreSQL's text holds no NUL."""
    return text.replace("\0", "�") if "\0" in text else text
