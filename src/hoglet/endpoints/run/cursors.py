"""Cursors: where a page ended, sealed so that the caller can neither read nor change them.

A cursor belongs to one version of one endpoint and to the values it was run with; with others it is
refused, so that a tenant cannot carry on somebody else's list. See docs/adr/0012-pages-by-key.md.
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
"""What is sent to get the first page."""


class _Sealed(msgspec.Struct, frozen=True, array_like=True):
    endpoint_id: UUID
    version: int
    binding: str
    key: list[Any]


class Cursors:
    """Seals and opens cursors.

    Args:
        keys: Fernet keys, newest first; none: cursors end with the process.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._box = MultiFernet([Fernet(key) for key in keys or [Fernet.generate_key()]])

    def seal(self, reading: ReadPlan, key: list[Any]) -> str:
        """The cursor behind a row with these ordered values."""
        target = reading.target
        sealed = _Sealed(target.endpoint_id, target.version, binding_of(reading), key)
        return self._box.encrypt(msgspec.json.encode(sealed)).decode()

    def open(self, cursor: str) -> _Sealed | None:
        """What a cursor holds; None for the start.

        Raises:
            Invalid: attr ``cursor``; not one of ours.
        """
        if cursor == START:
            return None
        try:
            return msgspec.json.decode(self._box.decrypt(cursor.encode()), type=_Sealed)
        except (InvalidToken, UnicodeEncodeError, msgspec.DecodeError):
            raise Invalid("This is not a cursor of this server.", attr="cursor") from None

    def check(self, reading: ReadPlan, request: RunRequest) -> None:
        """Let a run pass whose cursor belongs to it.

        Raises:
            Invalid: attr ``cursor``; it is of another endpoint, version or of other values.
        """
        if request.cursor in (None, START):
            return
        sealed = self.open(request.cursor)
        target = reading.target
        belongs = (
            sealed is not None
            and sealed.endpoint_id == target.endpoint_id
            and sealed.version == target.version
            and sealed.binding == binding_of(reading)
        )
        if not belongs:
            raise Invalid(
                "The cursor belongs to another endpoint, version or other values; send it with "
                "exactly what the first page was asked with.",
                attr="cursor",
            )


def binding_of(reading: ReadPlan) -> str:
    """What a cursor is bound to beside its version: query and values, but not the page's size."""
    parts = [reading.project.id, reading.query, reading.variables]
    text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=16).hexdigest()
