"""What keeps accepted events from being stored; shown by readiness checks and metrics."""

import time
from uuid import UUID

from prometheus_client import CollectorRegistry, Gauge

_FORGOTTEN_AFTER_S = 900.0  # groups are tried again every five minutes at least
_SHOWN = 200  # characters of an engine's error


class PipelineHealth:
    """Kept in memory by the process that has the role pipeline; a restart tries everything anew."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._storage = ""
        self._groups: dict[UUID, tuple[float, str]] = {}
        gauge = Gauge(
            "hoglet_pipeline_failing",
            "What events wait for: storage (1 while it takes no writes), group (how many fail).",
            ("cause",),
            registry=registry,
        )
        gauge.labels("storage").set_function(lambda: bool(self._storage))
        gauge.labels("group").set_function(lambda: len(self._failing_groups()))

    def storage_failed(self, error: Exception) -> None:
        """The database or the warehouse does not take writes; everything waits."""
        self._storage = f"cannot write: {_shown(error)}"

    def group_failed(self, group: UUID, error: Exception) -> None:
        """One group fails for another reason and is tried again later."""
        self._groups[group] = (time.monotonic(), _shown(error))

    def stored(self, group: UUID) -> None:
        """A group was stored, so storage works."""
        self._storage = ""
        self._groups.pop(group, None)

    def nothing_waits(self) -> None:
        """There is nothing left to store."""
        self._storage = ""

    @property
    def problem(self) -> str | None:
        """One sentence, or None when nothing fails."""
        if self._storage:
            return self._storage
        failing = self._failing_groups()
        if failing:
            return f"{len(failing)} groups of batches fail and are tried again: {failing[0]}"
        return None

    def _failing_groups(self) -> list[str]:
        """Why groups failed lately; one that another process has stored is forgotten in time."""
        oldest = time.monotonic() - _FORGOTTEN_AFTER_S
        return [reason for at, reason in self._groups.values() if at > oldest]


def _shown(error: Exception) -> str:
    text = str(getattr(error, "orig", None) or error).partition("\n")[0]
    return f"{type(error).__name__}: {text[:_SHOWN]}"
