"""The web application of a server: the routers of all rooms over their services."""

from fastapi import FastAPI
from starlette.routing import BaseRoute

from hoglet.access.api import keys as keys_api
from hoglet.access.api import project as api_project
from hoglet.access.api import public as api_public
from hoglet.access.api import user as access_api
from hoglet.app import openapi as api_document
from hoglet.app.container import Services
from hoglet.app.features import Features
from hoglet.app.readiness import Readiness
from hoglet.cohorts import api as cohort_api
from hoglet.console.application import mount_console
from hoglet.definitions import api as definition_api
from hoglet.endpoints import api as endpoint_api
from hoglet.endpoints.openapi import api as endpoint_documents_api
from hoglet.endpoints.query_log import api as endpoint_log_api
from hoglet.endpoints.query_log import usage_api as endpoint_usage_api
from hoglet.endpoints.run.api import run_routes
from hoglet.endpoints.versions import api as endpoint_versions_api
from hoglet.events.api import capture_routes
from hoglet.events.persons import api as person_api
from hoglet.functions import api as function_api
from hoglet.functions import side_api
from hoglet.functions.actions import api as action_api
from hoglet.functions.dead_letters import api as dead_letter_api
from hoglet.functions.history import api as history_api
from hoglet.functions.integrations import api as integration_api
from hoglet.functions.logs import live_tail_api
from hoglet.functions.templates import api as template_api
from hoglet.functions.webhooks import api as public_api
from hoglet.pipeline.persons import api as person_change_api
from hoglet.queries import api as query_api
from hoglet.queries import events_api, persons_api
from hoglet.web.app import create_application

ROUTERS = (
    access_api.router,
    keys_api.router,
    api_public.router,
    template_api.public_router,
    public_api.router,
    api_document.router,
)
PROJECT_ROUTERS = (
    api_project.router,
    keys_api.project_router,
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
    query_api.router,
    cohort_api.router,
    persons_api.router,
    person_change_api.router,
    person_api.router,
    events_api.router,
    definition_api.router,
)


def hot_routes() -> list[BaseRoute]:
    """The plain routes that are tried before all others: runs first, for capture has many paths."""
    return [*run_routes(), *capture_routes()]


def build_application(rooms: Services, features: Features) -> FastAPI:
    """Mount every room; their services hang on ``app.state``."""
    readiness = Readiness(rooms, features)
    app = create_application(
        routes=hot_routes(),
        routers=ROUTERS,
        project_routers=PROJECT_ROUTERS,
        checks=readiness.checks(),
        warnings=readiness.warnings,
        registry=rooms.registry,
        body_limit_bytes=rooms.settings.request_body_bytes,
        body_seconds=rooms.settings.request_body_seconds,
        body_buffer_bytes=rooms.settings.request_buffer_bytes,
        log_requests=rooms.settings.log_level == "debug",
    )
    app.state.access = rooms.access
    app.state.trust_proxy = rooms.settings.trust_proxy
    app.state.events = features.events
    app.state.persons = features.events.persons
    app.state.person_changes = features.person_changes
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
    app.state.queries = features.queries
    app.state.cohorts = features.cohorts
    app.state.definitions = features.definitions
    if "console" in rooms.settings.roles:
        mount_console(app, rooms.secret_keys)
    return app
