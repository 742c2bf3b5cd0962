"""What a run needs to be replayed exactly; stored with the queued run."""

from typing import Any

import msgspec


class RunJournal(msgspec.Struct, kw_only=True):
    """The recorded state of a run; treat it as opaque.

    Attributes:
        started_at: ISO time of ``now`` in input templates.
        seed: seed of their random numbers.
        entries: external results in order (``hoglet.hog.python.journal``).
        calls: the completed host calls: ``[["fetch", 200]]``.
        refusal: text of the last response with an error status.
        has_answer: the last host call got a response, and was not refused or cut off by the
            network.
        printed: ``print`` calls so far.
        captured: the run's ``postHogCapture`` was returned.
        waiting: the next host call was already returned, with its log lines.
        waited_ms: duration of completed host calls.
        spent_ms: CPU time of the program in the longest replay so far.
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
