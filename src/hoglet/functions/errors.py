"""Errors of hog functions beyond those of ``hoglet.kit.errors``."""

from hoglet.kit.errors import HogletError, Invalid


class FilterRefused(HogletError):
    """A filter that cannot be compiled.

    Becomes ``bytecode_error``, or a 400 if the function runs.

    Source: docs/spec/hog-functions.md#55-bytecode_error.
    """

    code = "invalid_input"
    blame = "author"


def wrong_type(expected: str, value: object, *, code: str, attr: str | None) -> Invalid:
    """The specified message for a value that is not a list or dictionary.

    Example:
        >>> wrong_type("a list", "x", code="not_a_list", attr="mappings").detail
        'Expected a list of items but got type "str".'
    """
    kind = type(value).__name__
    return Invalid(f'Expected {expected} of items but got type "{kind}".', code=code, attr=attr)
