"""Parses integers in the query string; errors have an ``error`` key (5.8 row 6)."""

from starlette.requests import Request

from hoglet.endpoints.errors import bad_parameter
from hoglet.endpoints.versions.aliases import is_alias

_DIGITS = 18


def read_version(request: Request) -> int | str | None:
    """``?version=n`` or an alias; None if missing or empty.

    Raises:
        Invalid: it is neither; with ``error``.
    """
    text = request.query_params.get("version")
    if text is None or not text.strip():
        return None
    version = version_of(text.strip())
    return read_number(request, "version") if version is None else version


def version_of(text: str) -> int | str | None:
    """A version number or a possible alias; None for anything else.

    Example:
        >>> version_of("2"), version_of("prod"), version_of("1.5")
        (2, 'prod', None)
    """
    if text.isascii() and text.isdecimal() and len(text) <= _DIGITS:
        return int(text)
    return text if is_alias(text) else None


def read_number(request: Request, name: str, *, least: int | None = None) -> int | None:
    """An integer in the query string, None if missing or empty.

    Raises:
        Invalid: not an integer, or below ``least``; with ``error``.
    """
    text = request.query_params.get(name)
    if text is None or not text.strip():
        return None
    digits = text.strip()
    unsigned = digits.removeprefix("-")
    if not (unsigned.isascii() and unsigned.isdecimal() and len(unsigned) <= _DIGITS):
        raise bad_parameter(name, text)
    number = int(digits)
    if least is not None and number < least:
        raise bad_parameter(name, text)
    return number
