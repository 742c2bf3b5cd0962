"""Key rotation: re-encrypts all stored secrets with the newest key.

Source: docs/spec/hog-functions.md#44-secrets.
"""

from collections.abc import Callable
from typing import NamedTuple

from hoglet.access.tenant_tokens import repository as signing_keys
from hoglet.functions import repository
from hoglet.functions.integrations import repository as integration_repository
from hoglet.functions.secrets.box import SecretBox, SecretsUnreadable
from hoglet.functions.secrets.key_check import reencrypt_check
from hoglet.store.database import Database


class RotationResult(NamedTuple):
    """Number of re-encrypted texts, and of those that no configured key decrypts (unchanged)."""

    encrypted: int
    unreadable: int


class Counts(NamedTuple):
    """Number of encrypted texts, and of those that no configured key decrypts."""

    stored: int
    unreadable: int


async def count_secrets(database: Database, box: SecretBox) -> Counts:
    """Try the configured keys on all stored secrets; 10,000 texts take half a second."""
    async with database.read() as session:
        texts = await repository.encrypted_texts(session)
        texts += await integration_repository.encrypted_texts(session)
        texts += await signing_keys.encrypted_texts(session)
    return Counts(len(texts), sum(not box.can_open(text) for text in texts))


async def reencrypt_all(database: Database, box: SecretBox) -> RotationResult:
    """Re-encrypt all secrets with the newest key, in one transaction.

    These are the secrets of functions and integrations, and the signing keys of tenant tokens.

    Idempotent. Old keys can be removed afterwards, unless some texts were unreadable.
    """
    count = _Count(box.reencrypt)
    async with database.write() as session:
        for row in await repository.with_secrets(session):
            row.secrets = count.again(row.secrets)
            row.mapping_secrets = count.again(row.mapping_secrets)
            row.draft = count.again(row.draft)
        for held in await integration_repository.every(session):
            held.secrets = count.again(held.secrets) or held.secrets
        for key in await signing_keys.every(session):
            key.encrypted = count.again(key.encrypted) or key.encrypted
        await reencrypt_check(session, box)
    return RotationResult(count.encrypted, count.unreadable)


class _Count:
    def __init__(self, reencrypt: Callable[[str], str]) -> None:
        self._reencrypt = reencrypt
        self.encrypted = self.unreadable = 0

    def again(self, encrypted: str | None) -> str | None:
        if not encrypted:
            return encrypted
        try:
            fresh = self._reencrypt(encrypted)
        except SecretsUnreadable:
            self.unreadable += 1
            return encrypted
        self.encrypted += 1
        return fresh
