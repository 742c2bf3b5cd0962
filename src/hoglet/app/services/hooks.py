"""Registers the features' hooks for access routes.

Source: docs/spec/hog-functions.md#138-site-functions, docs/spec/hog-functions.md#14-capture
(last table) and docs/spec/hog-functions.md#15-bootstrap-routes.
"""

import hashlib
from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.hooks import FileEntry
from hoglet.access.principals import Project
from hoglet.access.schemas import GroupType, SiteApp
from hoglet.app.services.container import Services
from hoglet.app.services.events import EventServices
from hoglet.endpoints import repository as endpoint_repository
from hoglet.endpoints.repository import ListFilters
from hoglet.events.decode import unpack
from hoglet.functions import repository as function_repository
from hoglet.functions import types
from hoglet.functions.jobs import RecompileLater
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.clock import iso_z
from hoglet.web.request_body import DEFAULT_BODY_BYTES


def connect_hooks(services: Services, events: EventServices) -> None:
    """Set every hook of ``services.access``."""
    providers = services.access.providers
    parts = _Parts(services, events)
    providers.group_types = parts.group_types
    providers.site_apps = parts.site_apps
    providers.site_scripts = parts.site_scripts
    providers.file_entries = (parts.functions, parts.endpoints)
    providers.project_changed += (parts.recompile,)
    providers.property_type_changed += (RecompileLater(services.queue).property_type_changed,)
    providers.unpack = _unpack


class _Parts:
    """The features' data about a project."""

    def __init__(self, services: Services, events: EventServices) -> None:
        self._database = services.database
        self._events = events.repository
        self._recompile = RecompileLater(services.queue)

    async def group_types(self, project_id: int) -> list[GroupType]:
        async with self._database.read() as session:
            indexes = await self._events.group_types(session, project_id)
        return [
            {
                "group_type": name,
                "group_type_index": index,
                "name_singular": None,
                "name_plural": None,
            }
            for name, index in sorted(indexes.items(), key=lambda item: item[1])
        ]

    async def site_apps(self, project_id: int) -> list[SiteApp]:
        rows = await self._site_functions(project_id)
        return [{"id": str(row.id), "url": _script_url(row), "type": row.type} for row in rows]

    async def site_scripts(self, project_id: int) -> list[tuple[str, str]]:
        rows = await self._site_functions(project_id)
        return [(str(row.id), row.transpiled or "") for row in rows]

    async def _site_functions(self, project_id: int) -> list[HogFunctionRow]:
        async with self._database.read() as session:
            rows = await function_repository.enabled(session, project_id, types.SITE)
        return [row for row in rows if row.enabled and row.transpiled]

    async def functions(self, project_id: int) -> list[FileEntry]:
        async with self._database.read() as session:
            rows = await function_repository.all_live(session, project_id)
        return [
            FileEntry(
                id=str(row.id),
                path=f"{_folder(row)}/{row.name or 'Untitled'}",
                type=f"hog_function/{row.type}",
                ref=str(row.id),
                href=f"/project/{project_id}/functions/{row.id}",
                created_at=row.created_at,
            )
            for row in rows
        ]

    async def endpoints(self, project_id: int) -> list[FileEntry]:
        async with self._database.read() as session:
            _, endpoints = await endpoint_repository.list_endpoints(
                session, project_id, ListFilters()
            )
        return [
            FileEntry(
                id=str(each.endpoint.id),
                path=f"Unfiled/Endpoints/{each.endpoint.name}",
                type="endpoint",
                ref=each.endpoint.name,
                href=f"/project/{project_id}/endpoints/{each.endpoint.name}",
                created_at=each.endpoint.created_at,
            )
            for each in endpoints
        ]

    async def recompile(self, session: AsyncSession, project: Project) -> None:
        await self._recompile(session, project.id, None)


def _folder(row: HogFunctionRow) -> str:
    return row.folder or types.FOLDERS.get(row.type, "Unfiled")


def _script_url(row: HogFunctionRow) -> str:
    stamp = hashlib.md5(iso_z(row.updated_at).encode(), usedforsecurity=False).hexdigest()
    return f"/site_function/{row.id}/{stamp}/"


def _unpack(body: bytes, query: Mapping[str, str], content_encoding: str) -> bytes:
    return unpack(
        body, query=query, content_encoding=content_encoding, limit_bytes=DEFAULT_BODY_BYTES
    )
