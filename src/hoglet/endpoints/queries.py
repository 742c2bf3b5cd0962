"""Numbers in the query string, refused with an ``error`` key when they are none (5.8 row 6)."""

from starlette.requests import Request

from hoglet.endpoints.errors import bad_parameter

_DIGITS = 18


def read_version(request: Request) -> int | None:
    """``?version=n``, None when it is not there or empty."""
    return read_number(request, "version")


def read_number(request: Request, name: str, *, least: int | None = None) -> int | None:
    """A whole number of the query string, None when it is not there or empty.

    Raises:
        Invalid: not a whole number, or below ``least``; with ``error``.
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
