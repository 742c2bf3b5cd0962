"""The page of one endpoint."""

from typing import Any

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.layout import signed_in_page
from hoglet.console.pages.endpoints.builds import builds_panel
from hoglet.console.pages.endpoints.endpoint_head import endpoint_head
from hoglet.console.pages.endpoints.endpoint_table import endpoint_table
from hoglet.console.pages.endpoints.query import query_panel
from hoglet.console.pages.endpoints.run import run_panel
from hoglet.console.pages.endpoints.usage import usage_panel
from hoglet.console.pages.endpoints.versions import versions_panel
from hoglet.console.pages.functions.logs import logs_panel
from hoglet.console.session import Sessions
from hoglet.console.widgets import failed, tabs


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}/endpoints/{name}", title="Endpoint · hoglet")
    async def endpoint(request: Request, project_id: str, name: str) -> Response | None:
        async def build(backend: Backend) -> None:
            ui.page_title(f"{name} · hoglet")
            await _build(backend, f"/endpoints/{name}")

        return await signed_in_page(sessions, request, project_id, section="endpoints", build=build)


async def _build(backend: Backend, path: str) -> None:
    reply = await backend.get(path)
    if not reply.is_good:
        failed(reply)
        return
    record: dict[str, Any] = reply.body
    endpoint_head(backend, path, record)
    endpoint_table(backend, path, record)
    await tabs(
        {
            "Run": lambda: run_panel(backend, path, record),
            "Query": lambda: query_panel(backend, path, record),
            "Versions": lambda: versions_panel(backend, path),
            "Builds": lambda: builds_panel(backend, path),
            "Usage": lambda: usage_panel(backend, path),
            "Logs": lambda: logs_panel(backend, f"{path}/logs", "Runs are logged here."),
        }
    )
