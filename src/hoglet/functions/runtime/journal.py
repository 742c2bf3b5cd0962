"""What a run needs to be repeated exactly; stored with the queued run."""

from typing import Any

import msgspec


class Journal(msgspec.Struct, kw_only=True):
    """The memory of a run; treat it as one opaque value.

    Attributes:
        started_at: ISO instant that templates of inputs take for now.
        seed: of their random numbers.
        entries: what the program got from outside, in order (``hoglet.hog.python.journal``).
        calls: the host calls answered so far: ``[["fetch", 200]]``.
        refusal: what the last answer with a bad status said, if it was text.
        has_answer: the last host call was answered, not refused or cut off by the network.
        printed: ``print`` calls so far.
        captured: the run's ``postHogCapture`` was handed out.
        waiting: the next host call was handed out already, with its log lines.
        waited_ms: time that answered host calls took.
        spent_ms: own time of the program in the longest replay so far.
    """

    started_at: str
    seed: int
    entries: list[list[Any]] = []
    calls: list[tuple[str, int | None]] = []
    refusal: str | None = None
    has_answer: bool = True
    printed: int = 0
    captured: bool = False
    waiting: bool = False
    waited_ms: float = 0
    spent_ms: float = 0
