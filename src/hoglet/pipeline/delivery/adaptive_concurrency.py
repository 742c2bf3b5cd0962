"""Finds how many concurrent requests to a host are enough. Pure.

A host that serves requests one after another answers no more of them if more wait there, but each
takes longer. The watcher would take a function for slow that only hoglet made slow, and disable it.
So once responses are slow enough to be charged by the watcher, half of the concurrency is tried for
a moment. If the host still answers as many requests per second, that is kept, and half of it is
tried. A host that takes the same time for each request answers half as many then: the probe ends,
and the next one waits longer. In the same way, twice as many are tried. If most requests get no
response in time, half as many are sent: a host may be busy with requests that nobody waits for.

Source: docs/adr/0072-enough-concurrency.md.
"""

import msgspec

FREE_SECONDS = 0.1  # the watcher charges nothing for faster responses
_LEAST = 4
FEW = 8  # concurrent requests, which are not worth measuring
_ANSWERED = 0.5  # of the requests, or the host is dead or overloaded
_REQUESTS = 64  # of a measurement, unless the concurrency is lower
_LEAST_SECONDS = 0.25
_TURNS = 3  # of requests one after another in a measurement; the first see the load before it
_STEADY = 0.3  # difference between the requests that begin and end in a measurement
_KEPT_RATE = 0.8  # of the rate before, if half of the concurrency is enough
_GAINED_RATE = 1.2  # of the rate before, if twice the concurrency helps
_FIRST_PAUSE_SECONDS = 30.0
_LONGEST_PAUSE_SECONDS = 600.0


class Measurement(msgspec.Struct, frozen=True):
    """Means of some time.

    Attributes:
        concurrent: requests under way.
        peak: the most requests that were under way.
        begins: requests that began per second.
        ends: requests that ended per second, with those that got no response in time.
        rate: responses per second.
    """

    concurrent: float
    peak: int
    begins: float
    ends: float
    rate: float

    @property
    def seconds(self) -> float:
        """Duration of a request, by Little's law."""
        return self.concurrent / self.ends

    @property
    def is_steady(self) -> bool:
        """Whether as many requests began as ended."""
        return abs(self.begins / self.ends - 1.0) <= _STEADY


class _Counter:
    """Counts requests for a :class:`Measurement`."""

    def __init__(self, now: float) -> None:
        self._since = self._until = now
        self._request_seconds = 0.0
        self._peak = 0
        self._begins = 0
        self._ends = 0
        self._whole = 0
        self._responses = 0

    def begin(self, now: float, under_way: int) -> None:
        self._go_on(now, under_way)
        self._peak = max(self._peak, under_way + 1)
        self._begins += 1

    def end(self, began: float, now: float, under_way: int, *, answered: bool) -> None:
        self._go_on(now, under_way)
        self._ends += 1
        self._whole += began >= self._since
        self._responses += answered

    def has(self, requests: int) -> bool:
        """Whether so many requests began and ended, and there was time for several in turn."""
        if self._whole < requests:
            return False
        if self._responses < _ANSWERED * self._ends:
            return True
        least = max(_LEAST_SECONDS, _TURNS * self._request_seconds / self._ends)
        return self._until - self._since >= least

    def measured(self) -> Measurement:
        elapsed = self._until - self._since
        return Measurement(
            concurrent=self._request_seconds / elapsed,
            peak=self._peak,
            begins=self._begins / elapsed,
            ends=self._ends / elapsed,
            rate=self._responses / elapsed,
        )

    def _go_on(self, now: float, under_way: int) -> None:
        self._request_seconds += under_way * (now - self._until)
        self._until = now


class _Probe(msgspec.Struct, frozen=True):
    """Another concurrency is tried: the one before, and the rate to compare with."""

    before: int
    rate: float


class AdaptiveConcurrency:
    """The number of concurrent requests to a host; times are seconds of a monotonic clock.

    Args:
        most: the highest number, and the first one.
        under_way: requests that have begun already.

    Attributes:
        limit: the number now.
    """

    def __init__(self, most: int, under_way: int = 0) -> None:
        self.limit = most
        self._most = most
        self._under_way = under_way
        self._probe: _Probe | None = None
        self._next_is_higher = False
        self._probe_at = 0.0
        self._pause_seconds = _FIRST_PAUSE_SECONDS
        self._counter: _Counter | None = None

    def begin(self, now: float) -> None:
        """A request begins."""
        if self._counter is None:  # there are no more requests than the present limit now
            self._counter = _Counter(now)
        self._counter.begin(now, self._under_way)
        self._under_way += 1

    def end(self, began: float, now: float, *, answered: bool) -> None:
        """A request ends that began at ``began``; may change :attr:`limit`.

        Args:
            began: when it began.
            now: when it ended.
            answered: whether there was a response, even one that says that it failed.
        """
        counter = self._counter
        if counter is not None:
            counter.end(began, now, self._under_way, answered=answered)
        self._under_way -= 1
        if counter is not None and counter.has(min(_REQUESTS, 2 * self.limit)):
            self._counter = None
            self._decide(counter.measured(), now)

    def _decide(self, measured: Measurement, now: float) -> None:
        if self._probe is not None:
            self._judge(self._probe, measured, now)
        elif measured.seconds < FREE_SECONDS / 2:
            self.limit = min(self._most, 2 * self.limit)
        elif measured.rate < _ANSWERED * measured.ends:
            self.limit = min(self.limit, max(FEW, int(measured.concurrent) // 2))
            self._next_is_higher = True
        elif measured.is_steady and now >= self._probe_at:
            self._try_another(measured)

    def _is_used(self, measured: Measurement) -> bool:
        return measured.peak >= self.limit

    def _try_another(self, measured: Measurement) -> None:
        may_be_lower = measured.seconds >= FREE_SECONDS and measured.concurrent >= FEW
        may_be_higher = self.limit < self._most and self._is_used(measured)
        if may_be_higher and (self._next_is_higher or not may_be_lower):
            self._try(2 * self.limit, measured.rate)
        elif may_be_lower:
            self._try(int(measured.concurrent) // 2, measured.rate)

    def _try(self, limit: int, rate: float) -> None:
        self._probe = _Probe(before=self.limit, rate=rate)
        self.limit = max(_LEAST, min(self._most, limit))

    def _judge(self, probe: _Probe, measured: Measurement, now: float) -> None:
        is_lower = self.limit < probe.before
        self._probe = None
        if not self._is_used(measured):  # there was too little to do
            self.limit = probe.before
            self._probe_at = now + _FIRST_PAUSE_SECONDS
        elif measured.rate >= (_KEPT_RATE if is_lower else _GAINED_RATE) * probe.rate:
            self._pause_seconds = _FIRST_PAUSE_SECONDS
            self._probe_at = now + _FIRST_PAUSE_SECONDS
            self._go_on(probe, measured, is_lower=is_lower)
        else:
            self.limit = probe.before
            self._turn(now, is_lower=is_lower)

    def _turn(self, now: float, *, is_lower: bool) -> None:
        """Try the other direction next: more at once, fewer after a pause."""
        self._next_is_higher = is_lower
        if is_lower and self.limit < self._most:
            return
        self._probe_at = now + self._pause_seconds
        self._pause_seconds = min(2 * self._pause_seconds, _LONGEST_PAUSE_SECONDS)

    def _go_on(self, probe: _Probe, measured: Measurement, *, is_lower: bool) -> None:
        """Try the next number in the same direction."""
        if not is_lower:
            if self.limit < self._most:
                self._try(2 * self.limit, measured.rate)
        elif measured.seconds >= FREE_SECONDS and self.limit >= FEW:
            self._try(self.limit // 2, probe.rate)  # all steps together may cost a fifth
