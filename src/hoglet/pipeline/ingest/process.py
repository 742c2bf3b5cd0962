"""Second phase of a group, in the worker: persons, groups, matching, rows. Pure.

Source: docs/spec/hog-functions.md#5-filters, docs/spec/hog-functions.md#6-masking,
docs/spec/hog-functions.md#131-pipeline-destinations and docs/spec/hog-functions.md#14-capture.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from hoglet.events.groups import MAX_GROUP_TYPES, GroupStore
from hoglet.events.persons.model import Person, PersonStore
from hoglet.events.persons.updates import GroupUpdate
from hoglet.functions.executable.matching import FunctionIndex
from hoglet.functions.json_types import Globals, GroupGlobal
from hoglet.functions.runtime.filter_globals import FilterGlobals
from hoglet.functions.runtime.globals import (
    EventFields,
    event_globals,
    group_globals,
    person_globals,
    project_globals,
)
from hoglet.kit.json import Properties, dump_storable_json
from hoglet.pipeline.ingest.ipc import BatchResult, ProcessRequest
from hoglet.pipeline.ingest.matching import TriggerMatcher
from hoglet.pipeline.ingest.parse import ParsedBatch, ParsedEvent
from hoglet.pipeline.ingest.transform import iso, uuid_text

# The engine rejects blocks with rows of more than 100 partitions; events are partitioned by month.
# An event's block depends only on its timestamp, so that a group that is inserted again after a
# crash has the same blocks, even if its events were processed differently.
MONTHS_PER_BLOCK = 80
_NO_GROUPS = [""] * MAX_GROUP_TYPES


def process_batch(group: ParsedBatch, request: ProcessRequest) -> BatchResult:
    """Process a batch with the state it requested."""
    return _BatchProcessor(group, request).run()


class _BatchProcessor:
    def __init__(self, group: ParsedBatch, request: ProcessRequest) -> None:
        self._group = group
        self._project = group.functions.project
        self._persons = PersonStore(self._project.id, request.persons)
        self._book = GroupStore(request.group_types, request.groups)
        self._seen = {uuid.int for uuid in request.seen}  # a UUID computes its hash in Python
        self._new_uuids: list[UUID] = []
        self._lines: list[tuple[int, bytes]] = []
        project = project_globals(
            project_id=self._project.id, name=self._project.name, site_url=self._project.site_url
        )
        self._project_globals = project
        self._handling = group.request.handling
        self._triggers = TriggerMatcher(
            self._project, project, group.tally, self._handling, group.request.reason
        )
        self._last_change: dict[UUID, tuple[ParsedEvent, Person]] = {}

    def run(self) -> BatchResult:
        for parsed in self._group.readings:
            if self._is_new(parsed):
                self._act_on(parsed)
        self._triggers.count_filtered(self._group.functions.on_events, later=True)
        self._trigger_on_persons()
        return BatchResult(
            blocks=blocks_of(self._lines),
            stored=len(self._lines),
            persons=self._persons.changes(),
            new_group_types=self._book.new_types,
            groups=self._book.changes(),
            new_uuids=self._new_uuids,
            invocations=self._triggers.invocations,
            tally=self._group.tally,
            observation=self._group.observer.observation(),
            warnings=[*self._group.warnings, *self._persons.warnings, *self._undelivered()],
            shared_globals=self._triggers.shared_globals,
        )

    def _undelivered(self) -> list[tuple[str, Properties]]:
        """Warnings about events that were stored without functions."""
        if self._handling == "run":
            return []
        letters = len(self._group.tally.dead_letters)
        return [
            (
                "functions_left_out",
                {
                    "event": parsed.event.event,
                    "uuid": str(parsed.event.uuid),
                    "distinct_id": parsed.event.distinct_id,
                    "reason": self._group.request.reason,
                    "dead_letters": letters,
                },
            )
            for parsed in self._group.readings
        ]

    def _is_new(self, parsed: ParsedEvent) -> bool:
        """False for a UUID that is already stored, or occurred earlier in this group."""
        if not parsed.has_own_uuid:
            return True
        uuid = parsed.event.uuid
        if uuid.int in self._seen:
            return False
        self._seen.add(uuid.int)
        self._new_uuids.append(uuid)
        return True

    def _act_on(self, parsed: ParsedEvent) -> None:
        event = parsed.event
        person = self._person_of(parsed)
        keys = _NO_GROUPS
        if parsed.group_effect is not None:
            self._book.apply(parsed.group_effect, event.timestamp)
            self._observe_group(parsed.group_effect, parsed.received_at)
        if parsed.groups is not None:
            keys = self._book.keys_of(parsed.groups)
        if not parsed.is_historical:
            self._trigger(self._group.functions.on_events, parsed, person, keys)
        self._lines.append((block_of(event.timestamp), self._line(parsed, person, keys)))

    def _person_of(self, parsed: ParsedEvent) -> Person | None:
        if not parsed.has_profile:
            return None
        watched = bool(self._group.functions.on_persons.functions) and not parsed.is_historical
        before = self._persons.find(parsed.event.distinct_id) if watched else None
        text = before.json() if before else None
        person = self._persons.apply(
            parsed.event.distinct_id, parsed.event.timestamp, parsed.effect
        )
        if watched and (before is not person or person.json() != text):
            self._last_change[person.id] = (parsed, person)
        if parsed.effect is not None:
            self._group.observer.observe("person", parsed.effect.overwrite, parsed.received_at)
            self._group.observer.observe("person", parsed.effect.once, parsed.received_at)
        return person

    def _observe_group(self, effect: GroupUpdate, at: datetime) -> None:
        index = self._book.index_of(effect.group_type)
        if index is not None:
            self._group.observer.observe(f"group_{index}", effect.overwrite, at)

    def _trigger(
        self, index: FunctionIndex, parsed: ParsedEvent, person: Person | None, keys: list[str]
    ) -> None:
        """Match an event with the functions of an index.

        The globals of runs are built once, for the first run.
        """
        if not index.functions or not self._triggers.count(index, parsed.event):
            return
        built: list[Globals] = []

        def run_globals() -> Globals:
            if not built:
                built.append(self._globals(parsed, person, keys))
            return built[0]

        self._triggers.trace = parsed.trace
        values = self._filter_globals(parsed, person, keys)
        self._triggers.match(index, parsed.event, values, run_globals)

    def _trigger_on_persons(self) -> None:
        index = self._group.functions.on_persons
        if not index.functions:
            return
        for parsed, person in self._last_change.values():
            self._trigger(index, parsed, person, _NO_GROUPS)
        self._triggers.count_filtered(index)

    def _filter_globals(
        self, parsed: ParsedEvent, person: Person | None, keys: list[str]
    ) -> FilterGlobals:
        event = parsed.event
        return FilterGlobals(
            {
                "event": event.event,
                "uuid": uuid_text(event.uuid),
                "timestamp": iso(event.timestamp),
                "distinct_id": event.distinct_id,
                "properties": event.properties,
                "elements_chain": event.properties.get("$elements_chain"),
            },
            lambda: person and {"id": str(person.id), "properties": person.properties},
            lambda: {} if keys is _NO_GROUPS else self._groups(self._project_globals["url"], keys),
        )

    def _globals(self, parsed: ParsedEvent, person: Person | None, keys: list[str]) -> Globals:
        event, url = parsed.event, self._project_globals["url"]
        values: Globals = {
            "project": self._project_globals,
            "event": event_globals(
                url,
                EventFields(
                    uuid=uuid_text(event.uuid),
                    event=event.event,
                    distinct_id=event.distinct_id,
                    properties=event.properties,
                    timestamp=iso(event.timestamp),
                    captured_at=iso(parsed.received_at),
                ),
            ),
        }
        if person is not None:
            values["person"] = person_globals(
                project_url=url,
                person_id=str(person.id),
                properties=person.properties,
                distinct_id=event.distinct_id,
                name_properties=self._project.name_properties,
            )
        if keys is not _NO_GROUPS:
            values["groups"] = self._groups(url, keys)
        return values

    def _groups(self, url: str, keys: list[str]) -> dict[str, GroupGlobal]:
        return {
            kind: group_globals(
                project_url=url,
                group_type=kind,
                index=index,
                key=keys[index],
                properties=self._book.properties_of(index, keys[index]),
            )
            for kind, index in self._book.types.items()
            if keys[index]
        }

    def _line(self, parsed: ParsedEvent, person: Person | None, keys: list[str]) -> bytes:
        event = parsed.event
        chain = event.properties.pop("$elements_chain", None)
        properties = event.properties
        return orjson.dumps(
            (
                self._project.id,
                event.uuid,
                event.event,
                dump_storable_json(properties),
                event.timestamp,
                event.distinct_id,
                person.id if person else self._persons.id_without_profile(event.distinct_id),
                person.json() if person else "{}",
                "full" if person else "propertyless",
                chain if isinstance(chain, str) else "",
                parsed.received_at,
                _text(properties.get("$session_id")),
                _text(properties.get("$window_id")),
                *keys,
            )
        )


def blocks_of(lines: list[tuple[int, bytes]]) -> dict[int, bytes]:
    """Encode rows, given as ``(block, row)``, by block; rows keep their order within a block."""
    blocks: dict[int, list[bytes]] = {}
    for block, line in lines:
        blocks.setdefault(block, []).append(line)
    return {block: b"\n".join(rows) for block, rows in blocks.items()}


def block_of(at: datetime) -> int:
    """The block for a timestamp. A block covers 80 months, so most groups need only one."""
    return (at.year * 12 + at.month) // MONTHS_PER_BLOCK


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
