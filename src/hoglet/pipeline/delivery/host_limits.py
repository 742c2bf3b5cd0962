"""Per-host concurrency limits, rate limits and Retry-After pauses.

A request needs a slot within its function's limit and one within its host's. Short waits happen
here; for longer ones the run returns to the queue. Of lanes (functions, backfills) that recently
sent to a single host, only as many runs are leased as that host has capacity for, so runs for a
slow, limited or unavailable host do not fill up the executor. All slow hosts together get only a
part of the slots.

``Retry-After`` pauses are stored in the database, so they survive restarts and apply to all
executors. Rate limits are shared on PostgreSQL; concurrency limits apply per executor.

Source: docs/spec/hog-functions.md#134-retries-hoglet-goes-further; docs/adr/0009-delivery.md;
docs/adr/0030-shared-limits.md; docs/adr/0072-enough-concurrency.md.
"""

import asyncio
import contextlib
import math
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime, timedelta

import msgspec

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery.adaptive_concurrency import FEW, AdaptiveConcurrency
from hoglet.pipeline.delivery.host_rates import HostRates
from hoglet.queue import LaneLimit

WAIT_SECONDS = 1.0  # longest wait here; for longer ones the run returns to the queue
WAITING_AT_A_GATE = 256  # further runs return to the queue at once, and their lane is deferred
AGAIN_SECONDS = 0.5  # how soon a run without a slot tries again
SLOW_SECONDS = 1.0  # average duration; such hosts share SLOW_PLACES
SLOW_PLACES = 128
_WEIGHT = 0.2  # weight of the newest response in the average
_HABIT = 3  # requests in a row to one host
_SURE_HABIT = 64  # after which the next requests go there too: few others wait behind them
_MAX_GATES = 10_000  # idle ones are evicted beyond this
_HOST = "host "  # begins the names of gates that the functions share


class HostSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits per host: concurrent requests, and requests per second (0: unlimited)."""

    concurrency: int = 256
    per_second: float = 0


class HostGate:
    """Limits the concurrent requests to one target and their rate.

    Args:
        most: the highest concurrency if it adapts to the target; None if it is fixed.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._adaptive: AdaptiveConcurrency | None = None
        self.under_way = 0
        self.waiting = 0
        self.average_seconds = 0.0
        self.freed = asyncio.Event()
        self._next_at = 0.0
        self._began: dict[int, float] = {}
        self._number = 0

    def concurrency(self, limit: int) -> int:
        """The concurrent requests that are enough for the target, at most ``limit``."""
        return limit if self._adaptive is None else min(limit, self._adaptive.limit)

    def wait_seconds(self, now: float, *, concurrency: int, per_second: float) -> float:
        """Seconds until a request may start: 0 for now, infinite if unknown."""
        if self.under_way >= concurrency:
            return math.inf
        # A burst of one second's worth may start together; further requests are evenly spaced.
        burst = max(0.0, 1.0 - 1.0 / per_second) if per_second else 0.0
        return max(0.0, self._next_at - burst - now) if per_second else 0.0

    def is_spaced(self, now: float, *, per_second: float) -> bool:
        """Whether the rate limit delays the next request."""
        return self.wait_seconds(now, concurrency=self.under_way + 1, per_second=per_second) > 0

    def free_capacity(self, runs: int, limit: int, *, waits: bool) -> int:
        """How many more runs would get a slot in time, beside the ``runs`` in progress.

        Args:
            runs: in progress, with and without a slot.
            limit: as for :meth:`concurrency`.
            waits: whether runs wait for a slot; then none are added before half of them have ended,
                since few runs at a time cost more than many.
        """
        concurrency = self.concurrency(limit)
        if not waits:
            return max(0, concurrency - runs)
        most = concurrency + WAITING_AT_A_GATE
        if self.average_seconds:
            most = min(most, int(concurrency * (1.0 + WAIT_SECONDS / self.average_seconds)))
        return most - runs if runs <= most // 2 else 0

    def postpone(self, until: float, *, per_second: float) -> None:
        """Record that all executors together have used up the rate limit until a time."""
        burst = max(0.0, 1.0 - 1.0 / per_second)
        self._next_at = max(self._next_at, until + burst)

    def begin(self, now: float, *, per_second: float) -> int:
        """Start a request; pass its number to :meth:`end`."""
        self.under_way += 1
        self._number += 1
        self._began[self._number] = now
        if self._adaptive is not None:
            self._adaptive.begin(now)
        elif self._most is not None and self.under_way > FEW:
            self._adaptive = AdaptiveConcurrency(self._most, self.under_way)
        if per_second:
            self._next_at = max(now, self._next_at) + 1.0 / per_second
        return self._number

    def end(self, number: int, now: float, *, answered: bool) -> None:
        """Release the slot and wake waiters; ``answered`` says whether there was a response."""
        began = self._began.pop(number)
        self.under_way -= 1
        self.average_seconds += _WEIGHT * (now - began - self.average_seconds)
        if self._adaptive is not None:
            self._adaptive.end(began, now, answered=answered)
        self.freed.set()
        self.freed = asyncio.Event()

    def is_slow(self, now: float) -> bool:
        """Whether responses are slow on average or, before the first one, late."""
        if self.average_seconds > SLOW_SECONDS:
            return True
        oldest = next(iter(self._began.values()), now)
        return self.average_seconds == 0.0 and now - oldest > SLOW_SECONDS

    @property
    def is_idle(self) -> bool:
        """Whether the gate can be evicted."""
        return not self.under_way and not self.waiting and self._next_at < time.monotonic()


type Limit = tuple[str, int, float]
"""Name of a gate, concurrent requests, requests per second."""


class _Habit(msgspec.Struct):
    """Where a lane sent its requests: ``number`` times in a row to ``host``."""

    function_id: str
    host: str
    limits: list[Limit]
    number: int = 1


class Slot(msgspec.Struct):
    """A slot for a request.

    Attributes:
        again_at: when to try again because no slot is free; None if it is held.
        answered: whether the request got a response.
    """

    again_at: datetime | None = None
    answered: bool = False


class HostLimiter:
    """The gates of this process, and pauses requested by hosts.

    Args:
        clock: the time.
        settings: limits per host.
        rates: shares rate limits with other executors; None if this is the only one.

    Concurrency: any number of tasks of one event loop.
    """

    def __init__(
        self, clock: Clock, settings: HostSettings | None = None, rates: HostRates | None = None
    ) -> None:
        self._clock = clock
        self._settings = settings or HostSettings()
        self._rates = rates
        self._gates: dict[str, HostGate] = {}
        self._slow_under_way = 0
        self._pauses: dict[tuple[str, str], datetime] = {}
        self._habits: dict[str, _Habit] = {}

    def pause(self, function_id: str, host: str, until: datetime) -> None:
        """Record a host's pause for a function."""
        known = self._pauses.get((function_id, host))
        self._pauses[function_id, host] = until if known is None else max(known, until)

    def paused_until(self, function_id: str, host: str) -> datetime | None:
        """End of the host's pause for this function, if any."""
        until = self._pauses.get((function_id, host))
        if until is not None and until <= self._clock.now():
            del self._pauses[function_id, host]
            until = None
        return until

    def lane_limits(self, running: Mapping[str, int]) -> dict[str, LaneLimit]:
        """How many more runs of lanes would probably get a slot in time.

        Lanes with several recent hosts have no limit; those of one host share its limit.

        Args:
            running: number of runs in progress by lane.
        """
        now = time.monotonic()
        habits = {lane: item for lane, item in self._habits.items() if item.number >= _HABIT}
        slow_runs, runs = 0, Counter[str]()
        for lane, habit in habits.items():
            in_progress = running.get(lane, 0)
            runs.update(dict.fromkeys((name for name, *_ in habit.limits), in_progress))
            slow_runs += in_progress if self._host_gate(habit).is_slow(now) else 0
        return {
            lane: self._lane_limit(habit, runs, SLOW_PLACES - slow_runs, now)
            for lane, habit in habits.items()
        }

    def _lane_limit(
        self, habit: _Habit, runs: Mapping[str, int], slow_places: int, now: float
    ) -> LaneLimit:
        """The tightest limit of a lane, whose gates have ``runs`` in progress."""
        host = habit.limits[-1][0]
        if self.paused_until(habit.function_id, habit.host) is not None:
            return LaneLimit(host, 0)
        is_slow = self._gate(host).is_slow(now)
        limits = [LaneLimit(host, max(0, slow_places))] if is_slow else []
        for name, concurrency, per_second in habit.limits:
            gate = self._gate(name)
            if habit.number >= _SURE_HABIT:
                jobs = gate.free_capacity(runs[name], concurrency, waits=not is_slow)
            else:
                jobs = max(0, gate.concurrency(concurrency) + WAITING_AT_A_GATE - runs[name])
            is_spaced = gate.is_spaced(now, per_second=per_second)
            limits.append(LaneLimit(name, 0 if is_spaced else jobs))
        return min(limits, key=lambda limit: limit.jobs)

    def _host_gate(self, habit: _Habit) -> HostGate:
        return self._gate(habit.limits[-1][0])

    def _learn(self, lane: str, function_id: str, host: str, limits: list[Limit]) -> None:
        if len(self._habits) > _MAX_GATES:
            self._habits.clear()
        known = self._habits.get(lane)
        number = known.number + 1 if known is not None and known.host == host else 1
        self._habits[lane] = _Habit(function_id, host, limits, number)

    def forget(self, lane: str) -> None:
        """Forget the recent host of a lane: its runs make no requests any more."""
        self._habits.pop(lane, None)

    @contextlib.asynccontextmanager
    async def acquire(
        self, function: ExecutableFunction, host: str, lane: str
    ) -> AsyncGenerator[Slot]:
        """Hold a slot for a request of a function within this context.

        Args:
            function: the function, with its limits.
            host: the target host.
            lane: the run's lane.

        Yields:
            The slot; set ``answered`` when there is a response.
        """
        limits = _limits(function, host, self._settings)
        self._learn(lane, function.id, host, limits)
        gates = [self._gate(name) for name, *_ in limits]
        again_at = self.paused_until(function.id, host)
        again_at = again_at or await self._wait(gates, limits)
        if self._rates is not None and any(per_second for *_, per_second in limits):
            again_at = again_at or await self._reserve(self._rates, gates, limits)
            again_at = again_at or await self._wait(gates, limits)
        again_at = again_at or self.paused_until(function.id, host)
        if again_at is not None:
            yield Slot(again_at=again_at)
            return
        began = time.monotonic()
        is_slow = gates[-1].is_slow(began)
        self._slow_under_way += is_slow
        numbers = [
            gate.begin(began, per_second=per_second)
            for gate, (_, _, per_second) in zip(gates, limits, strict=True)
        ]
        slot = Slot()
        try:
            yield slot
        finally:
            self._slow_under_way -= is_slow
            for gate, number in zip(gates, numbers, strict=True):
                gate.end(number, time.monotonic(), answered=slot.answered)

    async def _wait(self, gates: list[HostGate], limits: list[Limit]) -> datetime | None:
        """Wait briefly for a slot; None if there is one, else when to try again."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            now = time.monotonic()
            waits = [
                gate.wait_seconds(
                    now, concurrency=gate.concurrency(concurrency), per_second=per_second
                )
                for gate, (_, concurrency, per_second) in zip(gates, limits, strict=True)
            ]
            wait = max(waits)
            host = gates[-1]
            is_slow = host.is_slow(now)
            if is_slow and self._slow_under_way >= SLOW_PLACES:
                return self._later(math.inf)
            if wait == 0.0:
                return None
            tight = gates[waits.index(wait)]
            is_long = now >= deadline if wait == math.inf else now + wait > deadline
            if is_slow or is_long or tight.waiting >= WAITING_AT_A_GATE:
                return self._later(wait)
            tight.waiting += 1
            try:
                await asyncio.wait_for(tight.freed.wait(), min(wait, deadline - now))
            except TimeoutError:
                pass
            finally:
                tight.waiting -= 1

    async def _reserve(
        self, rates: HostRates, gates: list[HostGate], limits: list[Limit]
    ) -> datetime | None:
        """Reserve a start time shared by all executors and wait for it.

        Returns when to try again if the wait would be too long.
        """
        longest = 0.0
        for gate, (name, _, per_second) in zip(gates, limits, strict=True):
            wait = await rates.reserve(name, per_second, WAIT_SECONDS) if per_second else 0.0
            if wait is None:
                gate.postpone(time.monotonic() + WAIT_SECONDS, per_second=per_second)
                return self._later(WAIT_SECONDS)
            longest = max(longest, wait)
        await asyncio.sleep(longest)
        return None

    def _later(self, wait: float) -> datetime:
        seconds = AGAIN_SECONDS if wait == math.inf else max(wait, AGAIN_SECONDS)
        return self._clock.now() + timedelta(seconds=seconds)

    def _gate(self, name: str) -> HostGate:
        existing = self._gates.get(name)
        if existing is None:
            if len(self._gates) >= _MAX_GATES:
                self._gates = {key: gate for key, gate in self._gates.items() if not gate.is_idle}
            adapts = name.startswith(_HOST)
            existing = HostGate(self._settings.concurrency if adapts else None)
            self._gates[name] = existing
        return existing


def _limits(function: ExecutableFunction, host: str, settings: HostSettings) -> list[Limit]:
    """The function's own limits, if it has any, then the host's."""
    own: list[Limit] = []
    delivery = function.delivery
    if delivery.concurrency or delivery.requests_per_minute:
        name = f"function {function.id}"
        per_second = (delivery.requests_per_minute or 0) / 60
        own.append((name, delivery.concurrency or settings.concurrency, per_second))
    return [*own, (f"{_HOST}{host}", settings.concurrency, settings.per_second)]
