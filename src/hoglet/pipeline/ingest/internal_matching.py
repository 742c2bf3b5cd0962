"""Matches one internal event, in the worker. Pure."""

from datetime import datetime
from uuid import UUID

import msgspec

from hoglet.events.parse import Event
from hoglet.functions.executable.matching import FunctionIndex
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.runtime.filter_globals import lazy_filter_globals
from hoglet.functions.runtime.globals import EventFields, event_globals, project_globals
from hoglet.kit.json import Properties
from hoglet.pipeline.ingest.ipc import (
    BatchCounters,
    BatchResult,
    Handling,
    ProjectFacts,
)
from hoglet.pipeline.ingest.matching import TriggerMatcher


class InternalRequest(msgspec.Struct, kw_only=True):
    """One event and the project's internal destinations."""

    project: ProjectFacts
    functions: list[ExecutableFunction]
    uuid: UUID
    event: str
    distinct_id: str
    properties: Properties
    timestamp: str
    handling: Handling = "run"
    reason: str = ""


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
