"""Resolves keys and projects, cached for seconds because every request needs them.

Built once by the composition root and stored in ``app.state.access``.
"""

from datetime import timedelta

import structlog
from sqlalchemy.exc import OperationalError

from hoglet.access import repository
from hoglet.access.activity import ActivityLog
from hoglet.access.hooks import AccessHooks
from hoglet.access.keys import SECRET_PREFIX, hash_key
from hoglet.access.principals import Principal, Project
from hoglet.access.rate_limit import MemoryWindows, RateLimiter, RateSettings, SharedWindows
from hoglet.access.tables import PersonalKeyRow, SecretKeyRow
from hoglet.access.tenant_tokens.codec import TENANT_PREFIX
from hoglet.access.tenant_tokens.signing_keys import Encryption, SigningKeys
from hoglet.kit.cache import TTLCache
from hoglet.kit.clock import Clock
from hoglet.store.database import Database

logger = structlog.get_logger(__name__)

RECALL_SECONDS = 3.0  # a key revoked by another process stops working within this time
USE_IS_NOTED_EVERY = timedelta(hours=1)


class AccessService:
    """Look-ups of keys and projects, rate limits and the activity log.

    Args:
        database: users, keys and projects.
        clock: source of ``last_used_at``.
        rates: limits; none by default.
        recall_seconds: how long look-ups are cached.
        box: encrypts the signing keys of tenant tokens; without it, these are disabled.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        rates: RateSettings | None = None,
        recall_seconds: float = RECALL_SECONDS,
        box: Encryption | None = None,
    ) -> None:
        self.database = database
        self.clock = clock
        windows = MemoryWindows() if database.is_sqlite else SharedWindows(database)
        self.rates = RateLimiter(rates or RateSettings(), windows)
        self.activity = ActivityLog(clock)
        self.providers = AccessHooks()
        self.signing_keys: SigningKeys | None = None
        if box is not None:
            self.signing_keys = SigningKeys(
                database, box, clock, self.activity, recall_seconds=recall_seconds
            )
        self._principals = TTLCache(self._load_principal, seconds=recall_seconds)
        self._projects = TTLCache(self._load_project, seconds=recall_seconds)
        self._tokens = TTLCache(self._load_token, seconds=recall_seconds)

    async def identify(self, key: str) -> Principal | None:
        """The principal of a personal (``phx_…``) or secret (``phs_…``) key or a tenant token.

        Raises:
            Unauthenticated: a tenant token (``pht_…``) that is not valid.
        """
        if key.startswith(TENANT_PREFIX):
            return await self.signing_keys.identify(key) if self.signing_keys else None
        return await self._principals.get(key)

    async def project(self, project_id: int) -> Project | None:
        """The project with this id."""
        return await self._projects.get(project_id)

    async def project_by_token(self, token: str) -> Project | None:
        """The project with this capture token (``phc_…``)."""
        return None if "\x00" in token else await self._tokens.get(token)

    async def current_project(self, principal: Principal) -> Project | None:
        """The project that ``@current`` means."""
        if principal.project_id is not None:
            return await self.project(principal.project_id)
        current = None if principal.user is None else principal.user.current_project_id
        if current is not None:
            return await self.project(current)
        async with self.database.read() as session:
            return await repository.first_project(session, principal.organizations)

    def forget(self) -> None:
        """Clear the cache; call after changes to keys, users or projects."""
        self._principals.forget()
        self._projects.forget()
        self._tokens.forget()
        if self.signing_keys is not None:
            self.signing_keys.forget()
        for forget in self.providers.forget:
            forget()

    async def _load_principal(self, key: str) -> Principal | None:
        find = repository.find_secret if key.startswith(SECRET_PREFIX) else repository.find_personal
        async with self.database.read() as session:
            row = await find(session, hash_key(key))
            if row is None:
                return None
            principal = await repository.principal_of(session, row)
        await self._note_use(row)
        return principal

    async def _load_project(self, project_id: int) -> Project | None:
        async with self.database.read() as session:
            return await repository.find_project(session, project_id)

    async def _load_token(self, token: str) -> Project | None:
        async with self.database.read() as session:
            return await repository.find_project_by_token(session, token)

    async def _note_use(self, row: PersonalKeyRow | SecretKeyRow) -> None:
        now = self.clock.now()
        before = now - USE_IS_NOTED_EVERY
        if row.last_used_at is not None and row.last_used_at >= before:
            return
        try:
            async with self.database.write() as session:
                await repository.touch(session, type(row), row.id, now, before)
        except OperationalError:  # reads must work while the storage is full or read-only
            logger.warning(
                "last_used_at of a key was not updated", action="key_use_not_noted", key=row.id
            )
