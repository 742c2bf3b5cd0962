"""Hooks through which features extend the access routes; set by the composition root.

Packages may only import from lower layers, so features register functions here.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.access.schemas import GroupType, SiteApp


class FileEntry(msgspec.Struct, frozen=True):
    """An object in the project's tree; ``path`` is ``folder/name``, ``type`` e.g. ``endpoint``."""

    id: str
    path: str
    type: str
    ref: str
    href: str
    created_at: datetime


type GroupTypes = Callable[[int], Awaitable[list[GroupType]]]
"""Project id to its group types."""

type FileEntries = Callable[[int], Awaitable[list[FileEntry]]]
"""Project id to the feature's entries in the file tree."""

type SiteApps = Callable[[int], Awaitable[list[SiteApp]]]
"""Project id to its enabled site functions."""

type SiteScripts = Callable[[int], Awaitable[list[tuple[str, str]]]]
"""Project id to id and script of its enabled site functions: ``(function () {...})``."""

type Unpack = Callable[[bytes, Mapping[str, str], str], bytes]
"""Body, query and ``Content-Encoding`` to JSON text; decompresses and decodes base64."""

type ProjectChanged = Callable[[AsyncSession, Project], Awaitable[None]]
"""Called when project settings change, in the transaction that changes them.

Functions enqueue their recompilation (test-account filters are compiled in); endpoints rebuild the
materialized tables that depend on the settings.
"""


type PropertyTypeChanged = Callable[[AsyncSession, int, str], Awaitable[None]]
"""Called with a project id and the name of a property whose type changed.

Runs in the transaction that changes it: functions enqueue their recompilation, endpoints mark the
materialized tables whose rows may differ.
"""


type PropertiesDetected = Callable[[int], None]
"""Called with a project id in the process that stored the first events with some properties."""


type Forget = Callable[[], None]
"""Called in the process that changed a project, its variables or its actions."""


async def _nothing(_project_id: int) -> list[Any]:
    return []


def _as_sent(body: bytes, _query: Mapping[str, str], _encoding: str) -> bytes:
    return body


class AccessHooks(msgspec.Struct):
    """Hooks of features; each is empty until it is set."""

    group_types: GroupTypes = _nothing
    site_apps: SiteApps = _nothing
    site_scripts: SiteScripts = _nothing
    file_entries: tuple[FileEntries, ...] = ()
    unpack: Unpack = _as_sent
    project_changed: tuple[ProjectChanged, ...] = ()
    property_type_changed: tuple[PropertyTypeChanged, ...] = ()
    properties_detected: tuple[PropertiesDetected, ...] = ()
    forget: tuple[Forget, ...] = ()
