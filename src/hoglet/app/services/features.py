"""Builds the features over the opened services and connects them."""

from dataclasses import dataclass
from datetime import timedelta

from hoglet.app.services.container import Services
from hoglet.app.services.endpoints import build_endpoint_services
from hoglet.app.services.events import EventServices, build_events
from hoglet.app.services.functions import FunctionServices, build_functions
from hoglet.app.services.hooks import connect_hooks
from hoglet.app.services.system_tables import row_readers
from hoglet.cohorts.references import person_criteria
from hoglet.cohorts.services import CohortServices, build_cohorts
from hoglet.definitions.conversion import ConversionShares
from hoglet.definitions.event_service import EventDefinitionService
from hoglet.definitions.forms import PropertyFormCounter
from hoglet.definitions.property_service import PropertyDefinitionService
from hoglet.definitions.repository import property_types
from hoglet.definitions.service import DefinitionServices
from hoglet.endpoints.services import EndpointServices
from hoglet.pipeline.ingest.replication import WarehouseReplicator
from hoglet.pipeline.persons.api import PersonChangeServices
from hoglet.pipeline.persons.deletions import PersonDeletions
from hoglet.pipeline.persons.splits import PersonSplits
from hoglet.queries.services import QueryServices, build_queries


@dataclass
class Features:
    """The services of all features."""

    events: EventServices
    functions: FunctionServices
    endpoints: EndpointServices
    queries: QueryServices
    person_changes: PersonChangeServices
    cohorts: CohortServices
    definitions: DefinitionServices


def build_features(services: Services) -> Features:
    """Build the features and register their access hooks."""
    events = build_events(services)
    functions = build_functions(services, property_types, person_criteria)
    endpoints = build_endpoint_services(
        services, events.repository, row_readers(functions.integrations)
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
    changes = build_person_changes(services, events, endpoints)
    return Features(events, functions, endpoints, queries, changes, cohorts, definitions)


def build_person_changes(
    services: Services, events: EventServices, endpoints: EndpointServices
) -> PersonChangeServices:
    """Services on the shared database, queue and warehouse."""
    activity = services.access.activity
    deletions = PersonDeletions(
        database=services.database,
        queue=services.queue,
        warehouse=services.warehouse,
        clock=services.clock,
        activity=activity,
        drop_results=endpoints.runner.cache.clear,
    )
    copies = WarehouseReplicator(services.database, services.queue, services.warehouse)
    splits = PersonSplits(services.database, events.repository, copies, activity, services.clock)
    return PersonChangeServices(deletions, splits)
