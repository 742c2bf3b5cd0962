"""An executable function: frozen data that is sent to worker processes.

Created by ``FunctionLoader.load_runnable(project_id)``. It contains decrypted secrets, so it is
never stored or logged, and only sent to a worker's standard input.

Source: docs/spec/hog-functions.md#13-run-time.
"""

from typing import Any, Literal

import msgspec

from hoglet.functions.json_types import ConditionTree, MaskingSettings
from hoglet.functions.types import DESTINATION
from hoglet.kit.json import is_array


class HostConfig(msgspec.Struct, frozen=True):
    """Host functions beyond the standard library.

    Attributes:
        has_email: an SMTP server is configured, so ``sendEmail`` exists.
        geoip_database: path of a MaxMind database, for ``geoipLookup``.
        bot_list: path of a list of additional bots.
    """

    has_email: bool = False
    geoip_database: str | None = None
    bot_list: str | None = None


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """When failed host calls are retried.

    Source: docs/spec/hog-functions.md#134-retries-hoglet-goes-further.
    """

    max_attempts: int = 20
    initial_delay_seconds: float = 1
    multiplier: float = 2
    max_delay_seconds: float = 1800
    max_elapsed_seconds: float = 21600
    respect_retry_after: bool = True


class BatchLimits(msgspec.Struct, frozen=True, kw_only=True):
    """One run for up to ``max_events`` events, which waits up to ``max_seconds`` for them."""

    max_events: int
    max_seconds: float


class DeliveryLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a function's deliveries; a limit that is not set is None."""

    ordered_by: Literal["distinct_id"] | None = None
    concurrency: int | None = None
    requests_per_minute: int | None = None
    batch: BatchLimits | None = None


class ExecutableInput(msgspec.Struct, frozen=True, kw_only=True):
    """One input.

    Attributes:
        key: its name below ``inputs``.
        value: any JSON; strings in it are templates unless ``templating`` is None.
        templating: ``hog``, ``liquid``, or None for a plain value.
        type: the schema's type, e.g. ``integration``.
        secret: shown as ``***REDACTED***`` in logs.
    """

    key: str
    value: Any = None
    templating: str | None = "hog"
    type: str = "string"
    secret: bool = False


class ExecutableMapping(msgspec.Struct, frozen=True, kw_only=True):
    """One mapping: a filter, and inputs that override those of the function.

    ``number`` identifies it independently of its position; waiting runs and dead letters refer to
    it.
    """

    number: int
    name: str | None = None
    filter: ConditionTree | None = None
    inputs: tuple[ExecutableInput, ...] = ()
    disabled: bool = False


class ExecutableFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function with everything needed to run it.

    Attributes:
        id, project_id, type, name, hog: as stored.
        inputs: in evaluation order, with plain-text secrets.
        filter: the condition as JSON of ``hoglet.syntax.tree``; None if it did not compile; then
            nothing matches.
        events: event names that can match, None for any.
        source: ``filters.source``.
        masking: ``{"ttl": 60, "threshold": None, "hash": "{person.id}"}`` or None.
        mappings: None without mappings.
        execution_order: only of transformations.
        retry: the complete policy.
        delivery: limits of its deliveries.
        state: set by the watcher (docs/spec/hog-functions.md#7-status-and-the-watcher).
        version: changes with every save.
        facilities: the host configuration for programs.
        problem: why its inputs cannot be built; its runs become dead letters with this error.
    """

    id: str
    project_id: int
    type: str
    name: str | None = None
    hog: str = ""
    inputs: tuple[ExecutableInput, ...] = ()
    filter: ConditionTree | None = None
    events: list[str] | None = None
    source: str = "events"
    masking: MaskingSettings | None = None
    mappings: tuple[ExecutableMapping, ...] | None = None
    execution_order: int | None = None
    retry: RetryPolicy = RetryPolicy()
    delivery: DeliveryLimits = DeliveryLimits()
    state: int = 1
    enabled: bool = True
    version: int = 1
    facilities: HostConfig = HostConfig()
    problem: str | None = None

    def mapping(self, number: int) -> ExecutableMapping | None:
        """The mapping with that number; None if it was removed."""
        return next((item for item in self.mappings or () if item.number == number), None)

    def inputs_of(self, mapping: int | None) -> tuple[ExecutableInput, ...]:
        """The inputs of a run in evaluation order, with the mapping's last."""
        own = None if mapping is None else self.mapping(mapping)
        return self.inputs if own is None else (*self.inputs, *own.inputs)

    def tolerated_codes(self, mapping: int | None) -> list[Any]:
        """The codes in inputs of type ``non_failure_status_codes``, e.g. ``[404, "5xx"]``."""
        listed = [
            item.value
            for item in self.inputs_of(mapping)
            if item.type == "non_failure_status_codes" and is_array(item.value)
        ]
        return [code for codes in listed for code in codes]

    @property
    def is_batched(self) -> bool:
        """Whether its runs are combined into batches."""
        return self.type == DESTINATION and self.delivery.batch is not None

    @property
    def cache_key(self) -> tuple[str, int]:
        """Equal keys mean equal code, filters and inputs."""
        return (self.id, self.version)
