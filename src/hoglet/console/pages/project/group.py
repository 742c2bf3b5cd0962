"""The page of a group: what ``groups.<type>.url`` links to.

Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""

from typing import Any

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.not_found import not_found
from hoglet.console.pages.project.properties import properties_table
from hoglet.console.session import Sessions
from hoglet.console.widgets import exact_time, failed, heading, section
from hoglet.kit.json import Properties, parse_json
from hoglet.web.pagination import ORIGINAL_PATH

_GROUP = "SELECT created_at, properties FROM groups WHERE index = {index} AND key = {key} LIMIT 1"


def register(sessions: Sessions) -> None:
    """Add the page; keys may contain any characters, including slashes."""

    @ui.page(
        "/project/{project_id}/groups/{index:int}/{key:path}",
        title="Group · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def group(request: Request, project_id: str, index: int, key: str) -> Response | None:
        whole: str = request.scope.get(ORIGINAL_PATH, request.scope["path"])
        key = whole.split("/", 5)[5]  # routing drops a trailing slash

        async def build(backend: Backend) -> None:
            await _build(backend, index, key)

        return await signed_in_page(sessions, request, project_id, section="-", build=build)


async def _build(backend: Backend, index: int, key: str) -> None:
    reply = await backend.hogql(_GROUP, index=index, key=key)
    if reply.status == 404 or (reply.is_good and not reply.body["results"]):
        hint = "No $groupidentify event named it, or it has not been stored yet."
        not_found(backend, f"There is no group {key} of type {index}", hint)
        return
    if not reply.is_good:
        heading("Group")
        failed(reply)
        return
    created_at, properties = reply.body["results"][0]
    seen = exact_time(created_at, backend.zone)
    heading(key, f"Group of type {index} · first seen {seen}")
    with section("Properties"):
        properties_table(_object(properties), "Set them with $group_set in a $groupidentify event.")


def _object(properties: Any) -> Properties:
    return parse_json(properties) if isinstance(properties, str) else properties
