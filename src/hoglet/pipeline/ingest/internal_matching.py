"""Matches one internal event, in the worker. Pure."""

from datetime import datetime

from hoglet.events.parse import Event
from hoglet.functions.executable.matching import FunctionIndex
from hoglet.functions.runtime.filter_globals import lazy_filter_globals
from hoglet.functions.runtime.globals import EventFields, event_globals, project_globals
from hoglet.pipeline.ingest.ipc import (
    BatchCounters,
    BatchResult,
    InternalRequest,
)
from hoglet.pipeline.ingest.matching import TriggerMatcher


def match_internal(request: InternalRequest) -> BatchResult:
    """The runs that an internal event triggers, or dead letters in their place."""
    project = project_globals(
        project_id=request.project.id, name=request.project.name, site_url=request.project.site_url
    )
    event = Event(
        uuid=request.uuid,
        event=request.event,
        distinct_id=request.distinct_id,
        properties=request.properties,
        timestamp=datetime.fromisoformat(request.timestamp),
    )
    run_globals = {
        "project": project,
        "event": event_globals(
            project["url"],
            EventFields(
                uuid=str(event.uuid),
                event=event.event,
                distinct_id=event.distinct_id,
                properties=event.properties,
                timestamp=request.timestamp,
            ),
        ),
    }
    result = BatchResult(tally=BatchCounters())
    index = FunctionIndex(request.functions)
    triggers = TriggerMatcher(
        request.project, project, result.tally, request.handling, request.reason
    )
    if triggers.count(index, event):
        triggers.match(index, event, lazy_filter_globals(run_globals), lambda: run_globals)
    triggers.count_filtered(index)
    result.invocations = triggers.invocations
    result.shared_globals = triggers.shared_globals
    result.add_shared_globals()
    return result
