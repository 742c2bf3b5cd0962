"""What the definition routes refuse."""

from hoglet.kit.errors import Invalid


def built_in() -> Invalid:
    """A property that hoglet computes itself cannot be changed."""
    return Invalid("Built-in properties cannot be changed or deleted.", attr="id")


def hidden_and_verified() -> Invalid:
    """A definition is hidden or verified, never both."""
    return Invalid("A definition cannot be hidden and verified at once.", attr="hidden")
