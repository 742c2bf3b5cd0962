"""Encrypts the secrets of functions for storage.

Source: docs/spec/hog-functions.md#44-secrets.
"""

import re
from collections.abc import Sequence
from typing import Final

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from hoglet.functions.json_types import SecretValues
from hoglet.kit.errors import HogletError

_UNREADABLE = "Stored secrets were encrypted with a key that is not configured."

_KEY: Final = re.compile(r"[A-Za-z0-9_-]{43}=")


def read_keys(text: str) -> list[str]:
    """The Fernet keys in a text, separated by commas, spaces or newlines; newest first.

    Checks them, because ``Fernet`` itself skips characters that are not base64 and ignores what
    follows a key.

    Raises:
        ValueError: a part is not a key.
    """
    keys = [part for part in re.split(r"[,\s]+", text) if part]
    if not all(_KEY.fullmatch(key) for key in keys):
        raise ValueError("each is a Fernet key, 32 bytes in URL-safe base64")
    return keys


class SecretsUnreadable(HogletError):
    """Stored secrets were encrypted with a key that is no longer configured."""

    code = "secrets_unreadable"
    blame = "operator"


class SecretBox:
    """Encrypts and decrypts JSON.

    Args:
        keys: Fernet keys; the first encrypts, all decrypt. To rotate, put a new key in front and
            re-encrypt every row (``hoglet.functions.secrets.rotation``).
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self.has_old_keys = len(keys) > 1
        self._box = MultiFernet([Fernet(key) for key in keys])

    def encrypt(self, secrets: SecretValues) -> str | None:
        """The text to store; None if there is nothing to encrypt."""
        return self._box.encrypt(orjson.dumps(secrets)).decode() if secrets else None

    def open(self, encrypted: str | None) -> SecretValues:
        """The decrypted value; ``{}`` for None.

        Raises:
            SecretsUnreadable: no key fits.
        """
        if not encrypted:
            return {}
        try:
            return orjson.loads(self._box.decrypt(encrypted.encode()))
        except InvalidToken:
            raise SecretsUnreadable(_UNREADABLE) from None

    def can_open(self, encrypted: str) -> bool:
        """Whether a configured key decrypts it."""
        try:
            self._box.decrypt(encrypted.encode())
        except InvalidToken:
            return False
        return True

    def reencrypt(self, encrypted: str) -> str:
        """The same secrets encrypted with the first key.

        Raises:
            SecretsUnreadable: no key fits.
        """
        try:
            return self._box.rotate(encrypted.encode()).decode()
        except InvalidToken:
            raise SecretsUnreadable(_UNREADABLE) from None
