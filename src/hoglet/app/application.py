"""The web application of a server: the routers of all rooms over the opened rooms."""

from fastapi import FastAPI
from sqlalchemy import text

from hoglet.access import api as access_api
from hoglet.access import api_project, api_public
from hoglet.app.data_folder import secret_keys
from hoglet.app.events import build_events
from hoglet.app.providers import connect_events
from hoglet.app.rooms import Rooms
from hoglet.console.application import mount_console
from hoglet.events.api import capture_routes
from hoglet.web.application import create_application
from hoglet.web.health import Check


def build_application(rooms: Rooms) -> FastAPI:
    """Mount every room; their services hang on ``app.state``."""
    app = create_application(
        routes=[*capture_routes()],
        routers=[access_api.router, api_public.router],
        project_routers=[api_project.router],
        checks=_checks(rooms),
        log_requests=rooms.settings.log_level == "debug",
    )
    app.state.access = rooms.access
    app.state.events = events = build_events(rooms)
    connect_events(rooms.access.providers, rooms, events)
    if "console" in rooms.settings.roles:
        mount_console(app, secret_keys(rooms.settings.data_dir, rooms.settings.secret_keys))
    return app


def _checks(rooms: Rooms) -> dict[str, Check]:
    async def storage() -> None:
        async with rooms.database.read() as session:
            await session.execute(text("SELECT 1"))

    async def warehouse() -> None:
        await rooms.warehouse.query("SELECT 1")

    async def queue() -> None:
        await rooms.queue.depth("spool")

    return {"storage": storage, "warehouse": warehouse, "queue": queue}
