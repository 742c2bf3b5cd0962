"""Attributes processor time to stages by sampling the stacks of a process's Python threads.

Every few milliseconds, each thread's processor time since the last sample is added to a stage: that
of the innermost frame whose ``file:function`` contains a text of the table. C++ threads of the
engine have no frames; :attr:`StageSampler.other_s` is their time.
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

_PAUSE_S = 0.001
_SWITCH_S = 0.0001  # a thread that waits for sockets gives way by itself, others only when asked
_IDLE = frozenset({"selectors.py:select", "thread.py:_worker"})


class StageSampler:
    """Samples this process between :meth:`start` and :meth:`stop`.

    Args:
        stages: ``{"events/spool.py": "spool", "ingest/parse.py:accept": "parse"}``.
    """

    def __init__(self, stages: Mapping[str, str]) -> None:
        self.seconds: Counter[str] = Counter()
        self.other_s = 0.0
        self._stages = stages
        self._last: dict[int, int] = {}
        self._known: dict[tuple[str, str], str | None] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="stage-sampler", daemon=True)
        self._began = 0.0

    def start(self) -> None:
        """Start sampling."""
        sys.setswitchinterval(_SWITCH_S)
        self._began = time.process_time()
        self._sample(count=False)
        self._thread.start()

    def stop(self) -> None:
        """Stop; the time that no Python thread used is :attr:`other_s`."""
        self._stopping.set()
        self._thread.join()
        total = time.process_time() - self._began
        self.other_s = total - sum(self.seconds.values())

    def _loop(self) -> None:
        while not self._stopping.wait(_PAUSE_S):
            self._sample(count=True)

    def _sample(self, *, count: bool) -> None:
        frames = sys._current_frames()  # noqa: SLF001 (the documented way to the stacks of all threads)
        for thread in threading.enumerate():
            if thread.native_id is None:
                continue
            used = _nanoseconds(thread.native_id)
            spent = used - self._last.get(thread.native_id, 0)
            if count and spent > 0 and _is_idle(frames.get(thread.ident or 0)):
                continue  # it worked since the last sample, and the next one may tell at what
            self._last[thread.native_id] = used
            if count and spent > 0:
                stage = "sampling" if thread is self._thread else self._stage(thread, frames)
                self.seconds[stage] += spent / 1e9

    def _stage(self, thread: threading.Thread, frames: Mapping[int, FrameType]) -> str:
        frame = frames.get(thread.ident or 0)
        while frame is not None:
            stage = self._stage_of(frame.f_code.co_filename, frame.f_code.co_name)
            if stage is not None:
                return stage
            frame = frame.f_back
        return "other"

    def _stage_of(self, file: str, function: str) -> str | None:
        key = (file, function)
        if key not in self._known:
            whole = f"{file}:{function}"
            stages = (stage for location, stage in self._stages.items() if location in whole)
            self._known[key] = next(stages, None)
        return self._known[key]


def _is_idle(frame: FrameType | None) -> bool:
    return frame is not None and (
        f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}" in _IDLE
    )


def _nanoseconds(native_id: int) -> int:
    """Processor time of a thread; 0 if it has ended."""
    try:
        return int(Path(f"/proc/self/task/{native_id}/schedstat").read_text().split()[0])
    except OSError:
        return 0
