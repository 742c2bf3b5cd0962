"""Movable names for versions: ``prod``, ``canary``.

An alias can be used wherever a version number can. The ``tags`` of a record are unrelated (labels
of the endpoint), see docs/adr/0010-aliases-of-versions.md.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity
from hoglet.access.auth import AccessService
from hoglet.access.principals import ProjectScope
from hoglet.endpoints import errors, repository
from hoglet.endpoints.repository import Names
from hoglet.endpoints.tables import EndpointAliasRow, EndpointRow
from hoglet.kit.errors import Invalid, NotFound

_PATTERN = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")
MAX_ALIASES = 50


def is_alias(text: str) -> bool:
    """Whether a text is a valid alias; never a number.

    Example:
        >>> is_alias("prod"), is_alias("2")
        (True, False)
    """
    return _PATTERN.fullmatch(text) is not None


class Aliases:
    """Manages the aliases of endpoints.

    Args:
        access: database, clock, activity log.
    """

    def __init__(self, access: AccessService) -> None:
        self._access = access
        self._database = access.database
        self._clock = access.clock

    async def number(self, scope: ProjectScope, name: str, version: int | str | None) -> int | None:
        """The number of a version or alias; None stays None.

        Raises:
            NotFound: no such endpoint; Invalid: attr ``version``, no such alias.
        """
        if not isinstance(version, str):
            return version
        async with self._database.read() as session:
            endpoint = await self._endpoint(session, scope, name)
            alias = await session.get(EndpointAliasRow, (endpoint.id, version))
        if alias is None:
            raise errors.unknown_alias(version)
        return alias.version

    async def all(self, scope: ProjectScope, name: str) -> Sequence[EndpointAliasRow]:
        """The aliases of an endpoint, by name."""
        async with self._database.read() as session:
            endpoint = await self._endpoint(session, scope, name)
            rows = await session.scalars(
                select(EndpointAliasRow)
                .where(EndpointAliasRow.endpoint_id == endpoint.id)
                .order_by(EndpointAliasRow.alias)
            )
            return rows.all()

    async def of(self, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, Names]:
        """The aliases of some endpoints; those without any are omitted."""
        async with self._database.read() as session:
            return await repository.alias_names(session, endpoint_ids)

    async def put(
        self, scope: ProjectScope, name: str, alias: str, version: int
    ) -> tuple[EndpointAliasRow, bool]:
        """Create or move an alias; returns it and whether it is new.

        Raises:
            NotFound: no such endpoint; Invalid: attr ``alias`` or ``version``.
        """
        if not is_alias(alias):
            raise Invalid(
                "An alias starts with a letter and has at most 64 letters, digits, hyphens and "
                "underscores.",
                attr="alias",
            )
        now = self._clock.now()
        async with self._database.write() as session:
            endpoint = await self._endpoint(session, scope, name, lock=True)
            if not 0 < version <= endpoint.current_version:
                raise errors.unknown_target(version, name)
            row = await session.get(EndpointAliasRow, (endpoint.id, alias))
            is_new = row is None
            if row is None:
                await self._check_count(session, endpoint)
                row = _new(endpoint, alias, now)
                session.add(row)
            row.version, row.updated_at, row.updated_by_id = version, now, scope.user_id
            await self._log(session, scope, endpoint)
        return row, is_new

    async def delete(self, scope: ProjectScope, name: str, alias: str) -> None:
        """Delete an alias.

        Raises:
            NotFound: no such endpoint or alias.
        """
        async with self._database.write() as session:
            endpoint = await self._endpoint(session, scope, name, lock=True)
            row = await session.get(EndpointAliasRow, (endpoint.id, alias))
            if row is None:
                raise NotFound
            await session.execute(
                delete(EndpointAliasRow).where(
                    EndpointAliasRow.endpoint_id == endpoint.id, EndpointAliasRow.alias == alias
                )
            )
            await self._log(session, scope, endpoint)

    async def _endpoint(
        self, session: AsyncSession, scope: ProjectScope, name: str, *, lock: bool = False
    ) -> EndpointRow:
        endpoint = await repository.find_endpoint(session, scope.project.id, name, lock=lock)
        if endpoint is None:
            raise NotFound
        return endpoint

    async def _check_count(self, session: AsyncSession, endpoint: EndpointRow) -> None:
        known = await repository.alias_names(session, [endpoint.id])
        if len(known.get(endpoint.id, {})) >= MAX_ALIASES:
            raise Invalid(f"An endpoint can have at most {MAX_ALIASES} aliases.", attr="alias")

    async def _log(self, session: AsyncSession, scope: ProjectScope, endpoint: EndpointRow) -> None:
        about = (scope.project.id, scope.user_id, "updated", "Endpoint")
        await self._access.activity.record(
            session, Activity(*about, str(endpoint.id), endpoint.name)
        )


def _new(endpoint: EndpointRow, alias: str, now: datetime) -> EndpointAliasRow:
    return EndpointAliasRow(
        endpoint_id=endpoint.id,
        alias=alias,
        version=0,
        created_at=now,
        updated_at=now,
        updated_by_id=None,
    )
