"""First phase of a group, in the worker: parse, transform, determine lookups. Pure."""

from collections.abc import Iterator
from datetime import datetime

import msgspec
import orjson

from hoglet.definitions.observer import PropertyObserver
from hoglet.events import parse as incoming
from hoglet.events.elements import chain_elements
from hoglet.events.parse import Event
from hoglet.events.persons.updates import (
    GroupUpdate,
    PersonUpdate,
    group_update_of,
    groups_of,
    person_update_of,
    processes_person,
)
from hoglet.functions.executable.matching import Conditions, FunctionIndex
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.json import Properties
from hoglet.pipeline.ingest.ipc import (
    BatchCounters,
    LookupRequest,
    Part,
    ProjectFacts,
    ReadRequest,
)
from hoglet.pipeline.ingest.transform import GroupTransformer

_VALUE_CHARACTERS = 100


class ParsedEvent(msgspec.Struct, gc=False):
    """An event between the two phases; nothing in it refers to it."""

    event: Event
    received_at: datetime
    is_historical: bool
    has_own_uuid: bool
    effect: PersonUpdate | None
    has_profile: bool
    groups: dict[str, str] | None
    group_effect: GroupUpdate | None
    trace: str | None = None


class FunctionSet:
    """The indexed functions of a project; cached by the worker."""

    def __init__(
        self, key: str, project: ProjectFacts, functions: list[ExecutableFunction]
    ) -> None:
        self.key = key
        self.project = project
        self.conditions = Conditions()
        self.transformations = [
            function
            for function in functions
            if function.type == "transformation" and function.enabled
        ]
        destinations = [function for function in functions if function.type == "destination"]
        self.on_events = FunctionIndex(
            [function for function in destinations if function.source == "events"]
        )
        self.on_persons = FunctionIndex(
            [function for function in destinations if function.source == "person-updates"]
        )


class ParsedBatch(msgspec.Struct):
    """A group after the first phase; ``warnings`` are ingestion warnings with an example each."""

    request: ReadRequest
    functions: FunctionSet
    readings: list[ParsedEvent]
    tally: BatchCounters
    observer: PropertyObserver
    warnings: list[tuple[str, Properties]]


def parse_batch(request: ReadRequest, functions: FunctionSet) -> ParsedBatch:
    """Parse and transform all events of a group."""
    tally, observer = BatchCounters(), PropertyObserver()
    transformations = functions.transformations if request.handling == "run" else []
    transformer = GroupTransformer(transformations, functions.project, tally, functions.conditions)
    readings: list[ParsedEvent] = []
    warnings: list[tuple[str, Properties]] = []
    for part in request.parts:
        for event, own_uuid, historical in _events_of(part, warnings):
            result = transformer.apply(event)
            if result is None:
                continue
            chain_elements(result.properties)
            reading = _reading(result, part.received_at, own_uuid=own_uuid, historical=historical)
            reading.trace = part.trace
            readings.append(reading)
            observer.observe_event(result.event, result.properties, part.received_at)
    return ParsedBatch(request, functions, readings, tally, observer, warnings)


def lookups_needed(group: ParsedBatch) -> LookupRequest:
    """The lookups that the second phase needs."""
    merging: set[str] = set()
    groups: set[tuple[str, str]] = set()
    for parsed in group.readings:
        if parsed.effect is not None and parsed.effect.merge_from:
            merging.update((parsed.event.distinct_id, parsed.effect.merge_from))
        groups.update((parsed.groups or {}).items())
        if parsed.group_effect is not None:
            groups.add((parsed.group_effect.group_type, parsed.group_effect.group_key))
    return LookupRequest(
        distinct_ids=list({parsed.event.distinct_id for parsed in group.readings}),
        merging=list(merging),
        groups=list(groups),
        uuids=[parsed.event.uuid for parsed in group.readings if parsed.has_own_uuid],
    )


def _events_of(
    part: Part, warnings: list[tuple[str, Properties]]
) -> Iterator[tuple[Event, bool, bool]]:
    """The accepted events of a request, with ``(has its own uuid, is historical)``."""
    batch = incoming.batch_of(orjson.loads(part.body), {})
    first_uuid = part.job_id.int
    for index, raw in enumerate(batch.events, part.first):
        # Derived from the job's id, so that it is the same if the group is processed again.
        accepted = incoming.accept(
            raw, sent_at=part.sent_at, received_at=part.received_at, made_up=first_uuid + index
        )
        if accepted is None:
            continue
        event, own_uuid = accepted
        if event.timestamp is part.received_at and raw.get("timestamp") is not None:
            warnings.append(_ignored_timestamp(event, raw["timestamp"]))
        if part.ip is not None:
            event.properties.setdefault("$ip", part.ip)
        yield event, own_uuid, batch.historical


def _ignored_timestamp(event: Event, timestamp: object) -> tuple[str, Properties]:
    """The warning about an event that got the time of its request instead of its own."""
    example: Properties = {"event": event.event, "distinct_id": event.distinct_id}
    return "ignored_invalid_timestamp", {**example, "timestamp": str(timestamp)[:_VALUE_CHARACTERS]}


def _reading(
    event: Event, received_at: datetime, *, own_uuid: bool, historical: bool
) -> ParsedEvent:
    properties: Properties = event.properties
    return ParsedEvent(
        event=event,
        received_at=received_at,
        is_historical=historical,
        has_own_uuid=own_uuid,
        effect=person_update_of(event.event, properties),
        has_profile=processes_person(properties),
        groups=groups_of(properties),
        group_effect=group_update_of(event.event, properties),
    )
