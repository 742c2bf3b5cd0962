"""Updates definitions from captured events, and coordinates them with queries.

If all values of a property are text, queries read it directly from its typed column. So before the
first value of another form can be queried, the property is marked as mixed, and the batch waits
until every reader has reloaded the definitions. The same happens before the first fraction of a
property that had only integers. A project whose properties keep changing form loses the fast read,
so that it does not delay other events.

Concurrency: on SQLite, one batch of a project at a time, in spool order; on PostgreSQL, several.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.definitions import repository
from hoglet.definitions.observer import (
    INTEGER,
    MIXED,
    NUMBER,
    UNSEEN,
    Observation,
    PropertySample,
    merge_forms,
)
from hoglet.definitions.repository import SEEN_EVERY, DetectedProperty, PropertyKey
from hoglet.kit.clock import Clock
from hoglet.store.database import Database

log = structlog.get_logger()

MAX_WAITS = 20  # per project and process; a minute in total
MAX_FRACTION_WAITS = 5  # likewise; then integers are read like other numbers
MAX_DEFINITIONS = 10_000
PAIRS_PER_DEFINITION = 20  # average number of remembered events per property
DROPPED = "definitions_dropped"
EVENT_NAMES = "event_name"
_MAX_CACHED = 200_000
_DROPPED = DetectedProperty(None, MIXED)
UNKNOWN_VERSION = -1


class _Known(msgspec.Struct):
    """What this process knows of a project's definitions, as of ``version``."""

    version: int
    properties: dict[PropertyKey, DetectedProperty] = msgspec.field(default_factory=dict)
    events: dict[str, datetime | None] = msgspec.field(default_factory=dict)  # None if dropped
    pairs: dict[str, set[str]] = msgspec.field(default_factory=dict)

    def size(self) -> int:
        return len(self.properties) + len(self.events) + sum(map(len, self.pairs.values()))


class Recorded(msgspec.Struct):
    """What a transaction wrote; ``warnings`` are ingestion warnings ``[(kind, example)]``."""

    properties: dict[PropertyKey, DetectedProperty] = msgspec.field(default_factory=dict)
    events: dict[str, datetime | None] = msgspec.field(default_factory=dict)
    pairs: list[tuple[str, str]] = msgspec.field(default_factory=list)
    warnings: list[tuple[str, dict[str, Any]]] = msgspec.field(default_factory=list)


class DefinitionTracker:
    """Detects definitions while events are stored.

    Args:
        readers_notice_after: maximum age of the definitions that queries use, of this process once
            ``on_detected`` was called, and of others.
        limit: names recorded per project and kind; others are dropped with a warning.
        on_detected: called with the project id after new properties, types or forms were written.
    """

    def __init__(
        self,
        *,
        database: Database,
        clock: Clock,
        readers_notice_after: timedelta,
        limit: int = MAX_DEFINITIONS,
        on_detected: Sequence[Callable[[int], None]] = (),
    ) -> None:
        self._database = database
        self._clock = clock
        self._readers_notice_after = readers_notice_after
        self._limit = limit
        self._on_detected = on_detected
        self._projects: dict[int, _Known] = {}
        self._waits: Counter[int] = Counter()
        self._fraction_waits: Counter[int] = Counter()
        self._readers_know_at: dict[int, float] = {}

    async def settle(self, project_id: int, version: int, observation: Observation) -> Recorded:
        """Mark properties that change their form; called before rows of a batch can be queried.

        Then :meth:`until_readers_know` waits, once for all projects of a group.

        On PostgreSQL, several batches of a project may be processed at the same time. So new
        properties are written here as well, because the other batches must know their forms.

        Args:
            project_id: the project.
            version: the project's ``definitions_version``; a new one means that definitions were
                changed or deleted.
            observation: the observation of the batch.

        Returns:
            What has been written.
        """
        known = self._projects.get(project_id)
        if known is None or known.version != version:
            known = self._projects[project_id] = _Known(version)
        async with self._database.read() as session:
            await _load(session, project_id, known, observation.properties)
        recorded = Recorded()
        if not self._database.is_sqlite:
            recorded = await self._record_new(project_id, known, observation)
        changed = _changed_forms(known, observation.properties)
        if changed:
            await self._mark_changed(project_id, known, changed)
        return recorded

    async def until_readers_know(self, projects: Iterable[int]) -> None:
        """Wait until all readers have reloaded the properties that were marked in the projects."""
        known_at = max((self._readers_know_at.get(each, 0.0) for each in projects), default=0.0)
        await asyncio.sleep(known_at - time.monotonic())

    async def _record_new(
        self, project_id: int, known: _Known, observation: Observation
    ) -> Recorded:
        """Write properties without a form, one batch of the project at a time."""
        recorded = Recorded()
        new = [sample for sample in observation.properties if _is_new(known, sample)]
        if not new:
            return recorded
        keys = [(sample.kind, sample.name) for sample in new]
        async with self._database.write() as session:
            await repository.lock(session, project_id)
            known.properties.update(await repository.detected(session, project_id, keys))
            still_new = Observation([sample for sample in new if _is_new(known, sample)])
            await self._record_properties(session, project_id, known, still_new, recorded)
            await _save_properties(session, project_id, recorded, self._clock.now())
        self.remember(project_id, recorded)
        return recorded

    async def _mark_changed(
        self, project_id: int, known: _Known, changed: Mapping[PropertyKey, str]
    ) -> None:
        """Mark properties, and tell the readers of this process."""
        async with self._database.write() as session:
            forms = await self._changed_in_project(session, project_id, changed)
            mixed = [key for key, form in forms.items() if form == MIXED]
            await repository.mark_mixed(session, project_id, mixed)
            fractional = [key for key, form in forms.items() if form == NUMBER]
            await repository.mark_fractional(session, project_id, fractional)
        log.info("properties now have values of several forms", properties=len(forms))
        for key, form in forms.items():
            before = known.properties.get(key)
            if before is not None:
                known.properties[key] = DetectedProperty(before.property_type, form)
        self._tell_readers(project_id)
        notice = self._readers_notice_after.total_seconds()
        self._readers_know_at[project_id] = time.monotonic() + notice

    async def _changed_in_project(
        self, session: AsyncSession, project_id: int, changed: Mapping[PropertyKey, str]
    ) -> dict[PropertyKey, str]:
        """The forms to mark, with those of other properties if the project waited too often."""
        self._waits[project_id] += MIXED in changed.values()
        self._fraction_waits[project_id] += NUMBER in changed.values()
        stored = await repository.property_forms(session, project_id)
        if self._is_unstable(project_id):
            return dict.fromkeys([*stored, *changed], MIXED)
        if not self._has_fractions(project_id):
            return dict(changed)
        integers = [key for key, form in stored.items() if form == INTEGER]
        return dict.fromkeys(integers, NUMBER) | dict(changed)

    async def record(
        self, session: AsyncSession, project_id: int, observation: Observation
    ) -> Recorded:
        """Write what is new, in the transaction that stores a batch."""
        known, recorded = self._projects.get(project_id, _Known(UNKNOWN_VERSION)), Recorded()
        await _load(session, project_id, known, observation.properties)
        now = self._clock.now()
        await self._record_properties(session, project_id, known, observation, recorded)
        await self._record_events(session, project_id, known, observation, recorded)
        await self._record_pairs(session, project_id, known, observation, recorded)
        await _save_properties(session, project_id, recorded, now)
        seen = [name for name, at in recorded.events.items() if at is not None]
        await repository.save_events(session, project_id, seen, now)
        await repository.save_event_properties(session, project_id, recorded.pairs)
        return recorded

    def remember(self, project_id: int, recorded: Recorded) -> None:
        """Remember what was written; called after the transaction."""
        known = self._projects.setdefault(project_id, _Known(UNKNOWN_VERSION))
        known.properties.update(recorded.properties)
        known.events.update(recorded.events)
        for event, name in recorded.pairs:
            known.pairs.setdefault(event, set()).add(name)
        if recorded.properties:
            self._tell_readers(project_id)
        if sum(each.size() for each in self._projects.values()) > _MAX_CACHED:
            self.forget()

    def forget(self) -> None:
        """Clear the cache."""
        self._projects.clear()

    def _tell_readers(self, project_id: int) -> None:
        for detected in self._on_detected:
            detected(project_id)

    def _is_unstable(self, project_id: int) -> bool:
        return self._waits[project_id] >= MAX_WAITS

    def _has_fractions(self, project_id: int) -> bool:
        return self._fraction_waits[project_id] >= MAX_FRACTION_WAITS

    async def _record_properties(
        self,
        session: AsyncSession,
        project_id: int,
        known: _Known,
        observation: Observation,
        recorded: Recorded,
    ) -> None:
        new: dict[str, list[PropertySample]] = {}
        for sample in observation.properties:
            key = (sample.kind, sample.name)
            before = known.properties.get(key)
            if before is None:
                new.setdefault(sample.kind, []).append(sample)
                continue
            after = DetectedProperty(
                before.property_type or sample.property_type or None,
                merge_forms(before.form, sample.form),
            )
            if before is not _DROPPED and after != before:
                recorded.properties[key] = after
        if new:
            await self._add_properties(session, project_id, new, recorded)

    async def _add_properties(
        self,
        session: AsyncSession,
        project_id: int,
        new: dict[str, list[PropertySample]],
        recorded: Recorded,
    ) -> None:
        """Record new properties by kind, and drop those beyond the limit of the project."""
        once_dropped = await repository.dropped_kinds(session, project_id)
        for kind, samples in new.items():
            capacity = self._limit - await repository.count_properties(session, project_id, kind)
            capacity = max(capacity, 0)
            is_new = kind not in once_dropped and not self._is_unstable(project_id)
            for sample in samples[:capacity]:
                form = self._first_form(project_id, sample) if is_new else MIXED
                recorded.properties[kind, sample.name] = DetectedProperty(
                    sample.property_type or None, form
                )
            names = [sample.name for sample in samples[capacity:]]
            recorded.properties |= {(kind, name): _DROPPED for name in names}
            if names:
                await self._drop(session, project_id, kind, names, recorded)

    def _first_form(self, project_id: int, sample: PropertySample) -> str:
        is_unlikely = sample.form == INTEGER and self._has_fractions(project_id)
        return NUMBER if is_unlikely else sample.form

    async def _record_events(
        self,
        session: AsyncSession,
        project_id: int,
        known: _Known,
        observation: Observation,
        recorded: Recorded,
    ) -> None:
        now = self._clock.now()
        unknown = [name for name in observation.event_properties if name not in known.events]
        for name in observation.event_properties:
            seen_at = known.events.get(name)
            if seen_at is not None and seen_at <= now - SEEN_EVERY:
                recorded.events[name] = now
        if not unknown:
            return
        defined = await repository.known_events(session, project_id, unknown)
        capacity = self._limit - await repository.count_events(session, project_id)
        new = [name for name in unknown if name not in defined]
        recorded.events.update(dict.fromkeys([*defined, *new[: max(capacity, 0)]], now))
        dropped = new[max(capacity, 0) :]
        if dropped:
            recorded.events.update(dict.fromkeys(dropped, None))
            await self._drop(session, project_id, EVENT_NAMES, dropped, recorded)

    async def _record_pairs(
        self,
        session: AsyncSession,
        project_id: int,
        known: _Known,
        observation: Observation,
        recorded: Recorded,
    ) -> None:
        pairs = [
            (event, name)
            for event, names in observation.event_properties.items()
            for name in names
            if name not in known.pairs.get(event, ())
            and recorded.events.get(event, known.events.get(event)) is not None
            and (recorded.properties.get(("event", name)) or known.properties.get(("event", name)))
            is not _DROPPED
        ]
        if not pairs:
            return
        capacity = self._limit * PAIRS_PER_DEFINITION
        capacity -= await repository.count_event_properties(session, project_id)
        recorded.pairs = pairs[: max(capacity, 0)]

    async def _drop(
        self,
        session: AsyncSession,
        project_id: int,
        kind: str,
        names: Sequence[str],
        recorded: Recorded,
    ) -> None:
        await repository.save_dropped_kind(session, project_id, kind)
        example = {"kind": kind, "name": names[0], "limit": self._limit}
        recorded.warnings += [(DROPPED, example)] * len(names)


async def _load(
    session: AsyncSession, project_id: int, known: _Known, samples: Sequence[PropertySample]
) -> None:
    """Load what other processes have written."""
    unknown = [
        (sample.kind, sample.name)
        for sample in samples
        if (sample.kind, sample.name) not in known.properties
    ]
    if unknown:
        known.properties.update(await repository.detected(session, project_id, unknown))


async def _save_properties(
    session: AsyncSession, project_id: int, recorded: Recorded, at: datetime
) -> None:
    stored = {key: item for key, item in recorded.properties.items() if item is not _DROPPED}
    await repository.save_properties(session, project_id, stored, at)


def _is_new(known: _Known, sample: PropertySample) -> bool:
    """Whether the sample is the first, or the first with a form."""
    before = known.properties.get((sample.kind, sample.name))
    return before is None or (before.form == UNSEEN and sample.form != UNSEEN)


def _changed_forms(known: _Known, samples: Sequence[PropertySample]) -> dict[PropertyKey, str]:
    """``{("event", "price"): "mixed"}`` for properties whose samples have another form."""
    changed: dict[PropertyKey, str] = {}
    for sample in samples:
        before = known.properties.get((sample.kind, sample.name))
        if before is None or before.form in {MIXED, UNSEEN}:
            continue
        form = merge_forms(before.form, sample.form)
        if form != before.form:
            changed[sample.kind, sample.name] = form
    return changed
