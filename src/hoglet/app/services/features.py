"""Builds the features over the opened services and connects them."""

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from hoglet.access import system_rows as access
from hoglet.app.services.container import Services
from hoglet.app.services.endpoints import build_endpoint_services
from hoglet.app.services.events import EventServices, build_events
from hoglet.app.services.functions import FunctionServices, build_functions
from hoglet.app.services.hooks import connect_hooks
from hoglet.cohorts import system_rows as cohorts
from hoglet.cohorts.container import CohortServices, build_cohorts
from hoglet.cohorts.repository import person_criteria
from hoglet.definitions import system_rows as definitions
from hoglet.definitions.conversion import ConversionShares
from hoglet.definitions.event_service import EventDefinitionService
from hoglet.definitions.json_forms import PropertyFormCounter
from hoglet.definitions.property_service import PropertyDefinitionService
from hoglet.definitions.repository import property_types
from hoglet.definitions.service import DefinitionServices
from hoglet.definitions.text_columns import TextColumnWorker
from hoglet.endpoints import system_rows as endpoints
from hoglet.endpoints.container import EndpointServices
from hoglet.endpoints.run.system_rows import RowReader
from hoglet.events import system_rows as events
from hoglet.functions import system_rows as functions
from hoglet.functions.integrations.service import IntegrationService
from hoglet.pipeline.ingest.replication import WarehouseReplicator
from hoglet.pipeline.persons.api import PersonChangeServices
from hoglet.pipeline.persons.deletions import PersonDeletions, PersonDependents
from hoglet.pipeline.persons.splits import PersonSplits
from hoglet.pipeline.spool_backlog import SpoolBacklog
from hoglet.queries.container import QueryServices, build_queries
from hoglet.warehouse.text_columns import TextColumns


class Features(msgspec.Struct):
    """The services of all features."""

    events: EventServices
    functions: FunctionServices
    endpoints: EndpointServices
    queries: QueryServices
    person_changes: PersonChangeServices
    cohorts: CohortServices
    definitions: DefinitionServices
    text_columns: TextColumnWorker


def build_features(services: Services) -> Features:
    """Build the features and register their access hooks."""
    events = build_events(services)
    functions = build_functions(services, property_types, person_criteria)
    text_columns = TextColumnWorker(
        TextColumns(services.warehouse),
        services.clock,
        on_filled=services.access.forget,
        registry=services.registry,
    )
    endpoints = build_endpoint_services(
        services, events.repository, row_readers(functions.integrations), text_columns
    )
    connect_hooks(services, events)
    queries = build_queries(endpoints, services.queue)
    cohorts = build_cohorts(
        endpoints,
        services.queue,
        changed=services.access.forget,
        age=timedelta(minutes=services.settings.cohort_minutes),
    )
    shares = ConversionShares(services.database, services.warehouse, services.clock)
    forms = PropertyFormCounter(services.warehouse, services.clock)
    definitions = DefinitionServices(
        PropertyDefinitionService(services.access, shares, forms),
        EventDefinitionService(services.access),
    )
    changes = build_person_changes(services, events, endpoints, cohorts)
    return Features(
        events, functions, endpoints, queries, changes, cohorts, definitions, text_columns
    )


def build_person_changes(
    services: Services,
    events: EventServices,
    endpoints: EndpointServices,
    cohorts: CohortServices,
) -> PersonChangeServices:
    """The services that delete and split persons, with what must follow in other features."""
    activity = services.access.activity
    deletions = PersonDeletions(
        database=services.database,
        queue=services.queue,
        warehouse=services.warehouse,
        clock=services.clock,
        activity=activity,
        dependents=PersonDependents(
            drop_results=endpoints.runner.cache.clear,
            forget_member=cohorts.static.forget_person,
            backlog=SpoolBacklog(services.database, services.spool_logs, services.clock),
        ),
    )
    copies = WarehouseReplicator(services.database, services.queue, services.warehouse)
    splits = PersonSplits(services.database, events.repository, copies, activity, services.clock)
    return PersonChangeServices(deletions, splits)


def row_readers(integrations: IntegrationService) -> Mapping[str, RowReader]:
    """The row readers by table name; ``system.groups`` is in the warehouse and needs none."""
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
