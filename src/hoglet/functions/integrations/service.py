"""Creates, reads, updates, deletes and lists integrations.

Tokens are write-only. Functions keep the id of a deleted integration; their runs fail with an error
that names it.
"""

import secrets
from collections.abc import Callable

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, ActivityLog, FieldChange, changes_between
from hoglet.access.principals import ProjectScope, User, user_object
from hoglet.access.repository import users_by_id
from hoglet.functions.integrations import repository
from hoglet.functions.integrations.credentials import make_placeholder
from hoglet.functions.integrations.schemas import IntegrationObject, read_create, read_update
from hoglet.functions.secrets.box import SecretBox, SecretsUnreadable
from hoglet.functions.tables import IntegrationRow
from hoglet.kit.clock import Clock, iso_z
from hoglet.kit.errors import NotFound
from hoglet.kit.json import JsonObject, is_object
from hoglet.store.database import Database
from hoglet.web.pagination import PageRequest

ACTIVITY_SCOPE = "Integration"
UNREADABLE = "SECRETS_UNREADABLE"
_LOGGED = ("display_name", "config", "hosts")
_MASKED = "masked"
_NAMES = ("display_name", "name", "team_name", "account_name", "hub_domain")

type IconUrl = Callable[[str], str | None]
"""URL of a kind's icon on this server, None if it has none."""


class IntegrationService:
    """The integrations of all projects.

    Args:
        database: stores them.
        box: encrypts tokens.
        clock: the current time.
        activity: gets an entry for every change.
        icon_url: finds icons.
    """

    def __init__(
        self,
        database: Database,
        box: SecretBox,
        clock: Clock,
        activity: ActivityLog,
        icon_url: IconUrl,
    ) -> None:
        self._database = database
        self._box = box
        self._clock = clock
        self._activity = activity
        self._icon_url = icon_url

    async def page(
        self, scope: ProjectScope, page: PageRequest, kind: str | None
    ) -> tuple[int, list[IntegrationObject]]:
        """A page of integrations and the total count."""
        project_id = scope.project.id
        async with self._database.read() as session:
            count = await repository.count(session, project_id, kind)
            rows = await repository.page(
                session, project_id, kind, limit=page.limit, offset=page.offset
            )
            users = await users_by_id(session, [row.created_by for row in rows])
            return count, [self._display(row, users) for row in rows]

    async def create(self, scope: ProjectScope, body: JsonObject) -> IntegrationObject:
        """Store a credential.

        Raises:
            Invalid: the first error in the body.
        """
        fields = read_create(body)
        async with self._database.write() as session:
            now = self._clock.now()
            row = IntegrationRow(
                project_id=scope.project.id,
                kind=fields.kind,
                display_name=fields.display_name,
                config=fields.config,
                hosts=fields.hosts,
                secrets=self._encrypted(fields.access_token),
                placeholder=make_placeholder(secrets.token_hex(16)),
                version=1,
                created_at=now,
                updated_at=now,
                created_by=scope.user_id,
            )
            session.add(row)
            await session.flush()
            await self._record(session, scope, row, "created", [])
            return await self._find(session, row)

    async def get(self, scope: ProjectScope, integration_id: str) -> IntegrationObject:
        """An integration, without its token.

        Raises:
            NotFound: no such integration in the project.
        """
        async with self._database.read() as session:
            return await self._find(session, await self._row(session, scope, integration_id))

    async def update(
        self, scope: ProjectScope, integration_id: str, body: JsonObject
    ) -> IntegrationObject:
        """Update an integration; waiting runs use the new token from their next request on.

        Raises:
            NotFound: no such integration in the project.
            Invalid: the first error in the body.
        """
        async with self._database.write() as session:
            row = await self._row(session, scope, integration_id, lock=True)
            sent = read_update(body, row.kind)
            before = {name: getattr(row, name) for name in _LOGGED}
            for name in _LOGGED:
                setattr(row, name, sent.get(name, getattr(row, name)))
            changes = changes_between(before, {name: getattr(row, name) for name in _LOGGED})
            if "access_token" in sent:
                row.secrets = self._encrypted(sent["access_token"])
                changes.append(FieldChange("access_token", "changed", _MASKED, _MASKED))
            row.updated_at = self._clock.now()
            row.version += 1
            await self._record(session, scope, row, "updated", changes)
            return await self._find(session, row)

    async def delete(self, scope: ProjectScope, integration_id: str) -> None:
        """Delete a credential permanently.

        Raises:
            NotFound: no such integration in the project.
        """
        async with self._database.write() as session:
            row = await self._row(session, scope, integration_id, lock=True)
            await self._record(session, scope, row, "deleted", [])
            await session.delete(row)

    def _encrypted(self, token: str | None) -> str:
        return self._box.encrypt({"access_token": token}) or ""

    async def _row(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        integration_id: str,
        *,
        lock: bool = False,
    ) -> IntegrationRow:
        number = repository.read_id(integration_id)
        row = None
        if number is not None:
            row = await repository.find(session, scope.project.id, number, lock=lock)
        if row is None:
            raise NotFound
        return row

    async def _record(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        row: IntegrationRow,
        activity: str,
        changes: list[FieldChange],
    ) -> None:
        await self._activity.record(
            session,
            Activity(
                project_id=row.project_id,
                user_id=scope.user_id,
                activity=activity,
                scope=ACTIVITY_SCOPE,
                item_id=str(row.id),
                name=_display_name(row),
                changes=changes,
            ),
        )

    async def _find(self, session: AsyncSession, row: IntegrationRow) -> IntegrationObject:
        return self._display(row, await users_by_id(session, [row.created_by]))

    def _display(self, row: IntegrationRow, users: dict[int, User]) -> IntegrationObject:
        return {
            "id": row.id,
            "kind": row.kind,
            "display_name": _display_name(row),
            "icon_url": self._icon_url(row.kind),
            "config": row.config,
            "hosts": row.hosts,
            "created_at": iso_z(row.created_at),
            "updated_at": iso_z(row.updated_at),
            "created_by": user_object(users.get(row.created_by or 0)),
            "errors": self.error_of(row),
        }

    def error_of(self, row: IntegrationRow) -> str:
        """Why functions cannot use an integration; empty if they can."""
        return "" if self._is_readable(row) else UNREADABLE

    def _is_readable(self, row: IntegrationRow) -> bool:
        try:
            self._box.open(row.secrets)
        except SecretsUnreadable:
            return False
        return True


def _display_name(row: IntegrationRow) -> str:
    """The given name, else the service's name for the account, else kind and id."""
    team = row.config.get("team")
    nested = team.get("name") if is_object(team) else None
    candidates = [row.display_name, nested, *(row.config.get(name) for name in _NAMES)]
    named = next((name for name in candidates if isinstance(name, str) and name), None)
    return named or f"{row.kind} {row.id}"
