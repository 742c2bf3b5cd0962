"""The worker processes of a server, by purpose."""

import asyncio
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge

from hoglet.sandbox import Sandbox
from hoglet.sandbox.pool import DEATHS, RECENT_SECONDS
from hoglet.settings import Settings

# Functions yield to capture and the API when the CPUs are busy: at niceness 5, a process gets a
# third of the usual share.
_RUN_NICENESS = 5
# Memory of the spare worker per byte of the largest request: parsing 20 MB of small objects took
# 57 bytes per byte, and the text is copied four times.
_SPARE_BYTES_PER_BYTE = 100
RECENT_MINUTES = round(RECENT_SECONDS / 60)
MANY_DEATHS = 3  # of one kind of worker within five minutes


class IngestSandboxes(NamedTuple):
    """The processes of one worker of the spool.

    ``groups`` is a single process, because it keeps a group in memory between two calls;
    ``spare`` processes single giant events.
    """

    groups: Sandbox
    spare: Sandbox


class Sandboxes:
    """All workers: ``compile``, ``run``, and ``ingest`` for each worker of the spool."""

    def __init__(self, settings: Settings, registry: CollectorRegistry) -> None:
        self._deaths = Counter(
            "hoglet_worker_deaths",
            "Worker processes lost: crashed (out of memory), timed_out, not_started.",
            ("workers", "how"),
            registry=registry,
        )
        self._processes = Gauge(
            "hoglet_worker_processes",
            "Worker processes of each kind; they start when they are first needed.",
            ("workers", "state"),
            registry=registry,
        )
        files = (settings.geoip_database, settings.bot_list)
        self._readable = [str(file.resolve()) for file in files if file is not None]
        memory = settings.worker_memory_bytes
        self.compile = self._open("compile", settings.compile_workers, memory)
        self.run = self._open("run", settings.executor_workers, memory, niceness=_RUN_NICENESS)
        spare_memory = max(memory, settings.request_body_bytes * _SPARE_BYTES_PER_BYTE)
        self.ingest = [
            IngestSandboxes(self._open("pipeline", 1, memory), self._open("spare", 1, spare_memory))
            for _ in range(settings.pipeline_workers)
        ]
        self._count_processes()

    def dying(self) -> dict[str, int]:
        """Kinds of workers that keep dying, with the number of deaths in the last five minutes."""
        pools = {
            "compile": [self.compile],
            "run": [self.run],
            "pipeline": [each.groups for each in self.ingest],
        }
        deaths = {name: sum(pool.recent_deaths() for pool in same) for name, same in pools.items()}
        return {name: number for name, number in deaths.items() if number >= MANY_DEATHS}

    def _count_processes(self) -> None:
        pools = {
            "compile": [self.compile],
            "run": [self.run],
            "pipeline": [each.groups for each in self.ingest],
            "spare": [each.spare for each in self.ingest],
        }
        for name, same in pools.items():
            for index, state in enumerate(("busy", "idle")):
                self._processes.labels(name, state).set_function(
                    lambda same=same, index=index: sum(pool.processes()[index] for pool in same)
                )

    async def close(self) -> None:
        """Stop all workers."""
        ingest = [pool for pools in self.ingest for pool in pools]
        await asyncio.gather(*(pool.close() for pool in (self.compile, self.run, *ingest)))

    def _open(
        self,
        name: str,
        workers: int,
        memory_bytes: int,
        *,
        niceness: int = 0,
    ) -> Sandbox:
        for how in DEATHS:  # Prometheus does not count the first sample of a series as an increase
            self._deaths.labels(name, how)
        return Sandbox(
            workers=workers,
            memory_bytes=memory_bytes,
            readable=self._readable,
            niceness=niceness,
            on_death=lambda how: self._deaths.labels(name, how).inc(),
        )
