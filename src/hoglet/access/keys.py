"""Generates API keys.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits;
docs/spec/query-endpoints.md#6-errors-keys-limits.
"""

import secrets
import string
from typing import Literal

import msgspec

from hoglet.access.repository import hash_key

SECRET_PREFIX = "phs_"  # noqa: S105 (a prefix, not a secret)
TOKEN_PREFIX = "phc_"  # noqa: S105 (a prefix, not a secret)
_BASE62 = string.ascii_letters + string.digits
_CHARACTERS = 43  # 62**43 > 2**256


class NewKey(msgspec.Struct, frozen=True):
    """A generated key; ``value`` is shown once and never stored."""

    value: str
    mask: str
    hash: str


def make_key(prefix: Literal["phx_", "phs_"], value: str | None = None) -> NewKey:
    """Generate a key, or split a given one into its parts."""
    value = value or prefix + random_text()
    return NewKey(value=value, mask=mask(value), hash=hash_key(value))


def make_project_token() -> str:
    """Generate a public project token, ``phc_…``."""
    return TOKEN_PREFIX + random_text()


def random_text() -> str:
    """256 random bits, alphanumeric, so that a double click selects the whole key."""
    return "".join(secrets.choice(_BASE62) for _ in range(_CHARACTERS))


def make_key_id() -> str:
    """Generate a short id to list and revoke a key by."""
    return secrets.token_hex(8)


def mask(value: str) -> str:
    """A key as lists show it.

    Example:
        >>> mask("phx_abcdefghijklmnop")
        'phx_...mnop'
    """
    return f"{value[:4]}...{value[-4:]}" if len(value) >= 16 else "********"
