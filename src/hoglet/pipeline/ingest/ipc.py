"""Messages between the pipeline and its worker process, as msgpack.

A group of spooled batches is processed in two calls, because only its content determines which
persons and groups it needs: :class:`ReadRequest` → :class:`LookupRequest`, then
:class:`ProcessRequest` → :class:`BatchResult`. The worker caches the group in between; if it does
not have it (a new worker), it returns :class:`CacheMiss` and gets everything again.
"""

from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from hoglet.definitions.observer import Observation
from hoglet.events.groups import GroupState
from hoglet.events.persons.model import PersonStoreState
from hoglet.events.tables import WarningExample
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.json_types import Globals
from hoglet.functions.types import DeadLetterClass


class ProjectFacts(msgspec.Struct, frozen=True):
    """What runs see of their project; ``site_url`` without a trailing slash."""

    id: int
    name: str
    site_url: str
    name_properties: list[str] | None = None


type Handling = Literal["run", "match", "store"]
"""How events are processed by functions.

``run``: everything. ``match``: transformations are left out, and what matches becomes a dead letter
instead of a run. ``store``: no function is evaluated; those that wait for the event's name get a
dead letter.
"""


class Part(msgspec.Struct, array_like=True):
    """One spooled request of a group, or some of its events: those from number ``first`` on.

    ``trace`` is the ``traceparent`` of what it causes.
    """

    job_id: UUID
    body: bytes
    received_at: datetime
    ip: str | None
    sent_at: datetime | None
    first: int = 0
    trace: str | None = None


class ReadRequest(msgspec.Struct):
    """Parse and transform a group.

    Args:
        group: its id.
        project: whose it is.
        parts: its requests, oldest first.
        functions_key: names the project's functions; equal keys mean equal functions.
        functions: those functions; None when the worker should know them by the key.
        handling: ``run``, unless the events cannot be processed so.
        reason: why not, for the dead letters.
    """

    group: UUID
    project: ProjectFacts
    parts: list[Part]
    functions_key: str
    functions: list[ExecutableFunction] | None
    handling: Handling = "run"
    reason: str = ""


class LookupRequest(msgspec.Struct, tag="wanted"):
    """What a group needs from the database; ``groups`` are ``(type, key)``."""

    distinct_ids: list[str]
    merging: list[str]
    groups: list[tuple[str, str]]
    uuids: list[UUID]


class ProcessRequest(msgspec.Struct):
    """Process a group with its loaded state."""

    group: UUID
    people: PersonStoreState
    group_types: dict[str, int]
    groups: list[GroupState]
    seen: list[UUID]


class CacheMiss(msgspec.Struct, tag="missing"):
    """The worker lacks the ``functions`` or the ``group``."""

    what: str


class Invocation(msgspec.Struct, array_like=True):
    """A run to enqueue.

    Args:
        id: stable: the same event, function and mapping give the same id.
        function_id: what runs.
        event_uuid: of which event.
        payload: an encoded ``InvokeV1``.
        is_slow: the function is degraded: lower priority.
        mask: md5 of the masking hash, "" when not masked.
        mask_ttl: seconds.
        mask_threshold: 0 for none.
        line: of runs that go one after another; "" when they need not.
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

    Its ``globals`` are laid over :attr:`BatchResult.letter_globals`: large events travel once.
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
    """Counts and lines that belong to functions; ``counts`` is ``{id: {"other/filtered": 3}}``.

    ``unasked`` is how many events of which names there were, where functions that wait for others
    are too many to be counted one by one.
    """

    unasked: dict[str, int] = {}
    counts: dict[str, dict[str, int]] = {}
    lines: list[Line] = []
    dead_letters: list[DeadLetterDraft] = []
    spent: dict[str, list[float]] = {}

    def count(self, function_id: str, kind: str, name: str, number: int = 1) -> None:
        """Add to a counter."""
        self.add(function_id, f"{kind}/{name}", number)

    def add(self, function_id: str, counter: str, number: int = 1) -> None:
        """As :meth:`count`, of a counter ``kind/name``."""
        counters = self.counts.get(function_id)
        if counters is None:
            counters = self.counts[function_id] = {}
        counters[counter] = counters.get(counter, 0) + number


class BatchResult(msgspec.Struct, tag="acted"):
    """What a group does.

    Args:
        blocks: rows of ``events`` in the warehouse's block format, by their :func:`block_of`.
        stored: number of rows in all blocks.
        people: persons and ids to write.
        new_group_types: ``{"company": 0}``.
        groups: groups to write.
        new_uuids: to remember as seen.
        invocations: runs to enqueue, in order of events.
        tally: what functions counted and logged.
        observation: which events and properties there were.
        warnings: ingestion warnings ``[(kind, example)]``.
        letter_globals: what all dead letters share; only with those of one event.
        set_aside: single events that could not even be stored.
    """

    blocks: dict[int, bytes] = {}
    stored: int = 0
    people: PersonStoreState = msgspec.field(default_factory=PersonStoreState)
    new_group_types: dict[str, int] = {}
    groups: list[GroupState] = []
    new_uuids: list[UUID] = []
    invocations: list[Invocation] = []
    tally: BatchCounters = msgspec.field(default_factory=BatchCounters)
    observation: Observation = msgspec.field(default_factory=Observation)
    warnings: list[tuple[str, WarningExample]] = []
    letter_globals: Globals | None = None
    set_aside: list[Part] = []

    def complete_dead_letters(self) -> None:
        """Give each letter the globals it has in common with the others."""
        for letter in self.tally.dead_letters:
            letter.globals = {**(self.letter_globals or {}), **letter.globals}
        self.letter_globals = None


encoder = msgspec.msgpack.Encoder()
read_requests = msgspec.msgpack.Decoder(ReadRequest)
act_requests = msgspec.msgpack.Decoder(ProcessRequest)
read_answers: msgspec.msgpack.Decoder[LookupRequest | CacheMiss] = msgspec.msgpack.Decoder(
    LookupRequest | CacheMiss
)
internal_answers = msgspec.msgpack.Decoder(BatchResult)
act_answers: msgspec.msgpack.Decoder[BatchResult | CacheMiss] = msgspec.msgpack.Decoder(
    BatchResult | CacheMiss
)
