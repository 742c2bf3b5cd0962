"""Records the progress of a push in the project's folder, so that a killed push can be reported.

A push that ends by itself rolls back and deletes the file. After SIGKILL or a power cut the file
stays; the next push or diff reports how far the killed one got.
"""

import contextlib
import json
from pathlib import Path

from hoglet.project_files.plan import Plan

NAME = ".hoglet-push.json"


class PushJournal:
    """The journal of a folder's pushes.

    Args:
        folder: the folder of the project; if it is not writable, there is no journal.
        target: the server and project that are pushed to.
    """

    def __init__(self, folder: Path, target: str) -> None:
        self._path = folder / NAME
        self._target = target
        self._changes: list[str] = []

    def killed_push(self) -> str:
        """The progress of a killed push to this target, as a sentence; "" if there was none."""
        try:
            record = json.loads(self._path.read_text(encoding="utf-8"))
            changes, count = list(map(str, record["changes"])), int(record["made"])
            target = record["target"]
        except (OSError, ValueError, KeyError, TypeError):
            return ""
        if target != self._target or not 0 <= count < len(changes):
            return ""
        done = f" ({'; '.join(changes[:count])})" if count else ""
        return (
            f"An earlier push was killed after {count} of {len(changes)} changes{done}, "
            f"during: {changes[count]}."
        )

    def begin(self, plan: Plan) -> None:
        """Record the changes of a push before the first is sent."""
        self._changes = list(map(str, plan.changes))
        self.reached(0)

    def reached(self, count: int) -> None:
        """Record that the first ``count`` changes are made."""
        if count >= len(self._changes):
            return
        content = {"target": self._target, "made": count, "changes": self._changes}
        beside = self._path.with_suffix(".new")
        with contextlib.suppress(OSError):
            beside.write_text(json.dumps(content, indent=2), encoding="utf-8")
            beside.replace(self._path)

    def end(self) -> None:
        """Delete the journal: the push is done or rolled back."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
