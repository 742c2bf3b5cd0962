"""Builds the event services: capture, spool, warnings."""

from typing import Any

import msgspec

from hoglet.app.services.container import Services
from hoglet.events.known_uuids import KnownUuids
from hoglet.events.log_writer import LogWriter
from hoglet.events.persons.service import PersonService
from hoglet.events.repository import EventsRepository
from hoglet.events.service import CaptureService
from hoglet.events.spool import JobWriter, Spool, SpoolWriter
from hoglet.events.warnings import IngestionWarnings
from hoglet.pipeline.ingest.spool_log.losses import SpoolLosses


class EventServices(msgspec.Struct):
    """Services of events, stored in ``app.state.events``."""

    capture: CaptureService
    warnings: IngestionWarnings
    repository: EventsRepository
    spool: Spool
    persons: PersonService
    known_uuids: KnownUuids
    spool_losses: SpoolLosses


def build_events(services: Services) -> EventServices:
    """The capture service on the shared database and queue."""
    known = KnownUuids(services.clock, window_days=services.settings.dedup_window_days)
    repository = EventsRepository(known)
    warnings = IngestionWarnings(services.database, repository, services.clock)
    spool = Spool(_writer(services))
    capture = CaptureService(
        tokens=services.access,
        spool=spool,
        warnings=warnings,
        clock=services.clock,
        body_limit_bytes=services.settings.request_body_bytes,
    )
    persons = PersonService(
        services.database, spool, services.clock, services.warehouse, services.access.activity
    )
    losses = SpoolLosses(services.database, warnings, services.registry, services.clock)
    return EventServices(capture, warnings, repository, spool, persons, known, losses)


def _writer(services: Services) -> SpoolWriter[Any]:
    if not services.spool_logs:
        return JobWriter(services.database, services.queue)
    return LogWriter(services.spool_logs[0].log, services.settings.partitions)
