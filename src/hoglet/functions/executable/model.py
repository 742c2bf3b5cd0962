"""An executable function: frozen data that is sent to worker processes.

Created by ``FunctionService.load_runnable(project_id)``. It contains decrypted secrets, so it is
never stored or logged, and only sent to a worker's standard input.

Source: docs/spec/hog-functions.md#13-run-time.
"""

from typing import Any

import msgspec

from hoglet.functions.json_types import MaskingSettings
from hoglet.functions.runtime.host_config import HostConfig

DEFAULT_RETRY: dict[str, Any] = {
    "max_attempts": 20,
    "initial_delay_seconds": 1,
    "multiplier": 2,
    "max_delay_seconds": 1800,
    "max_elapsed_seconds": 21600,
    "respect_retry_after": True,
}


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
    filter: dict[str, Any] | None = None
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
        execution_order: of transformations.
        retry: the complete policy with defaults.
        delivery: ``{"ordered_by": "distinct_id", "concurrency": 4, "requests_per_minute": 60,
            "batch": {"max_events": 100, "max_seconds": 5}}``, each omitted or None without such a
            limit.
        state: the watcher's (docs/spec/hog-functions.md#7-status-and-the-watcher).
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
    filter: dict[str, Any] | None = None
    events: list[str] | None = None
    source: str = "events"
    masking: MaskingSettings | None = None
    mappings: tuple[ExecutableMapping, ...] | None = None
    execution_order: int | None = None
    retry: dict[str, Any] = msgspec.field(default_factory=lambda: dict(DEFAULT_RETRY))
    delivery: dict[str, Any] = {}
    state: int = 1
    enabled: bool = True
    version: int = 1
    facilities: HostConfig = HostConfig()
    problem: str | None = None

    def mapping(self, number: int) -> ExecutableMapping | None:
        """The mapping with that number; None if it was removed."""
        return next((item for item in self.mappings or () if item.number == number), None)

    @property
    def cache_key(self) -> tuple[str, int]:
        """Equal keys mean equal code, filters and inputs."""
        return (self.id, self.version)
