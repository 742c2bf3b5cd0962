"""Text that every database can store, whatever was sent."""

from typing import Any


def id_text(value: Any) -> str:
    """An id as text, numbers and booleans as in JSON; ``""`` for anything else.

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
    """Remove NUL characters, which PostgreSQL rejects."""
    return text.replace("\0", "�") if "\0" in text else text
