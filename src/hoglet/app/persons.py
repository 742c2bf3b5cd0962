"""Builds the services that delete and split persons."""

from hoglet.app.container import Services
from hoglet.app.events import EventServices
from hoglet.endpoints.services import EndpointServices
from hoglet.pipeline.ingest.replication import WarehouseReplicator
from hoglet.pipeline.persons.api import PersonChangeServices
from hoglet.pipeline.persons.deletions import PersonDeletions
from hoglet.pipeline.persons.splits import PersonSplits


def build_person_changes(
    rooms: Services, events: EventServices, endpoints: EndpointServices
) -> PersonChangeServices:
    """Services on the shared database, queue and warehouse."""
    activity = rooms.access.activity
    deletions = PersonDeletions(
        database=rooms.database,
        queue=rooms.queue,
        warehouse=rooms.warehouse,
        clock=rooms.clock,
        activity=activity,
        drop_results=endpoints.runner.cache.clear,
    )
    copies = WarehouseReplicator(rooms.database, rooms.queue, rooms.warehouse)
    splits = PersonSplits(rooms.database, events.repository, copies, activity, rooms.clock)
    return PersonChangeServices(deletions, splits)
