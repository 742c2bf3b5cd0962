"""The web application of a server: the routers of all packages over their services."""

from starlette.applications import Starlette

from hoglet.app.backup.api import backup_route
from hoglet.app.backup.service import BackupService
from hoglet.app.http import openapi as api_document
from hoglet.app.http.draining import Drain
from hoglet.app.http.readiness import Readiness
from hoglet.app.http.routes import PROJECT_ROUTERS, ROUTERS, hot_routes
from hoglet.app.services.container import Services
from hoglet.app.services.features import Features
from hoglet.app.startup.server_file import make_token
from hoglet.console.application import mount_console
from hoglet.endpoints.run.fast_path import PATHS
from hoglet.settings import Settings
from hoglet.web.app import ReadinessChecks, RequestPolicy, create_application
from hoglet.web.router import Shortcut
from hoglet.web.websockets import OpenWebsockets


def build_application(
    services: Services, features: Features, drain: Drain | None = None, *, local_token: str = ""
) -> Starlette:
    """Mount all routers; services are attributes of ``app.state``.

    Args:
        services: the services.
        features: the services of the features.
        drain: the shutdown delay, a check of ``/_readyz``.
        local_token: authenticates commands on this machine; random by default.
    """
    readiness = Readiness(services, features)
    backups = BackupService(
        services.settings, services.database, services.warehouse, services.clock
    )
    backup = backup_route(backups, local_token or make_token())
    # An executor's own warehouse may be empty, so its responses would be wrong.
    is_api = "api" in services.settings.roles
    app = create_application(
        routes=[*hot_routes(), backup] if is_api else [backup],
        routers=(*ROUTERS, api_document.router) if is_api else (),
        project_routers=PROJECT_ROUTERS if is_api else (),
        readiness=ReadinessChecks(
            readiness.checks() | ({"drain": drain.check} if drain and drain.is_set else {}),
            readiness.warnings,
        ),
        registry=services.registry,
        policy=_policy(services.settings),
        shortcut=Shortcut(PATHS, features.endpoints.known_requests.answer) if is_api else None,
    )
    _set_state(app, services, features)
    if "console" in services.settings.roles:
        mount_console(app, services.secret_keys, app.state.websockets)
    return app


def _policy(settings: Settings) -> RequestPolicy:
    return RequestPolicy(
        body_limit_bytes=settings.request_body_bytes,
        body_seconds=settings.request_body_seconds,
        body_buffer_bytes=settings.request_buffer_bytes,
        trust_proxy=settings.trust_proxy,
        log_requests=settings.log_level == "debug",
    )


def _set_state(app: Starlette, services: Services, features: Features) -> None:
    """Give the handlers of routes their services."""
    app.state.websockets = OpenWebsockets()
    app.state.access = services.access
    app.state.events = features.events
    app.state.persons = features.events.persons
    app.state.person_changes = features.person_changes
    app.state.functions = features.functions.service
    app.state.integrations = features.functions.integrations
    app.state.actions = features.functions.actions
    app.state.backfills = features.functions.backfills
    app.state.dead_letters = features.functions.dead_letters
    app.state.live_tail = features.functions.live_tail
    app.state.telemetry = features.functions.telemetry
    app.state.webhooks = features.functions.webhooks
    app.state.match_counts = features.functions.match_counts
    app.state.match_explainer = features.functions.match_explainer
    app.state.test_runs = features.functions.test_runs
    app.state.endpoints = features.endpoints
    app.state.queries = features.queries
    app.state.cohorts = features.cohorts
    app.state.definitions = features.definitions
