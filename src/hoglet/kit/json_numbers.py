"""Hooks for ``json.loads`` that read JSON numbers beyond the range of doubles. Pure.

| written | read as |
|---|---|
| an integer of at most 64 bits | exactly |
| a longer integer | the nearest double |
| a number beyond the range of doubles (``1e400``, 400 digits) | its text: ``"1e400"`` |

orjson rejects the last kind. As text it loses nothing: queries can read it, and because it does not
convert to a number, it cannot break sums.
"""

import math
import re
from typing import Final

_SURELY_FITS = 18  # digits and sign
_LONGEST = 20  # digits and sign of 64 bits; Python refuses to convert more than 4300 digits
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def read_integer(text: str) -> int | float | str:
    """Parse an integer; ``parse_int`` of ``json.loads``.

    Example:
        >>> read_integer("18446744073709551615"), read_integer("18446744073709551616")
        (18446744073709551615, 1.8446744073709552e+19)
    """
    if len(text) <= _SURELY_FITS:
        return int(text)
    if len(text) > _LONGEST or not fits_64_bits(int(text)):
        return read_float(text)
    return int(text)


def read_float(text: str) -> float | str:
    """Parse a double, or return the text if it is out of range; ``parse_float`` of ``json.loads``.

    Example:
        >>> read_float("1e5"), read_float("1e400")
        (100000.0, '1e400')
    """
    number = float(text)
    return number if -math.inf < number < math.inf else text


def read_number(text: str) -> int | float | str | None:
    """Parse a text that is a number in JSON; None if it is not.

    Example:
        >>> read_number("-1"), read_number("1.5"), read_number("007"), read_number("nan")
        (-1, 1.5, None, None)
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    return read_float(text) if match[1] or match[2] else read_integer(text)


def fits_64_bits(number: int) -> bool:
    """Whether an integer has at most 64 bits, so that every parser reads it exactly."""
    return -(2**63) <= number < 2**64
