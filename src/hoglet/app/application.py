"""The web application of a server: the routers of all rooms over their services."""

from fastapi import FastAPI
from sqlalchemy import text
from starlette.routing import BaseRoute

from hoglet.access import api as access_api
from hoglet.access import api_project, api_public
from hoglet.app import api_document
from hoglet.app.data_folder import secret_keys
from hoglet.app.features import Features
from hoglet.app.rooms import Rooms
from hoglet.console.application import mount_console
from hoglet.endpoints import api as endpoint_api
from hoglet.endpoints import api_documents as endpoint_documents_api
from hoglet.endpoints import api_log as endpoint_log_api
from hoglet.endpoints import api_usage as endpoint_usage_api
from hoglet.endpoints import api_versions as endpoint_versions_api
from hoglet.endpoints.api_run import run_routes
from hoglet.events.api import capture_routes
from hoglet.functions import (
    action_api,
    dead_letter_api,
    history_api,
    live_tail_api,
    public_api,
    side_api,
    template_api,
)
from hoglet.functions import api as function_api
from hoglet.functions.integrations import api as integration_api
from hoglet.web.application import create_application
from hoglet.web.health import Check

ROUTERS = (
    access_api.router,
    api_public.router,
    template_api.public_router,
    public_api.router,
    api_document.router,
)
PROJECT_ROUTERS = (
    api_project.router,
    side_api.router,
    dead_letter_api.router,
    live_tail_api.router,
    history_api.router,
    action_api.router,
    integration_api.router,
    template_api.router,
    function_api.router,
    endpoint_log_api.router,
    endpoint_versions_api.router,
    endpoint_documents_api.router,
    endpoint_usage_api.router,
    endpoint_api.router,
)


def hot_routes() -> list[BaseRoute]:
    """The plain routes that are tried before all others: runs first, for capture has many paths."""
    return [*run_routes(), *capture_routes()]


def build_application(rooms: Rooms, features: Features) -> FastAPI:
    """Mount every room; their services hang on ``app.state``."""
    app = create_application(
        routes=hot_routes(),
        routers=ROUTERS,
        project_routers=PROJECT_ROUTERS,
        checks=_checks(rooms),
        registry=rooms.registry,
        body_limit_bytes=rooms.settings.request_body_bytes,
        log_requests=rooms.settings.log_level == "debug",
    )
    app.state.access = rooms.access
    app.state.trust_proxy = rooms.settings.trust_proxy
    app.state.events = features.events
    app.state.functions = features.functions.service
    app.state.integrations = features.functions.integrations
    app.state.actions = features.functions.actions
    app.state.backfills = features.functions.backfills
    app.state.dead_letters = features.functions.letters
    app.state.live_tail = features.functions.live_tail
    app.state.telemetry = features.functions.telemetry
    app.state.webhooks = features.functions.webhooks
    app.state.trials = features.functions.trials
    app.state.endpoints = features.endpoints
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
