"""Builds the features over the opened services and connects them."""

from dataclasses import dataclass
from datetime import timedelta

from hoglet.app.container import Services
from hoglet.app.endpoints import build_endpoint_services
from hoglet.app.events import EventServices, build_events
from hoglet.app.functions import FunctionServices, build_functions
from hoglet.app.hooks import connect_hooks
from hoglet.app.persons import build_person_changes
from hoglet.app.system_tables import row_readers
from hoglet.cohorts.references import person_criteria
from hoglet.cohorts.services import CohortServices, build_cohorts
from hoglet.definitions.conversion import ConversionShares
from hoglet.definitions.forms import PropertyForms
from hoglet.definitions.repository import property_types
from hoglet.definitions.service import DefinitionService
from hoglet.endpoints.services import EndpointServices
from hoglet.pipeline.persons.api import PersonChangeServices
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
    definitions: DefinitionService


def build_features(rooms: Services) -> Features:
    """Build the features and register their access hooks."""
    events = build_events(rooms)
    functions = build_functions(rooms, property_types, person_criteria)
    endpoints = build_endpoint_services(
        rooms, events.repository, row_readers(functions.integrations)
    )
    connect_hooks(rooms, events)
    queries = build_queries(endpoints, rooms.queue)
    cohorts = build_cohorts(
        endpoints,
        rooms.queue,
        changed=rooms.access.forget,
        age=timedelta(minutes=rooms.settings.cohort_minutes),
    )
    shares = ConversionShares(rooms.database, rooms.warehouse, rooms.clock)
    forms = PropertyForms(rooms.warehouse, rooms.clock)
    definitions = DefinitionService(rooms.access, shares, forms)
    changes = build_person_changes(rooms, events, endpoints)
    return Features(events, functions, endpoints, queries, changes, cohorts, definitions)
