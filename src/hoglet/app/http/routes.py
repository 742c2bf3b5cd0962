"""The routers of all features, in matching order."""

from starlette.routing import BaseRoute

from hoglet.access.api import keys as keys_api
from hoglet.access.api import project as api_project
from hoglet.access.api import sdk_config
from hoglet.access.api import user as access_api
from hoglet.cohorts import api as cohort_api
from hoglet.definitions import api as definition_api
from hoglet.endpoints import api as endpoint_api
from hoglet.endpoints.materialization import builds_api as endpoint_builds_api
from hoglet.endpoints.openapi import api as endpoint_documents_api
from hoglet.endpoints.query_log import api as endpoint_log_api
from hoglet.endpoints.query_log import usage_api as endpoint_usage_api
from hoglet.endpoints.run.api import run_routes
from hoglet.endpoints.tenant_tokens import api as tenant_token_api
from hoglet.endpoints.versions import api as endpoint_versions_api
from hoglet.events.api import capture_routes
from hoglet.events.persons import api as person_api
from hoglet.functions import api as function_api
from hoglet.functions.actions import api as action_api
from hoglet.functions.backfills import api as backfill_api
from hoglet.functions.dead_letters import api as dead_letter_api
from hoglet.functions.drafts import api as draft_api
from hoglet.functions.explain_match import api as explain_match_api
from hoglet.functions.history import api as history_api
from hoglet.functions.integrations import api as integration_api
from hoglet.functions.logs import api as logs_api
from hoglet.functions.logs import live_tail_api
from hoglet.functions.templates import api as template_api
from hoglet.functions.test_runs import api as test_run_api
from hoglet.functions.webhooks import api as public_api
from hoglet.mcp import api as mcp_api
from hoglet.pipeline.persons import api as person_change_api
from hoglet.queries import api as query_api
from hoglet.queries import tools_api
from hoglet.queries.search import events_api, persons_api

ROUTERS = (
    access_api.router,
    keys_api.router,
    sdk_config.router,
    template_api.public_router,
    public_api.router,
    mcp_api.router,
)
PROJECT_ROUTERS = (
    api_project.router,
    keys_api.project_router,
    logs_api.router,
    backfill_api.router,
    test_run_api.router,
    draft_api.router,
    explain_match_api.router,
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
    endpoint_builds_api.router,
    tenant_token_api.router,
    endpoint_api.router,
    query_api.router,
    cohort_api.router,
    persons_api.router,
    person_change_api.router,
    person_api.router,
    events_api.router,
    tools_api.router,
    definition_api.router,
    mcp_api.project_router,
)


def hot_routes() -> list[BaseRoute]:
    """The plain routes, matched before all others; runs first, because capture has many paths."""
    return [*run_routes(), *query_api.query_routes(), *capture_routes()]
