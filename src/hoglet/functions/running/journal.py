"""What a run needs to be repeated exactly; stored with the queued run."""

from typing import Any

import msgspec


class Journal(msgspec.Struct, kw_only=True):
    """The memory of a run.

    Attributes:
        started_at: ISO instant that ``now()`` gives in every replay.
        seed: of the random numbers and UUIDs.
        answers: of the host calls, in order: ``[{"call": "fetch", "answer": {"status": 200}}]``.
        logged: log lines already handed out.
        captured: the run's ``postHogCapture`` was already handed out.
        spent_ms: own time of the program in the longest replay so far.
    """

    started_at: str
    seed: int
    answers: list[dict[str, Any]] = []
    logged: int = 0
    captured: bool = False
    spent_ms: float = 0
