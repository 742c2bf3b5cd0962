"""Reads JSON numbers that a double cannot hold: hooks for ``json.loads``. Pure.

| written | read as |
|---|---|
| an integer of at most 64 bits | exactly |
| a longer integer | the nearest double |
| a number beyond the doubles (``1e400``, 400 digits) | its text: ``"1e400"`` |

orjson refuses the last. As text nothing of it is lost: it does not convert to a number, so that it
breaks no sum, and queries can read it.
"""

import math
import re
from typing import Final

_SURELY_FITS = 18  # digits and sign
_LONGEST = 20  # digits and sign of 64 bits; Python refuses to convert more than 4300 digits
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def read_integer(text: str) -> int | float | str:
    """The integer in a text of digits; ``parse_int`` of ``json.loads``.

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
    """The double in a text, or the text if it is beyond them; ``parse_float`` of ``json.loads``.

    Example:
        >>> read_float("1e5"), read_float("1e400")
        (100000.0, '1e400')
    """
    number = float(text)
    return number if -math.inf < number < math.inf else text


def read_number(text: str) -> int | float | str | None:
    """The number in a text that is one in JSON, else None.

    Example:
        >>> read_number("-1"), read_number("1.5"), read_number("007"), read_number("nan")
        (-1, 1.5, None, None)
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    return read_float(text) if found[1] or found[2] else read_integer(text)


def fits_64_bits(number: int) -> bool:
    """Whether every parser reads an integer exactly."""
    return -(2**63) <= number < 2**64
