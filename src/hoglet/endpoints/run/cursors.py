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

    def encrypt(self, read_plan: ReadPlan, key: list[Any]) -> str:
        """The cursor after a row with these sort values."""
        target = read_plan.target
        token = _CursorToken(target.endpoint_id, target.version, binding_of(read_plan), key)
        return self._box.encrypt(msgspec.json.encode(token)).decode()

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

    def check(self, read_plan: ReadPlan, text: str) -> None:
        """Check that a cursor belongs to the run.

        Raises:
            Invalid: attr ``cursor``; it belongs to another endpoint, version or other values.
        """
        if text == START:
            return
        cursor = self.open(text)
        target = read_plan.target
        belongs = (
            cursor is not None
            and cursor.endpoint_id == target.endpoint_id
            and cursor.version == target.version
            and cursor.binding == binding_of(read_plan)
        )
        if not belongs:
            raise Invalid(
                "The cursor belongs to another endpoint, version or other values; "
                "send it with the same parameters as the first page.",
                attr="cursor",
            )


def binding_of(read_plan: ReadPlan) -> str:
    """What a cursor is bound to in addition to its version: query and values, not the page size."""
    parts = [read_plan.project.id, read_plan.query, read_plan.variables]
    text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=16).hexdigest()
