"""Errors of the definition routes."""

from hoglet.kit.errors import Invalid


def built_in() -> Invalid:
    """The error for changes of a built-in property."""
    return Invalid("Built-in properties cannot be changed or deleted.", attr="id")


def hidden_and_verified() -> Invalid:
    """The error for a definition that is both hidden and verified."""
    return Invalid("A definition cannot be both hidden and verified.", attr="hidden")
