"""Maps each ``system`` table to the feature that reads its rows."""

from collections.abc import Mapping

from hoglet.access import system_rows as access
from hoglet.cohorts import system_rows as cohorts
from hoglet.definitions import system_rows as definitions
from hoglet.endpoints import system_rows as endpoints
from hoglet.endpoints.run.system_rows import RowReader
from hoglet.events import system_rows as events
from hoglet.functions import system_rows as functions
from hoglet.functions.integrations.service import IntegrationService


def row_readers(integrations: IntegrationService) -> Mapping[str, RowReader]:
    """The readers by name in FROM; ``system.groups`` is in the warehouse and has none."""
    return {
        "system.activity_logs": access.activity_logs,
        "system.actions": functions.actions,
        "system.cohort_calculation_history": cohorts.cohort_calculations,
        "system.cohorts": cohorts.cohorts,
        "system.data_modeling_endpoint_versions": endpoints.endpoint_versions,
        "system.data_modeling_endpoints": endpoints.endpoints,
        "system.event_definitions": definitions.event_definitions,
        "system.group_type_mappings": events.group_type_mappings,
        "system.hog_functions": functions.hog_functions,
        "system.ingestion_warnings": events.ingestion_warnings,
        "system.insight_variables": access.insight_variables,
        "system.integrations": functions.IntegrationRows(integrations.error_of),
        "system.property_definitions": definitions.property_definitions,
        "system.teams": access.teams,
    }
