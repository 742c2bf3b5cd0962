"""Gives text properties that queries read often a column of their own in the events table.

A property gets one if it was read at least twice since the process started, its values in the
project are all text, the project has many events, and few different values are among the latest.
Columns belong to the table, which all projects share; queries of a project use one as long as the
property's form is ``text`` there.

If the table has as many columns as it may have, a new one replaces one that no query has read for
``UNUSED``.

Source: docs/adr/0061-columns-of-text-properties.md.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta

import structlog
from prometheus_client import CollectorRegistry, Gauge

from hoglet.kit.clock import Clock
from hoglet.kit.errors import HogletError
from hoglet.warehouse.text_columns import TextColumns, TextSample, can_have_column

log = structlog.get_logger(__name__)

MAX_COLUMNS = 16  # of the table: each costs a little of every insert
MIN_READS = 2
MIN_EVENTS = 100_000  # of the project; fewer are read in milliseconds
MAX_DISTINCT_VALUES = 2_000  # of the sampled values; a dictionary of the engine has 8,192
MIN_TEXTS = 1_000  # among the sampled events
LOOK_SECONDS = 5.0
JUDGED_AGAIN = timedelta(minutes=1)
UNUSED = timedelta(days=8)  # a weekly report keeps its columns

type TextReads = Counter[tuple[int, str]]
"""How often the texts of properties were read: ``{(project_id, "$browser"): 2}``."""


class TextColumnWorker:
    """Adds and fills columns in the background, and says which ones queries can read.

    Args:
        columns: the columns of the table.
        clock: the time.
        on_filled: called when queries can read further columns.
        registry: has the metric ``hoglet_property_columns``.

    Attributes:
        reads: counted by the compiler of queries, emptied here.
        filled: properties whose columns queries can read.

    Concurrency: servers that share a warehouse may add the same columns at once, and together one
    or two more than ``MAX_COLUMNS``.
    """

    def __init__(
        self,
        columns: TextColumns,
        clock: Clock,
        on_filled: Callable[[], None],
        registry: CollectorRegistry,
    ) -> None:
        self._columns = columns
        self._clock = clock
        self._on_filled = on_filled
        self._gauge = Gauge(
            "hoglet_property_columns",
            "Properties that queries read from columns of their own",
            registry=registry,
        )
        self._reads: TextReads = Counter()  # of properties without a column
        self._judged: dict[tuple[int, str], datetime] = {}
        self._last_read: dict[str, date] = {}  # as stored with the columns
        self._is_filling = False
        self._stopping = asyncio.Event()
        self.reads: TextReads = Counter()
        self.filled: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Work until ``stop`` is called."""
        await self._guarded(self.load)
        while not self._stopping.is_set():
            await self._guarded(self.work)
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._stopping.wait()
            except TimeoutError:
                continue

    def stop(self) -> None:
        """Stop; the engine goes on filling columns."""
        self._stopping.set()

    async def work(self) -> None:
        """Add columns for properties that were read often, or look whether those are filled."""
        await self._record_reads(self._take_reads())
        if self._is_filling:
            if not await self._columns.is_filling():
                await self.load()
                self._is_filling = False
            return
        due = self._due()
        if due:
            await self._add(await self._suitable(due))

    async def load(self) -> None:
        """Let queries read the columns that are filled."""
        filled = await self._columns.filled()
        readable = frozenset(name for name, is_filled in filled.items() if is_filled)
        if readable != self.filled:
            log.info(
                "properties have columns of their own",
                action="text_columns",
                properties=sorted(readable - self.filled),
            )
            self.filled = readable
            self._gauge.set(len(readable))
            self._on_filled()

    async def _guarded(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except HogletError as error:  # looks are repeated, additions when properties are read again
            log.warning("columns of properties: %s", error.detail, action="text_columns_failed")

    def _take_reads(self) -> set[str]:
        """Take the reads of properties without a column; the names of those that have one."""
        self._reads.update(self.reads)
        self.reads.clear()
        stored = [key for key in self._reads if key[1] in self.filled]
        for key in stored:
            del self._reads[key]
        return {name for _, name in stored}

    async def _record_reads(self, names: set[str]) -> None:
        """Store that queries read columns, once a day for each."""
        today = self._clock.now().date()
        new = sorted(name for name in names if self._last_read.get(name) != today)
        if new:
            self._last_read.update(dict.fromkeys(new, today))
            await self._columns.record_reads(new, today)

    def _due(self) -> list[tuple[int, str]]:
        """Properties that were read often and not judged lately, the most read first."""
        lately = self._clock.now() - JUDGED_AGAIN
        return [
            (project_id, name)
            for (project_id, name), count in self._reads.most_common()
            if count >= MIN_READS
            and can_have_column(name)
            and self._judged.get((project_id, name), lately) <= lately
        ]

    async def _suitable(self, due: list[tuple[int, str]]) -> list[str]:
        """The names of those properties whose values suit a column."""
        names: dict[int, list[str]] = {}
        for project_id, name in due:
            names.setdefault(project_id, []).append(name)
            self._judged[project_id, name] = self._clock.now()
            del self._reads[project_id, name]
        suitable: set[str] = set()
        for project_id, read in names.items():
            if await self._columns.size(project_id) >= MIN_EVENTS:
                samples = await self._columns.sample(project_id, read[:MAX_COLUMNS])
                suitable.update(name for name, sample in samples.items() if _suits(sample))
        return list(dict.fromkeys(name for _, name in due if name in suitable))

    async def _add(self, names: list[str]) -> None:
        """Add columns as long as there is room, and start to fill them."""
        if not names:
            return
        existing = await self._columns.filled()
        new = [name for name in names if name not in existing]
        missing = len(new) - max(MAX_COLUMNS - len(existing), 0)
        if missing > 0:
            missing -= await self._retire(missing)
        new = new[: len(new) - max(missing, 0)]
        if new:
            await self._columns.add(new, self._clock.now().date())
        unfilled = [*new, *(name for name in names if existing.get(name) is False)]
        if unfilled and not await self._columns.is_filling():
            await self._columns.begin_fill(unfilled)
        self._is_filling = True

    async def _retire(self, count: int) -> int:
        """Retire up to ``count`` columns that no query reads any more; how many it retired."""
        today = self._clock.now().date()
        last_reads = await self._columns.last_reads()
        unknown = sorted(name for name, day in last_reads.items() if day is None)
        if unknown:  # added by an earlier version
            await self._columns.record_reads(unknown, today)
        unused = sorted((day, name) for name, day in last_reads.items() if _is_unused(day, today))
        names = [name for _, name in unused[:count]]
        if names:
            await self._columns.retire(names, today)
            log.info("properties lose their columns", action="text_columns", properties=names)
            await self.load()
        return len(names)


def _is_unused(day: date | None, today: date) -> bool:
    return day is not None and today - day >= UNUSED


def _suits(sample: TextSample) -> bool:
    return sample.texts >= MIN_TEXTS and sample.distinct <= MAX_DISTINCT_VALUES
