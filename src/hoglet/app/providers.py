"""Hands the features' parts of the bootstrap routes up to the access room."""

from collections.abc import Mapping
from typing import Any

from hoglet.access.providers import Providers
from hoglet.app.events import Events
from hoglet.app.rooms import Rooms
from hoglet.events.wire import unpack
from hoglet.web.body import DEFAULT_BODY_BYTES


def connect_events(providers: Providers, rooms: Rooms, events: Events) -> None:
    """Group types of projects, and reading packed bodies of ``/flags`` and ``/decide``."""

    async def group_types(project_id: int) -> list[dict[str, Any]]:
        async with rooms.database.read() as session:
            found = await events.repository.group_types(session, project_id)
        return [_group_type(name, found[name]) for name in sorted(found, key=found.__getitem__)]

    providers.group_types = group_types
    providers.unpack = _unpack


def _group_type(name: str, index: int) -> dict[str, Any]:
    return {
        "group_type": name,
        "group_type_index": index,
        "name_singular": None,
        "name_plural": None,
    }


def _unpack(body: bytes, query: Mapping[str, str], content_encoding: str) -> bytes:
    return unpack(
        body, query=query, content_encoding=content_encoding, limit_bytes=DEFAULT_BODY_BYTES
    )
