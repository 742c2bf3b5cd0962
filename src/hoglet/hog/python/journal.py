"""The journal of a run: its external results, for replay.

An entry is ``[kind, value]``: ``["call", name]`` where the run suspended, ``["host", result]`` for
calls of the host, suspending or not, ``["raise", [type, message, payload]]`` for calls that
failed, ``["now", seconds]``,
``["random", number]`` and ``["uuid", text]``. A journal is a list of entries, plain JSON.
"""

from typing import Any

from hoglet.hog.runtime.errors import EngineError


class Journal:
    """Entries in order; ``unread`` ones, those of an earlier run, are consumed first."""

    def __init__(self, entries: list[list[Any]], *, unread: bool = True) -> None:
        self.entries = list(entries)
        self._next = 0 if unread else len(entries)

    @property
    def replaying(self) -> bool:
        """Whether entries of the earlier run are left."""
        return self._next < len(self.entries)

    def take(self, kind: str) -> Any:
        """The next recorded value.

        Raises:
            EngineError: the run diverges from the recorded one.
        """
        recorded, value = self.entries[self._next]
        if recorded != kind:
            raise EngineError(f"Replay requested {kind} where {recorded} was recorded")
        self._next += 1
        return value

    def peek(self) -> str:
        """Kind of the next recorded entry."""
        return self.entries[self._next][0]

    def record(self, kind: str, value: Any) -> None:
        """Add an entry."""
        self.entries.append([kind, value])
        self._next = len(self.entries)
