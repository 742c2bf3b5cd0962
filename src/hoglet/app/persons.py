"""Builds the services that delete and split persons."""

from hoglet.app.container import Services
from hoglet.app.events import EventServices
from hoglet.endpoints.services import EndpointServices
from hoglet.pipeline.ingest.replication import WarehouseReplicator
from hoglet.pipeline.persons.api import PersonChangeServices
from hoglet.pipeline.persons.deletions import PersonDeletions
from hoglet.pipeline.persons.splits import PersonSplits


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
