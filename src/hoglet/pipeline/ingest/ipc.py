"""Messages between the pipeline and its worker process, as msgpack.

A project's part of a group of spooled batches is processed in two calls, because the persons and
groups it needs are only known once it has been parsed: :class:`ReadRequest` →
:class:`LookupRequest`, then :class:`ProcessRequest` → :class:`BatchResult`. The worker caches the
parsed part in between. If it does not have it (a new worker), it returns :class:`CacheMiss` and
everything is sent again.
"""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from hoglet.definitions.observer import Observation
from hoglet.events.groups import GroupState
from hoglet.events.persons.model import DistinctIdState, PersonStoreState
from hoglet.events.tables import WarningExample
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.json_types import Globals
from hoglet.functions.types import DeadLetterClass
from hoglet.kit.json import Properties


class ProjectFacts(msgspec.Struct, frozen=True):
    """The project as runs see it; ``site_url`` has no trailing slash."""

    id: int
    name: str
    site_url: str
    name_properties: list[str] | None = None


type Handling = Literal["run", "match", "store"]
"""How events are processed by functions.

``run``: as usual. ``match``: no transformations, and a match becomes a dead letter instead of a
run. ``store``: no function is evaluated; those that listen to the event's name get a dead letter.
"""


class Part(msgspec.Struct, array_like=True):
    """One spooled request of a group, or some of its events, starting with number ``first``.

    ``trace`` is the ``traceparent`` for the work that it causes.
    """

    job_id: UUID
    body: bytes
    received_at: datetime
    ip: str | None
    sent_at: datetime | None
    first: int = 0
    trace: str | None = None


class ReadRequest(msgspec.Struct):
    """Parse and transform a project's part of a group.

    Args:
        group: the group's id.
        project: the group's project.
        parts: the group's requests, oldest first.
        functions_key: identifies the project's functions; equal keys mean equal functions.
        functions: the functions; None if the worker should have them cached under the key.
        handling: ``run``, unless the events cannot be processed that way.
        reason: why they cannot, for the dead letters.
    """

    group: UUID
    project: ProjectFacts
    parts: list[Part]
    functions_key: str
    functions: list[ExecutableFunction] | None
    handling: Handling = "run"
    reason: str = ""


class LookupRequest(msgspec.Struct, tag="lookups"):
    """What a group needs from the database; ``groups`` are pairs ``(type, key)``."""

    distinct_ids: list[str]
    merging: list[str]
    groups: list[tuple[str, str]]
    uuids: list[UUID]


class ProcessRequest(msgspec.Struct):
    """Process a project's part of a parsed group with the state loaded for it."""

    group: UUID
    project_id: int
    persons: PersonStoreState
    group_types: dict[str, int]
    groups: list[GroupState]
    seen: list[UUID]


class CacheMiss(msgspec.Struct, tag="missing"):
    """The worker has no cached ``functions`` or ``group``."""

    what: str


class Invocation(msgspec.Struct, array_like=True):
    """A run to enqueue.

    Args:
        id: stable: the same event, function and mapping give the same id.
        function_id: the function to run.
        event_uuid: the event that triggered it.
        payload: an encoded ``InvokeV1``.
        is_slow: whether the function is degraded, which lowers the run's priority.
        mask: md5 of the masking hash; "" without masking.
        mask_ttl: seconds.
        mask_threshold: 0 for none.
        line: ordering key of ordered delivery; "" if the order does not matter.
    """

    id: UUID
    function_id: str
    event_uuid: UUID
    payload: bytes
    is_slow: bool = False
    mask: str = ""
    mask_ttl: int = 0
    mask_threshold: int = 0
    line: str = ""


class DeadLetterDraft(msgspec.Struct, array_like=True):
    """A dead letter to write.

    Its ``globals`` override :attr:`BatchResult.shared_globals`, so that large events are sent once.
    """

    function_id: str
    invocation_id: UUID
    error_class: DeadLetterClass
    error: str
    globals: Globals
    mapping: int | None = None


class Line(msgspec.Struct, array_like=True):
    """A log line of a function; ``instance_id`` is the invocation id, or ""."""

    function_id: str
    instance_id: str
    level: str
    message: str


class BatchCounters(msgspec.Struct):
    """Counters and log lines of functions; ``counts`` is ``{id: {"other/filtered": 3}}``.

    ``deferred`` is the number of events by name, set if there are so many functions that those
    that listen to other names are counted later, see ``filtered_counts``.
    """

    deferred: dict[str, int] = {}
    counts: dict[str, dict[str, int]] = {}
    lines: list[Line] = []
    dead_letters: list[DeadLetterDraft] = []
    spent: dict[str, list[float]] = {}

    def count(self, function_id: str, kind: str, name: str, number: int = 1) -> None:
        """Add to a counter."""
        self.add(function_id, f"{kind}/{name}", number)

    def add(self, function_id: str, counter: str, number: int = 1) -> None:
        """Like :meth:`count`, for a counter given as ``kind/name``."""
        counters = self.counts.get(function_id)
        if counters is None:
            counters = self.counts[function_id] = {}
        counters[counter] = counters.get(counter, 0) + number


class SetAside(msgspec.Struct):
    """A single event that cannot be stored at all, and why."""

    part: Part
    reason: str


class BatchResult(msgspec.Struct, tag="result"):
    """The result of processing a group: everything to insert, write and enqueue.

    Args:
        blocks: rows of ``events`` in the warehouse's block format, by :func:`block_of`.
        stored: number of rows in all blocks.
        persons: persons and distinct ids to write.
        new_group_types: ``{"company": 0}``.
        groups: groups to write.
        new_uuids: UUIDs to remember as seen.
        invocations: runs to enqueue, in the order of their events.
        tally: counters and log lines of functions.
        observation: the events and properties that occurred.
        warnings: ingestion warnings ``[(kind, example)]``.
        shared_globals: globals that all dead letters share, if all are about one event.
        set_aside: what becomes a failed job of the spool.
        owners: owners of distinct ids whose events the warehouse may have with other persons.
    """

    blocks: dict[int, bytes] = {}
    stored: int = 0
    persons: PersonStoreState = msgspec.field(default_factory=PersonStoreState)
    new_group_types: dict[str, int] = {}
    groups: list[GroupState] = []
    new_uuids: list[UUID] = []
    invocations: list[Invocation] = []
    tally: BatchCounters = msgspec.field(default_factory=BatchCounters)
    observation: Observation = msgspec.field(default_factory=Observation)
    warnings: list[tuple[str, WarningExample]] = []
    shared_globals: Globals | None = None
    set_aside: list[SetAside] = []
    owners: list[DistinctIdState] = []

    def add_shared_globals(self) -> None:
        """Copy the shared globals into each dead letter."""
        for letter in self.tally.dead_letters:
            letter.globals = {**(self.shared_globals or {}), **letter.globals}
        self.shared_globals = None


encoder = msgspec.msgpack.Encoder()
read_requests = msgspec.msgpack.Decoder(ReadRequest)
process_requests = msgspec.msgpack.Decoder(ProcessRequest)
lookup_answers: msgspec.msgpack.Decoder[LookupRequest | CacheMiss] = msgspec.msgpack.Decoder(
    LookupRequest | CacheMiss
)
internal_answers = msgspec.msgpack.Decoder(BatchResult)
process_answers: msgspec.msgpack.Decoder[BatchResult | CacheMiss] = msgspec.msgpack.Decoder(
    BatchResult | CacheMiss
)


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


EVENT_COLUMNS = (
    "project_id", "uuid", "event", "properties", "timestamp", "distinct_id", "person_id",
    "person_properties", "person_mode", "elements_chain", "created_at", "$session_id",
    "$window_id", "$group_0", "$group_1", "$group_2", "$group_3", "$group_4",
)  # fmt: skip
