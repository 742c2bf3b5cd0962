"""A receiver that records whole requests and sends scripted responses."""

import json
from typing import Any, NamedTuple

from support.local_http import Handler, LocalHttp


class Recorded(NamedTuple):
    """A request as it arrived; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Recorder(LocalHttp):
    """Sends ``answers`` in order, ``(status, body)``, then 200 and ``{"ok": true}``."""

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self.requests: list[Recorded] = []
        self.answers = list(answers)
        recorder = self

        class RecordingHandler(Handler):
            def handle_any(self) -> None:
                recorder.requests.append(
                    Recorded(self.command, self.path, self.names(), self.body())
                )
                status, content = (
                    recorder.answers.pop(0) if recorder.answers else (200, {"ok": True})
                )
                sent = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.answer(status, b"" if status == 204 else sent)

        super().__init__(RecordingHandler)
