"""Cursors: the position of a page, encrypted so that clients can neither read nor change it.

A cursor is bound to a version of an endpoint and to the values of the run; it is refused with
others, so that a tenant cannot continue another tenant's list. See docs/adr/0012-pages-by-key.md.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from uuid import UUID

import msgspec
import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from hoglet.endpoints.run.plan import ReadPlan
from hoglet.endpoints.schemas import RunRequest
from hoglet.kit.errors import Invalid

START = "*"
"""The cursor of the first page."""


class _CursorToken(msgspec.Struct, frozen=True, array_like=True):
    endpoint_id: UUID
    version: int
    binding: str
    key: list[Any]


class Cursors:
    """Encrypts and decrypts cursors.

    Args:
        keys: Fernet keys, newest first; if empty, cursors are valid until the process ends.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._box = MultiFernet([Fernet(key) for key in keys or [Fernet.generate_key()]])

    def encrypt(self, reading: ReadPlan, key: list[Any]) -> str:
        """The cursor after a row with these sort values."""
        target = reading.target
        encrypted = _CursorToken(target.endpoint_id, target.version, binding_of(reading), key)
        return self._box.encrypt(msgspec.json.encode(encrypted)).decode()

    def open(self, cursor: str) -> _CursorToken | None:
        """The decrypted cursor; None for the start.

        Raises:
            Invalid: attr ``cursor``; not a valid cursor.
        """
        if cursor == START:
            return None
        try:
            return msgspec.json.decode(self._box.decrypt(cursor.encode()), type=_CursorToken)
        except (InvalidToken, UnicodeEncodeError, msgspec.DecodeError):
            raise Invalid("This is not a valid cursor of this server.", attr="cursor") from None

    def check(self, reading: ReadPlan, request: RunRequest) -> None:
        """Check that a cursor belongs to the run.

        Raises:
            Invalid: attr ``cursor``; it belongs to another endpoint, version or other values.
        """
        if request.cursor is None or request.cursor == START:
            return
        encrypted = self.open(request.cursor)
        target = reading.target
        belongs = (
            encrypted is not None
            and encrypted.endpoint_id == target.endpoint_id
            and encrypted.version == target.version
            and encrypted.binding == binding_of(reading)
        )
        if not belongs:
            raise Invalid(
                "The cursor belongs to another endpoint, version or other values; "
                "send it with the same parameters as the first page.",
                attr="cursor",
            )


def binding_of(reading: ReadPlan) -> str:
    """What a cursor is bound to in addition to its version: query and values, not the page size."""
    parts = [reading.project.id, reading.query, reading.variables]
    text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=16).hexdigest()
