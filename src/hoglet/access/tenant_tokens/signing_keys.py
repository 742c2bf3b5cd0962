"""Signing keys of tenant tokens: created on demand, rotated with a grace time, revoked by id."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, ActivityLog
from hoglet.access.keys import make_key_id, random_text
from hoglet.access.principals import Principal, ProjectScope, TenantGrant
from hoglet.access.tables import SigningKeyRow
from hoglet.access.tenant_tokens import repository
from hoglet.access.tenant_tokens.codec import (
    MAX_TOKEN_CHARACTERS,
    invalid_token,
    read_token,
    sign_token,
    verify_token,
)
from hoglet.kit.cache import TTLCache
from hoglet.kit.clock import Clock
from hoglet.kit.errors import HogletError, Invalid, NotFound
from hoglet.kit.json import JsonObject
from hoglet.store.database import Database

log = structlog.get_logger(__name__)

MAX_KEYS = 10  # usable keys per project; each rotation with a grace time adds one
ACTIVITY_SCOPE = "TenantSigningKey"
_SCOPES = frozenset({"endpoint:read"})


class Encryption(Protocol):
    """Encrypts secrets for storage (``functions.secrets.box.SecretBox``)."""

    def encrypt(self, secrets: JsonObject, /) -> str | None:
        """The text to store."""
        ...

    def open(self, encrypted: str | None, /) -> JsonObject:
        """The decrypted value."""
        ...


class SigningKey(NamedTuple):
    """A decrypted key; ``secret`` is the key of the HMAC, as text."""

    id: str
    project_id: int
    secret: str
    expires_at: datetime | None


class SigningKeys:
    """The signing keys of all projects.

    Args:
        database: stores them.
        box: encrypts them.
        clock: decides what has expired.
        activity: gets an entry for each change.
        cache_seconds: how long a key revoked by another process still works.
    """

    def __init__(
        self,
        database: Database,
        box: Encryption,
        clock: Clock,
        activity: ActivityLog,
        *,
        cache_seconds: float,
    ) -> None:
        self._database = database
        self._box = box
        self._clock = clock
        self._activity = activity
        self._known = TTLCache(self._load, seconds=cache_seconds)

    async def identify(self, token: str) -> Principal:
        """The caller with a tenant token.

        Raises:
            Unauthenticated: it is malformed, forged, expired, or signed with a revoked key.
        """
        signed, now = read_token(token), self._clock.now()
        key = await self._known.get(signed.key_id)
        if key is None or (key.expires_at is not None and key.expires_at <= now):
            raise invalid_token("was signed with a key that is unknown or revoked")
        grant = verify_token(signed, key.secret, project_id=key.project_id, now=now)
        return Principal(
            "tenant",
            f"tenant:{key.id}:{grant.fingerprint}",
            _SCOPES,
            project_id=key.project_id,
            tenant=grant,
        )

    async def sign(
        self, scope: ProjectScope, grant: TenantGrant, seconds: int
    ) -> tuple[str, datetime]:
        """A token and when it expires; creates the project's first key.

        Raises:
            Invalid: the token would be too long.
        """
        now = self._clock.now()
        async with self._database.read() as session:
            row = await self._current(session, scope, now)
        if row is None:
            async with self._database.write() as session:
                await self._lock_all(session, scope)
                row = await self._current(session, scope, now) or await self._create(session, scope)
        secret = self._secret(row) or ""
        expires_at = (now + timedelta(seconds=seconds)).replace(microsecond=0)
        token = sign_token(
            row.id,
            secret,
            project_id=scope.project.id,
            grant=grant,
            issued_at=now,
            expires_at=expires_at,
        )
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise Invalid(
                f"The token is longer than {MAX_TOKEN_CHARACTERS} characters.", attr="variables"
            )
        return token, expires_at

    async def all(self, project_id: int) -> Sequence[SigningKeyRow]:
        """The usable keys of a project, newest first."""
        async with self._database.read() as session:
            return await repository.usable(session, project_id, self._clock.now())

    async def rotate(self, scope: ProjectScope, grace_seconds: int) -> tuple[SigningKeyRow, str]:
        """A new key and its secret; tokens of earlier keys are accepted for the grace time.

        Raises:
            Invalid: too many keys are within their grace time.
        """
        now = self._clock.now()
        ends = now + timedelta(seconds=grace_seconds)
        async with self._database.write() as session:
            await self._lock_all(session, scope)
            await repository.delete_expired(session, scope.project.id, now)
            keys = await repository.usable(session, scope.project.id, now, lock=True)
            if grace_seconds and len(keys) >= MAX_KEYS:
                raise Invalid(f"{MAX_KEYS} signing keys are still in use. Revoke one first.")
            for key in keys:
                if grace_seconds:
                    key.expires_at = min(key.expires_at or ends, ends)
                else:
                    await session.delete(key)
            row = await self._create(session, scope)
            secret = self._secret(row) or ""
        self.forget()
        return row, secret

    async def revoke(self, scope: ProjectScope, key_id: str) -> None:
        """Delete a key; all of its tokens stop working.

        Raises:
            NotFound: the project has no such key.
        """
        async with self._database.write() as session:
            await self._lock_all(session, scope)
            row = await session.get(SigningKeyRow, key_id.replace("\x00", ""))
            if row is None or row.project_id != scope.project.id:
                raise NotFound
            await self._record(session, scope, row, "deleted")
            await session.delete(row)
        self.forget()

    def forget(self) -> None:
        """Clear the cache of keys."""
        self._known.forget()

    async def _lock_all(self, session: AsyncSession, scope: ProjectScope) -> None:
        """Change the project's keys one at a time: a rotation ends those that exist."""
        await self._database.serialize(session, f"{ACTIVITY_SCOPE} {scope.project.id}")

    async def _current(
        self, session: AsyncSession, scope: ProjectScope, now: datetime
    ) -> SigningKeyRow | None:
        """The newest key that does not expire and can be decrypted."""
        keys = await repository.usable(session, scope.project.id, now)
        return next((key for key in keys if key.expires_at is None and self._secret(key)), None)

    async def _create(self, session: AsyncSession, scope: ProjectScope) -> SigningKeyRow:
        row = SigningKeyRow(
            id=make_key_id(),
            project_id=scope.project.id,
            encrypted=self._box.encrypt({"key": random_text()}) or "",
            created_by_id=scope.user_id,
            created_at=self._clock.now(),
            expires_at=None,
        )
        session.add(row)
        await self._record(session, scope, row, "created")
        await session.flush()
        return row

    async def _record(
        self, session: AsyncSession, scope: ProjectScope, row: SigningKeyRow, activity: str
    ) -> None:
        entry = Activity(row.project_id, scope.user_id, activity, ACTIVITY_SCOPE, row.id, row.id)
        await self._activity.record(session, entry)

    async def _load(self, key_id: str) -> SigningKey | None:
        if "\x00" in key_id:
            return None
        async with self._database.read() as session:
            row = await repository.find_usable(session, key_id, self._clock.now())
        secret = row and self._secret(row)
        return (
            SigningKey(row.id, row.project_id, secret, row.expires_at) if row and secret else None
        )

    def _secret(self, row: SigningKeyRow) -> str | None:
        """The decrypted key; None if the server no longer has the key that encrypted it."""
        try:
            return self._box.open(row.encrypted)["key"]
        except HogletError:
            log.warning("a signing key cannot be decrypted", action="signing_key", key=row.id)
            return None
