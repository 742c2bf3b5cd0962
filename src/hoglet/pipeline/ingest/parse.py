"""First phase of a group, in the worker: parse, transform, determine lookups. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import batched

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
# Each step is done for a block of events before the next step: code that is repeated at once is
# still in the processor's caches, see docs/adr/0080-steps-for-blocks-of-events.md.
_BLOCK = 256


class ParsedEvent(msgspec.Struct, gc=False):
    """An event between the two phases; nothing in it refers to it.

    What it does to persons and groups is known once it is transformed, see :func:`_derive`.
    """

    event: Event
    received_at: datetime
    is_historical: bool
    has_own_uuid: bool
    trace: str | None
    effect: PersonUpdate | None = None
    has_profile: bool = True
    groups: dict[str, str] | None = None
    group_effect: GroupUpdate | None = None


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
    for accepted in batched(_accepted(request.parts, warnings), _BLOCK):
        stays = transformer.apply([parsed.event for parsed in accepted])
        block = [parsed for parsed, is_left in zip(accepted, stays, strict=True) if is_left]
        for parsed in block:
            _derive(parsed)
        for parsed in block:
            observer.observe_event(parsed.event.event, parsed.event.properties, parsed.received_at)
        readings += block
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


def _accepted(
    parts: Sequence[Part], warnings: list[tuple[str, Properties]]
) -> Iterator[ParsedEvent]:
    """The accepted events of the requests."""
    for part in parts:
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
            yield ParsedEvent(event, part.received_at, batch.historical, own_uuid, part.trace)


def _ignored_timestamp(event: Event, timestamp: object) -> tuple[str, Properties]:
    """The warning about an event that got the time of its request instead of its own."""
    example: Properties = {"event": event.event, "distinct_id": event.distinct_id}
    return "ignored_invalid_timestamp", {**example, "timestamp": str(timestamp)[:_VALUE_CHARACTERS]}


def _derive(parsed: ParsedEvent) -> None:
    """Set what a transformed event does to persons and groups."""
    event = parsed.event
    properties: Properties = event.properties
    chain_elements(properties)
    parsed.effect = person_update_of(event.event, properties)
    parsed.has_profile = processes_person(properties)
    parsed.groups = groups_of(properties)
    parsed.group_effect = group_update_of(event.event, properties)
