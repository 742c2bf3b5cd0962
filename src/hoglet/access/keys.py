"""Making and recognising keys.

A key holds 256 random bits, so one SHA-256 is enough to store it by: nobody can guess a key from
its hash, and the slow hashes made for passwords would cost every request. Looking the hash up in
a unique index compares nothing in variable time that a caller could use.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits;
docs/spec/query-endpoints.md#6-errors-keys-limits.
"""

import hashlib
import secrets
import string
from dataclasses import dataclass
from typing import Literal

PERSONAL_PREFIX = "phx_"
SECRET_PREFIX = "phs_"  # noqa: S105 (a prefix, not a secret)
TOKEN_PREFIX = "phc_"  # noqa: S105 (a prefix, not a secret)
_BASE62 = string.ascii_letters + string.digits
_CHARACTERS = 43  # 62**43 > 2**256


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made; ``value`` is shown once and never stored."""

    value: str
    mask: str
    hash: str


def make_key(prefix: Literal["phx_", "phs_"], value: str | None = None) -> NewKey:
    """A new key, or the parts of a given one."""
    value = value or prefix + _random_text()
    return NewKey(value=value, mask=mask(value), hash=hash_key(value))


def make_project_token() -> str:
    """A new public project token, ``phc_…``."""
    return TOKEN_PREFIX + _random_text()


def _random_text() -> str:
    """256 random bits as letters and digits, so that a double click selects a whole key."""
    return "".join(secrets.choice(_BASE62) for _ in range(_CHARACTERS))


def make_key_id() -> str:
    """A short name by which a key can be listed and revoked."""
    return secrets.token_hex(8)


def hash_key(value: str) -> str:
    """What a key is stored and found by: 64 hex digits."""
    return hashlib.sha256(value.encode()).hexdigest()


def mask(value: str) -> str:
    """A key as lists show it.

    Example:
        >>> mask("phx_abcdefghijklmnop")
        'phx_...mnop'
    """
    return f"{value[:4]}...{value[-4:]}" if len(value) >= 16 else "********"
