"""Tracks failures that keep accepted events from being stored, for readiness and metrics."""

import time
from datetime import timedelta
from typing import Literal
from uuid import UUID

from prometheus_client import CollectorRegistry, Gauge

type Part = Literal["events", "persons", "telemetry"]
"""What is written to the warehouse: events; persons and groups; logs and metrics."""

PARTS: tuple[Part, ...] = ("events", "persons", "telemetry")
_LATE_S = 60.0  # a retry begins behind the groups of a backlog
_MAX_ERROR_LENGTH = 200  # characters of an engine's error


class PipelineHealth:
    """Failures of a process with the role pipeline; kept in memory, so a restart resets them.

    Attributes:
        stored_groups: number of groups that this process has stored.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.stored_groups = 0
        self._parts: dict[Part, dict[int, str]] = {part: {} for part in PARTS}
        self._groups: dict[UUID, tuple[float, str]] = {}  # until when, why
        failing = Gauge(
            "hoglet_writes_failing",
            "1 while events, persons or telemetry (logs and metrics) cannot be written.",
            ("part",),
            registry=registry,
        )
        for part in PARTS:
            failing.labels(part).set_function(lambda part=part: bool(self._parts[part]))
        groups = Gauge(
            "hoglet_failing_groups",
            "Groups of captured requests that keep failing for other reasons.",
            registry=registry,
        )
        groups.set_function(lambda: len(self._failing_groups()))

    def failed(self, part: Part, error: Exception, *, worker: int = 0) -> None:
        """Record that the database, the warehouse or worker startup fails, so its writes wait."""
        self._parts[part][worker] = _display(error)

    def works(self, part: Part, *, worker: int = 0) -> None:
        """Record that a write of this worker succeeded, or that it has nothing to write."""
        self._parts[part].pop(worker, None)

    def group_failed(self, group: UUID, error: Exception, *, pause: timedelta) -> None:
        """Record that a group failed for another reason and is retried after a pause.

        It is forgotten after two pauses and a minute: by then it was retried, and if it has not
        failed here again, another server has it.
        """
        until = time.monotonic() + 2 * pause.total_seconds() + _LATE_S
        self._groups[group] = (until, _display(error))

    def group_stored(self, group: UUID, *, worker: int = 0) -> None:
        """Record that a group was stored."""
        self.stored_groups += 1
        self.works("events", worker=worker)
        self._groups.pop(group, None)

    def problem(self) -> str | None:
        """Describe the failures in one sentence; None if nothing fails."""
        problems = [
            f"{part} cannot be written: {next(iter(failures.values()))}"
            for part, failures in self._parts.items()
            if failures
        ]
        failing = self._failing_groups()
        if failing:
            problems.append(f"{len(failing)} groups of requests fail: {failing[0]}")
        return "; ".join(problems) or None

    def _failing_groups(self) -> list[str]:
        """Errors of recently failed groups; they expire, as another process may store the group."""
        now = time.monotonic()
        return [reason for until, reason in self._groups.values() if until > now]


def _display(error: Exception) -> str:
    text = str(getattr(error, "orig", None) or error).partition("\n")[0]
    return f"{type(error).__name__}: {text[:_MAX_ERROR_LENGTH]}"
