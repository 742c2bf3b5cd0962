"""Generates identifiers."""

import os
import time
import uuid

_VERSION_7 = 0x7 << 76
_VARIANT = 0x2 << 62


def new_id() -> uuid.UUID:
    """A version 7 UUID: 48 bits of milliseconds, then random bits; sorts by creation time.

    Example:
        >>> new_id().version
        7
    """
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    high = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | _VERSION_7 | ((random >> 62) & 0xFFF) << 64
    return uuid.UUID(int=high | _VARIANT | random & 0x3FFF_FFFF_FFFF_FFFF)
